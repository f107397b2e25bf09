#!/bin/sh
# exports.sh MPI_H LIBRARY EXPORTS_MAP: the header, with mpi-ext.h and llamada-checkpoint.h beside it, declares exactly what the library exports, functions of MPI under both names.
set -eu
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
sed -n 's/^LLAMADA_MPI_PUBLIC [A-Za-z_]* \(P\{0,1\}MPI[RX]\{0,1\}_[A-Za-z_0-9]*\|LLAMADA_[A-Za-z_0-9]*\)(.*/\1/p' "$1" "$(dirname "$1")/mpi-ext.h" "$(dirname "$1")/llamada-checkpoint.h" | sort >"$work/declared"
nm -D --defined-only "$2" | sed 's/^[^ ]* [A-Za-z] //; s/@.*//' | grep -E '^(P?MPI[RX]?|LLAMADA)_' | sort >"$work/exported"
grep -v '^MPIR_\|^LLAMADA_\|^P' "$work/declared" | sed 's/^/P/' | sort >"$work/wanted_profiling"
grep '^PMPIX\{0,1\}_' "$work/declared" | diff "$work/wanted_profiling" - || { echo "PMPI_ and MPI_ names differ in the header"; exit 1; }
test -s "$work/declared"
sed -n 's/^LLAMADA_MPI_PUBLIC extern .*[ *]\(MPI_[A-Za-z_0-9]*\);.*/\1/p' "$1" >"$work/variables"
sort -o "$work/declared" "$work/declared" "$work/variables"
if ! diff "$work/declared" "$work/exported"; then
  echo "mpi.h (<) and the library (>) differ"
  exit 1
fi
# All other exports are those that exports.map and llamada-checkpoint.h name.
{
  sed -n 's/^ *\([A-Za-z_0-9]*\);$/\1/p' "$3" | grep -v '^MPIR_'
  sed -n 's/^LLAMADA_MPI_PUBLIC int \(LLAMADA_[A-Za-z_]*\)(.*/\1/p' "$(dirname "$1")/llamada-checkpoint.h"
} | sort -u >"$work/named"
other=$(nm -D --defined-only "$2" | sed 's/^[^ ]* [A-Za-z] //; s/@.*//' | grep -vE '^P?MPI[RX]?_' | sort -u | diff "$work/named" - || true)
if [ -n "$other" ]; then
  echo "exports.map (<) and the library (>) differ: $other"
  exit 1
fi
