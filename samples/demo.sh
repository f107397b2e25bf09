#!/usr/bin/env bash
# The main job, told as a story: a plain MPI program on four ranks loses one to SIGKILL in the middle, and ends with
# the answer of a run without a failure, bit for bit. Called by `./dev demo` with the build folder.
set -euo pipefail
build=${1:?demo.sh takes the build folder}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

say() { printf '\n\033[1m-- %s\033[0m\n' "$*"; }
run() {
  local word line='   $'
  for word in "$@"; do
    case $word in *' '*) line+=" '$word'" ;; *) line+=" $word" ;; esac
  done
  printf '%s\n' "$line" | sed "s|$work/||g; s|$here|samples|g"
  "$@" 2>&1 | sed 's/^/   | /'
}

say "1. A plain MPI program, compiled as it is"
run "$build/bin/mpicc" -O2 "$here/heat/heat.c" -o "$work/heat" -lpng -lm

say "2. On four ranks, without a failure: the answer to compare with"
run "$build/bin/mpirun" -n 4 "$work/heat" -n 384 -s 6000 -o "$work/undisturbed.png" --check

say "3. The same again with the fault-tolerant profile, and rank 2 is killed (SIGKILL) in the middle"
run "$build/bin/mpirun" -n 4 --qos fault-tolerant --inject 'kill rank 2 at call 27000' --report "$work/report.json" \
  "$work/heat" -n 384 -s 6000 -o "$work/survived.png"

say "4. What the report says of it"
sed -n '/"deaths"/,/"replacements"/p' "$work/report.json" |
  grep -E '"(rank|incarnation|mpi_call|call_index|respawn_s|replay_s|total_s|replacements)"' | sed 's/^ */   | /'

say "5. The two pictures of the temperature, byte by byte"
if ! grep -q '"replacements": *1' "$work/report.json"; then
  echo "   The rank was not killed, so nothing was shown: the program ended too early on this machine." >&2
  exit 1
fi
if ! cmp "$work/undisturbed.png" "$work/survived.png"; then
  echo "   DIFFERENT: this must never happen." >&2
  exit 1
fi
echo "   identical. The job lost a rank and ended with the right answer."

say "Your own program"
cat <<TEXT
   $build/bin/mpicc -O2 my.c -o my                       # or a binary that was built for MPICH, as it is
   $build/bin/mpirun -n 4 --qos fault-tolerant ./my      # then kill a rank: kill -9, or --inject 'kill rank 2 after 1s'

   ./dev install PREFIX    installs it
   docs/mpirun.md          describes mpirun; qos-profiles/README.md what a profile survives and costs
   docs/guide.md           publishes and subscribes in C++
TEXT
