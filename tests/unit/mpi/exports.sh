#!/bin/sh
# exports.sh MPI_H LIBRARY: the header declares exactly what the library exports, functions under both names.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -n 's/^LLAMADA_MPI_PUBLIC [A-Za-z_]* \(P\{0,1\}MPIR\{0,1\}_[A-Za-z_0-9]*\)(.*/\1/p' "$1" | sort >"$work/declared"
nm -D --defined-only "$2" | sed 's/^[^ ]* [A-Za-z] //; s/@.*//' | grep -E '^P?MPIR?_' | sort >"$work/exported"
grep -v '^MPIR_\|^P' "$work/declared" | sed 's/^/P/' | sort >"$work/wanted_profiling"
grep '^PMPI_' "$work/declared" | diff "$work/wanted_profiling" - || { echo "PMPI_ and MPI_ names differ in the header"; exit 1; }
test -s "$work/declared"
sed -n 's/^LLAMADA_MPI_PUBLIC extern .*[ *]\(MPI_[A-Za-z_0-9]*\);.*/\1/p' "$1" >"$work/variables"
sort -o "$work/declared" "$work/declared" "$work/variables"
if ! diff "$work/declared" "$work/exported"; then
  echo "mpi.h (<) and the library (>) differ"
  exit 1
fi
other=$(nm -D --defined-only "$2" | sed 's/^[^ ]* [A-Za-z] //; s/@.*//' | grep -vE '^P?MPIR?_' |
  grep -vxE 'time|gettimeofday|clock_gettime|timespec_get|clock|times|getrusage|sched_getcpu|getpid|kill|getrandom|getentropy|arc4random(_buf|_uniform)?|(__)?open(at)?(64)?(_2)?|_ZNSt13random_device9_M_getvalEv|read|__read_chk|f(re)?open(64)?|fdopen|fileno(_unlocked)?|writev?|fstat(64)?|lseek(64)?|dup[23]?|fcntl(64)?|llamada_keyval_of_fortran|llamada_(comm|type|win)_[gs]et_attribute' || true)
if [ -n "$other" ]; then
  echo "the library exports what it should not: $other"
  exit 1
fi
