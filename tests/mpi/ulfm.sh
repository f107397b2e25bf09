#!/usr/bin/env bash
# ulfm.sh MPIRUN RANKS DEATHS PROGRAM [ARGUMENT ...] -- RULE ...: a program for ULFM ends well under these rules of --inject,
# with so many ranks lost (any: any number), under the profile $ULFM_QOS (ulfm). $ULFM_HOSTS, if it is set, names the job's
# nodes, which are all this machine.
set -eu
mpirun=$1 ranks=$2 deaths=$3
shift 3
program=()
while [ "$1" != -- ]; do
  program+=("$1")
  shift
done
shift
rules=()
for rule; do rules+=(--inject "$rule"); done
messages=$(mktemp) && report=$(mktemp) || exit 1
trap 'rm -f "$messages" "$report"' EXIT
nodes=()
[ -z "${ULFM_HOSTS:-}" ] || nodes=(--launcher fork -H "$ULFM_HOSTS")
code=0
answer=$("$mpirun" -n "$ranks" "${nodes[@]}" --report "$report" --qos "${ULFM_QOS:-ulfm}" "${rules[@]}" "${program[@]}" 2>"$messages") || code=$?
lost=$(grep -c '"lost_with_node":' "$report" || true)
name=$(basename "${program[0]}")
name=ok\ ${name#mpi_}
# Each that lives says so; one that dies may have said it before.
wells=$(grep -c -x "$name" <<<"$answer" || true)
others=$(grep -v -x "$name" <<<"$answer" || true)
if [ "$code" -ne 0 ] || [ -n "$others" ] || [ "$wells" -lt $((ranks - lost)) ] || [ "$wells" -gt "$ranks" ] ||
  { [ "$deaths" != any ] && [ "$lost" -ne "$deaths" ]; }; then
  printf 'ulfm.sh: code %s, %s ranks lost of %s expected, output: %s\n' "$code" "$lost" "$deaths" "$answer"
  cat "$messages"
  exit 1
fi
