#!/usr/bin/env bash
# phases.sh MPIRUN PROGRAM OPTIONS RANKS RULE...: a program that takes -s STEPS, such as random phases, gives the same answer
# without failures, in both profiles, and when ranks are killed by these rules of --inject.
set -euo pipefail
mpirun=$1 ranks=$4
read -ra options <<<"$3"
job=("$2" "${options[@]}" -s 300)
shift 4
rules=()
for rule; do rules+=(--inject "$rule"); done
expected=$("$mpirun" -n "$ranks" "${job[@]}" | sort)
unharmed=$("$mpirun" -n "$ranks" --qos fault-tolerant "${job[@]}" | sort)
harmed=$("$mpirun" -n "$ranks" --qos fault-tolerant "${rules[@]}" "${job[@]}" | sort)
if [ "$unharmed" != "$expected" ] || [ "$harmed" != "$expected" ]; then
  printf 'phases.sh: %s\nunder fault-tolerant: %s\nwith deaths: %s\n' "$expected" "$unharmed" "$harmed"
  exit 1
fi
