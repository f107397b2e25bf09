#!/usr/bin/env bash
# findmpi.sh PREFIX SOURCE: programs in C, C++ and Fortran find the MPI below PREFIX by CMake's FindMPI, by its wrappers
# and by pkg-config, and run on three ranks. What the wrappers are asked by others' build systems is asked, too.
set -euo pipefail
prefix=$1
source=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=

fail() { echo "findmpi.sh: $*"; exit 1; }
sums() { [ "$("$prefix/bin/mpiexec" -n 3 "$1")" = "sum 3" ] || fail "$1 does not say 'sum 3'"; }

cmake -S "$source" -B "$work/cmake" -DMPI_HOME="$prefix" >"$work/log" 2>&1 || { cat "$work/log"; fail "FindMPI"; }
cmake --build "$work/cmake" >"$work/log" 2>&1 || { cat "$work/log"; fail "building with FindMPI"; }
case $(cat "$work/cmake/mpiexec") in "$prefix"/bin/mpi*) ;; *) fail "FindMPI found another mpiexec" ;; esac
for program in in_c in_cxx in_fortran; do sums "$work/cmake/$program"; done

"$prefix/bin/mpicc" -o "$work/c" "$source/program.c" && sums "$work/c"
"$prefix/bin/mpicxx" -o "$work/cxx" "$source/program.cpp" && sums "$work/cxx"
for wrapper in mpif77 mpif90 mpifort; do "$prefix/bin/$wrapper" -o "$work/$wrapper" "$source/program.f90" -J "$work" && sums "$work/$wrapper"; done

if command -v pkg-config >/dev/null; then
  export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
  # shellcheck disable=SC2046
  cc -o "$work/pc" "$source/program.c" $(pkg-config --cflags --libs llamada-mpi) && sums "$work/pc"
  # shellcheck disable=SC2046
  gfortran -o "$work/pf" "$source/program.f90" -J "$work" $(pkg-config --cflags --libs llamada-mpi-fort) && sums "$work/pf"
fi

for wrapper in mpicc mpicxx mpic++ mpiCC mpif77 mpif90 mpifort; do
  for question in -show -showme -showme:compile -showme:link -showme:incdirs -showme:libdirs -showme:libs -showme:command \
    -showme:version -showme:help -help --showme:compile --show -compile-info -compile_info -link-info -link_info; do
    [ -n "$("$prefix/bin/$wrapper" $question)" ] || fail "$wrapper $question says nothing"
  done
  ! "$prefix/bin/$wrapper" -showme:nothing >/dev/null 2>&1 || fail "$wrapper -showme:nothing passes"
  "$prefix/bin/$wrapper" -show | grep -e '-lmpi' >/dev/null || fail "$wrapper -show does not name the library"
done
[ "$(LLAMADA_FC=other-compiler "$prefix/bin/mpifort" -showme:command)" = other-compiler ] || fail "LLAMADA_FC is not obeyed"

# Options of compilers pass through.
cc=$prefix/bin/mpicc
"$cc" -v 2>&1 | grep 'mpicc for Llamada' && "$cc" --version | grep . >/dev/null >/dev/null || fail "mpicc -v or --version says nothing"
"$cc" -v 2>&1 | grep -i version >/dev/null || fail "mpicc -v does not ask the compiler"
[ "$("$cc" -cc=other -showme:command)" = other ] || fail "-cc= is not obeyed"
case $("$cc" -show -c a.c) in *-lmpi*) fail "mpicc -show -c links" ;; esac
echo '#include <mpi.h>' | "$cc" -E - | grep MPI_Comm >/dev/null || fail "mpicc -E - does not find mpi.h"
"$cc" -g -O0 -fsanitize=address,undefined -Wall -Werror -o "$work/sanitized" "$source/program.c" || fail "mpicc -fsanitize"
readelf -d "$work/sanitized" | grep libasan >/dev/null || fail "mpicc lost -fsanitize"
"$cc" -shared -fPIC -o "$work/libshared.so" "$source/program.c" || fail "mpicc -shared"
"$cc" -c "$source/program.c" -o "$work/program.o" && "$cc" "$work/program.o" -o "$work/in_two" && sums "$work/in_two"
static=$("$cc" -static -o "$work/static" "$source/program.c" 2>&1) && fail "mpicc -static passes"
case $static in *"no static library"*) ;; *) fail "mpicc -static says: $static" ;; esac

# The launcher that FindMPI tells of takes the options that it tells of.
options=$(cat "$work/cmake/mpiexec.options")
# shellcheck disable=SC2086
[ "$("$(cat "$work/cmake/mpiexec")" $options "$work/cmake/in_c")" = "sum 3" ] || fail "MPIEXEC_EXECUTABLE $options does not run three ranks"
