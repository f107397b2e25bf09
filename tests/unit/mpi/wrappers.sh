#!/bin/sh
# wrappers.sh BIN_FOLDER: mpicc and mpicxx say what they add, and refuse what they do not know.
set -eu
for name in mpicc mpicxx mpic++; do
  wrapper=$1/$name
  "$wrapper" -show x.c -o x | grep -q -- '-I.*x.c -o x .*-L.*-lmpi'
  "$wrapper" -showme:compile | grep -q -- '^.*-I'
  "$wrapper" -showme:link | grep -q -- '-lmpi'
  "$wrapper" -compile-info | grep -q -- '-I'
  "$wrapper" -link-info | grep -q -- '-lmpi'
  test -f "$("$wrapper" -showme:incdirs)/mpi.h"
  test "$("$wrapper" -showme:libs)" = mpi
  "$wrapper" --version >/dev/null
  if "$wrapper" -showme:nonsense 2>/dev/null; then
    echo "$name accepts -showme:nonsense"
    exit 1
  fi
done
test "$(LLAMADA_CC=other "$1/mpicc" -showme:command)" = other
test "$("$1/mpicxx" -cxx=another -showme:command)" = another
