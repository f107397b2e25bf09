#!/usr/bin/env bash
# repeated.sh MPIRUN PROGRAM: what is sent again unchanged is not written twice; ranks that are killed are replaced all
# the same, and the job goes on rightly when its histories are used up in the middle.
source "$(dirname "$0")/script.sh"

steps=40 sizes=8

# run QOS SEED OPTION...: the program must end well.
run() {
  local qos=$1 seed=$2 code=0
  shift 2
  timeout 120 "$mpirun" -n 3 --qos "$qos" --report "$folder/report" "$@" "$program" "$steps" "$seed" "$sizes" >"$folder/out" \
    2>"$folder/messages" || code=$?
  [ "$code" -eq 0 ] && [ "$(cat "$folder/out")" = 'ok repeated' ] || fail "code $code with $qos, seed $seed, $*"
}

# count NAME: of all ranks, from the report.
count() { sed -n '/"totals"/,/}/s/.*"'"$1"'": *\([0-9]*\).*/\1/p' "$folder/report" | head -1; }

profile small '24 MiB' 0

run fault-tolerant 1
[ "$(count bytes_repeated)" -gt 20000000 ] || fail "only $(count bytes_repeated) bytes were repeated"
for seed in 2 3 4 5; do
  run fault-tolerant "$seed" --inject "kill rank 1 in MPI_Waitall $((7 * seed))" --inject "kill rank 0 in MPI_Bcast $seed" \
    --inject "kill rank 2 in MPI_Waitall $((9 * seed))"
  [ "$(grep -c 'done *replaced as incarnation' "$folder/messages")" -eq 3 ] || fail "not three ranks were replaced, seed $seed"
  run "$folder/small.xml" "$seed"
  grep -q 'log_bytes_per_node of the profile .* is used up' "$folder/messages" || fail 'the histories were not used up'
done

# Where the log is used again and again: messages that always go through it, and those that may.
for seed in 1 2 3 4 5 6; do
  steps=400 sizes=3
  [ "$seed" -le 3 ] || steps=100 sizes=6
  run default "$seed"
  [ "$(count bytes_repeated)" -gt 2000000 ] || fail "only $(count bytes_repeated) bytes were repeated, seed $seed"
done
exit "$failed"
