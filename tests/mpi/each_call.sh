#!/usr/bin/env bash
# each_call.sh MPIRUN RANKS STRIDE PROGRAM ARGUMENT...: a program prints the same, and leaves the same in its folder, when one of
# its ranks is killed at an MPI call: at every call with STRIDE 1, else at every so-manieth, one job for each.
set -u
mpirun=$1 ranks=$2 stride=$3
shift 3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
calls_max=100000

# run OPTION...: in a fresh folder, which is TMPDIR, too; says what it printed and left.
run() {
  rm -rf "$work/folder"
  mkdir "$work/folder"
  TMPDIR=$work/folder timeout 100 "$mpirun" -wdir "$work/folder" -n "$ranks" "$@" >"$work/output" 2>"$work/messages" </dev/null
  echo "exit status $?" >>"$work/output"
  (cd "$work/folder" && find . -type f -print0 | sort -z | xargs -0r cksum) >>"$work/output"
}

run "$@"
cp "$work/output" "$work/expected"
grep -q '^exit status 0$' "$work/expected" || { cat "$work/output" "$work/messages"; exit 1; }

failed=0 jobs=0
for ((call = 1; call < calls_max; call += stride)); do
  rank=$((jobs % ranks))
  run --qos fault-tolerant --inject "kill rank $rank at call $call" "$@"
  jobs=$((jobs + 1))
  cmp -s "$work/expected" "$work/output" || {
    failed=$((failed + 1))
    echo "each_call.sh: kill rank $rank at call $call:"
    diff "$work/expected" "$work/output"
    cat "$work/messages"
  }
  # Behind the last call.
  grep -q 'done *replaced as incarnation' "$work/messages" || break
done
echo "$jobs jobs, $failed wrong"
[ "$failed" -eq 0 ] && [ "$jobs" -gt 2 ]
