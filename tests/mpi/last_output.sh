#!/usr/bin/env bash
# last_output.sh MPIRUN PROGRAM: what a program has printed is seen when MPI_Abort or a fatal error ends it, under mpirun and without.
. "$(dirname "$0")/script.sh"

# ends CODE HOW [SEEN]: the job ends with this code, and the file SEEN (standard output if none) has the last words.
ends() {
  local code=0 seen=${3:-$folder/out}
  rm -f "$folder/file"
  timeout -s KILL 100 "${start[@]}" "$program" "$2" "$folder/file" >"$folder/out" 2>"$folder/messages" </dev/null || code=$?
  [ "$code" = "$1" ] || fail "$2: code $code, not $1 (${start[*]})"
  [ "$(tr '\n' ' ' 2>/dev/null <"$seen")" = 'last words ' ] || fail "$2: not the last words in $seen (${start[*]})"
}

for profile in default fault-tolerant; do
  start=("$mpirun" -n 2 --qos "$profile")
  for how in print cout wcout print-and-cout own-lock handler throws reader; do ends 3 "$how"; done
  ends 4 again
  ends 1 fatal
  ends 3 file "$folder/file"
done
start=("$mpirun" -n 1)
ends 1 finalized
ends 1 before
# Without mpirun.
start=(env)
for how in print cout; do ends 3 "$how"; done
ends 1 fatal
ends 1 before
# Another thread never gives stdout back: its line is lost, but the job ends, and as it should.
code=0
timeout -s KILL 100 "$mpirun" -n 2 "$program" held >"$folder/out" 2>"$folder/messages" </dev/null || code=$?
[ "$code" = 3 ] || fail "held: code $code, not 3"
grep -q 'MPI_Abort was called with code 3' "$folder/messages" || fail 'held: nothing says that MPI_Abort was called'
exit "$failed"
