#!/usr/bin/env bash
# after_finalize.sh MPIRUN PROGRAM: a rank, or its node, dies behind MPI_Finalize. What clocks and files had told the
# program, and what it had printed, are repeated there.
. "$(dirname "$0")/script.sh"

printf '#!/bin/sh\nshift\nexec setsid -w "$@"\n' >"$folder/agent"
chmod +x "$folder/agent"

# ends_right OPTION ...: each rank has printed its three lines and written its line, once.
ends_right() {
  local code=0 rank time
  rm -f "$folder"/file.*
  timeout -s KILL 100 "$mpirun" -n 3 "$@" "$program" "$folder/file" >"$folder/out" 2>"$folder/messages" </dev/null || code=$?
  [ "$code" = 0 ] || fail "$*: code $code"
  [ "$(wc -l <"$folder/out")" = 9 ] || fail "$*: not 9 lines"
  for rank in 0 1 2; do
    time=$(cat "$folder/file.$rank")
    [ "$(grep "^$rank " "$folder/out" | tr '\n' ' ' | sed 's/at [0-9]*\./at /')" = \
      "$rank begins $rank at $time over 1 $rank ends, begun at $time " ] || fail "$*: rank $rank wrote $time, and printed something else"
  done
}

ends_right --qos fault-tolerant --inject 'kill rank 1 after 1500 ms'
grep -q 'after MPI_Finalize' "$folder/messages" || echo 'the kill came before MPI_Finalize'
ends_right --qos fault-tolerant --inject 'kill rank 0 after 1500 ms' --inject 'kill rank 0 after 500 ms of incarnation 2'
ends_right --qos node-fault-tolerant -H localhost:2,b:1,c:1 --launcher-exec "$folder/agent" --inject 'kill node b after 1500 ms'
exit "$failed"
