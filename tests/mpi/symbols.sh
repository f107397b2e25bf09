#!/usr/bin/env bash
# symbols.sh MPI_H LIBRARIES LIST ...: each function of the lists, and each that mpi.h declares, is in libmpi as MPI_ and
# PMPI_, and in libmpifort for mpif.h, mpi and mpi_f08; and libmpi has no MPI function that mpi.h does not declare.
set -eu
header=$1 libraries=$2
shift 2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
nm -D --defined-only "$libraries/libmpi.so.12" | awk '$2 ~ /[TWV]/ {print $3}' | sort -u >"$work/libmpi"
nm -D --defined-only "$libraries/libmpifort.so.12" | awk '{print $3}' | sort -u >"$work/libmpifort"
grep -o 'LLAMADA_MPI_PUBLIC [A-Za-z_]* MPI_[A-Za-z_0-9]*(' "$header" | sed 's/.* MPI_//; s/(//' | sort -u >"$work/declared"
cat "$@" | grep -v '^#' | sort -u >"$work/listed"
sort -u "$work/listed" "$work/declared" >"$work/all"
# With large counts: in Fortran mpi_f08 alone has them, where the arguments differ in their kinds.
grep '_c$' "$work/all" | grep -v -E '^Type_(create_resized|get_extent|get_true_extent)_c$' | tr '[:upper:]' '[:lower:]' >"$work/large"
# Between the languages, tools, and large counts: C's alone.
grep -v -E '^(Status_(f2c|c2f|f082c|c2f08|f082f|f2f08)|File_(f2c|c2f)|T_.*|.*_c)$' "$work/all" | tr '[:upper:]' '[:lower:]' >"$work/fortran"
for function in comm_dup_fn comm_null_copy_fn comm_null_delete_fn type_dup_fn type_null_copy_fn type_null_delete_fn dup_fn \
  null_copy_fn null_delete_fn; do echo $function; done >>"$work/fortran"

# missing WHERE: those of standard input that the sorted file WHERE has not.
missing() { sort -u | comm -23 - "$work/$1" | sed "s/^/missing in $1: /"; }
{
  missing declared <"$work/listed"
  sed 's/.*/MPI_&\nPMPI_&/' "$work/all" | missing libmpi
  sed 's/.*/mpi_&_\npmpi_&_/' "$work/fortran" | missing libmpifort
  # The module mpi_f08 has specific names, with "ts" where there is a choice buffer.
  sed 's/_f08ts_$/_f08_/; s/_f08ts_large_$/_f08_large_/' "$work/libmpifort" | sort -u >"$work/mpi_f08"
  grep -v '_fn$' "$work/fortran" | sed 's/.*/mpi_&_f08_\npmpir_&_f08_/' | missing mpi_f08
  sed 's/_c$//; s/.*/mpi_&_f08_large_\npmpir_&_f08_large_/' "$work/large" | missing mpi_f08
  # What programs built with MPICH's mpi_f08 call besides.
  for kind in comm datatype errhandler group info message op request; do
    for name in eq neq f08_eq_f f08_neq_f f_eq_f08 f_neq_f08; do echo "__mpi_f08_types_MOD_mpi_${kind}_$name"; done
  done | missing libmpifort
  grep '^MPI_' "$work/libmpi" | sed 's/^MPI_//' | missing declared
} >"$work/wrong"
cat "$work/wrong"
[ ! -s "$work/wrong" ]
