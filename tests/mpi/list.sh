#!/usr/bin/env bash
# list.sh LLAMADA MPIRUN PROGRAM...: `llamada ls` shows the ranks of a running job with their writers, readers and QoS, and
# the names and USER_DATA of their profile (tests/unit/qos/files/named.xml).
set -u
llamada=$1
shift
export LLAMADA_NAMESPACE=list-$$
"$@" >/dev/null 2>&1 &
job=$!
for attempt in $(seq 600); do
  shown=$("$llamada" ls 2>&1)
  listing=$(printf '%s\n' "$shown" | sed -n "/^job-[0-9a-f]\{16\}-0 /,/^[^ ]/p")
  writers=$(printf '%s\n' "$listing" | grep -c "writer of ranks (MPI)  RELIABLE KEEP_ALL TRANSIENT_LOCAL .*'results'  USER_DATA 3 bytes: 01 02 ff")
  readers=$(printf '%s\n' "$listing" | grep -c "reader of ranks (MPI)  RELIABLE KEEP_ALL TRANSIENT_LOCAL  'work'$")
  ranks=$(printf '%s\n' "$listing" | grep -c "^  rank .*  'worker'  USER_DATA 2 bytes: 61 62")
  [ "$writers" -eq 2 ] && [ "$readers" -eq 2 ] && [ "$ranks" -eq 2 ] && break
  kill -0 "$job" 2>/dev/null || break
  sleep 0.1
done
kill -TERM "$job" 2>/dev/null
wait "$job"
if [ "$writers" -ne 2 ] || [ "$readers" -ne 2 ] || [ "$ranks" -ne 2 ]; then
  printf 'list.sh: llamada ls never showed two writers and two readers of job %s; the last it said:\n%s\n' "$job" "$shown"
  exit 1
fi
