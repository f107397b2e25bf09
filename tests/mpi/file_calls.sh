#!/usr/bin/env bash
# file_calls.sh MPIRUN PROGRAM GROUP [all|RANK STEP COUNT]: a group of calls on the file system has the same outcomes, and
# leaves the same folder, when ranks are killed before, in and behind the calls. Without `all` some of the calls are
# tried, both ranks dying in one job; with it each call, each rank by itself.
set -u
mpirun=$1 program=$2 group=$3 how=${4:-some}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# Runs the group in a fresh folder, with the rules that are given; says what it printed and left.
run() {
  rm -rf "$work/folder"
  mkdir "$work/folder"
  cd "$work/folder" || exit 1
  timeout 100 "$mpirun" -n 2 --report "$work/report" "$@" "$program" "$group" >"$work/output" 2>"$work/messages" </dev/null
  echo "exit status $?" >>"$work/output"
  find . -printf '%P %y %m %l\n' | sort >>"$work/output"
  find . -type f -print0 | sort -z | xargs -0r cksum >>"$work/output"
  cd /
}

run
cp "$work/output" "$work/expected"
grep -q '^exit status 0$' "$work/expected" || { cat "$work/output" "$work/messages"; exit 1; }

failed=0 tried=0 fired=0
# Kills by these rules, and compares.
kill_by() {
  local rules=() rule
  for rule; do rules+=(--inject "$rule"); done
  run --qos fault-tolerant "${rules[@]}"
  tried=$((tried + 1))
  fired=$(grep -c 'done *replaced as incarnation' "$work/messages")
  if ! cmp -s "$work/expected" "$work/output"; then
    failed=$((failed + 1))
    printf 'file_calls.sh %s: %s: not what a run without a kill has\n' "$group" "$*"
    diff "$work/expected" "$work/output"
    cat "$work/messages"
  fi
}

if [ "$how" = all ]; then
  for place in "step name:announced:" "step name:changed:" "step append:opening:" "step append:opened:" \
    "step append:announced:" "step append:written:" "in MPI_Allgather "; do
    for rank in 0 1; do
      for ((count = 1; ; count++)); do
        kill_by "kill rank $rank ${place/#step/at step}$count"
        [ "$fired" -gt 0 ] || [ "$count" -lt 2 ] || break
        [ "$fired" -gt 0 ] || [ "$count" -ge 2 ] || break
      done
    done
  done
else
  kill_by "kill rank 0 at step name:announced:3" "kill rank 1 at step name:announced:2"
  kill_by "kill rank 0 at step name:changed:6" "kill rank 1 at step name:changed:7"
  kill_by "kill rank 0 in MPI_Allgather 12" "kill rank 1 in MPI_Allgather 3"
  kill_by "kill rank 0 in MPI_Finalize" "kill rank 1 in MPI_Finalize"
fi
echo "$group: $tried jobs, $failed wrong"
[ "$failed" -eq 0 ]
