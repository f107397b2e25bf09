#!/usr/bin/env bash
# symbols.sh LIST MPI_H LIBRARIES: each function of the list, and each that mpi.h declares, is in libmpi as MPI_ and PMPI_
# and in libmpifort as mpi_..._, and libmpi has no MPI function that mpi.h does not declare.
set -eu
list=$1 header=$2 libraries=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nm -D --defined-only "$libraries/libmpi.so.12" | awk '$2 ~ /[TWV]/ {print $3}' | sort -u >"$work/libmpi"
nm -D --defined-only "$libraries/libmpifort.so.12" | awk '{print $3}' | sort -u >"$work/libmpifort"
grep -o 'LLAMADA_MPI_PUBLIC [A-Za-z_]* MPI_[A-Za-z_0-9]*(' "$header" | sed 's/.* MPI_//; s/(//' | sort -u >"$work/declared"
wrong=0
missing() { echo "symbols.sh: $1"; wrong=1; }
{ grep -v '^#' "$list"; cat "$work/declared"; } | sort -u | while read -r name; do
  lower=$(echo "$name" | tr '[:upper:]' '[:lower:]')
  grep -q "^$name\$" "$work/declared" || echo "mpi.h does not declare MPI_$name"
  grep -q "^MPI_$name\$" "$work/libmpi" && grep -q "^PMPI_$name\$" "$work/libmpi" || echo "libmpi does not have MPI_$name and PMPI_$name"
  case $name in Status_f2c | Status_c2f | Status_f082c | Status_c2f08 | Status_f082f | Status_f2f08) continue ;; esac # between the languages: C's alone
  grep -q "^mpi_${lower}_\$" "$work/libmpifort" || echo "libmpifort does not have mpi_${lower}_"
done >"$work/wrong"
grep '^MPI_' "$work/libmpi" | sed 's/^MPI_//' | sort -u | comm -23 - "$work/declared" | sed 's/.*/mpi.h does not declare MPI_&, but libmpi has it/' >>"$work/wrong"
while read -r line; do missing "$line"; done <"$work/wrong"
exit $wrong
