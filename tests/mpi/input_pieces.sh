#!/usr/bin/env bash
# input_pieces.sh MPIRUN PROGRAM: standard input comes in pieces, and a rank that takes it is replaced between them.
source "$(dirname "$0")/script.sh"

pieces() {
  for i in 1 2 3 4 5 6; do
    echo "piece $i"
    sleep 0.2
  done
}

for way in read poll select count nonblocking lines; do
  for rule in 'kill rank 0 at step input:read:3' 'kill rank 0 after 700ms' 'kill rank 0 in MPI_Bcast 5' 'kill rank 1 in MPI_Bcast 7'; do
    code=0
    pieces | timeout 120 "$mpirun" -n 2 --qos fault-tolerant --inject "$rule" "$program" "$way" >"$folder/out" \
      2>"$folder/messages" || code=$?
    [ "$code" -eq 0 ] && [ "$(cat "$folder/out")" = '48 bytes, 6 lines' ] || fail "code $code with $way, $rule"
    grep -q 'done *replaced as incarnation' "$folder/messages" || fail "nobody was replaced with $way, $rule"
  done
done
exit "$failed"
