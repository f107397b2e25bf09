#!/usr/bin/env bash
# run.sh BUILD [--quick] [--with-mpich] [--only TEXT] [DIRECTORY ...]: builds the test suite of MPICH, which comes as a
# source package of Debian's, with our mpicc and mpifort, and runs directories of it under our mpirun. See docs/mpich-tests.md.
set -euo pipefail
build=$(cd "$1" && pwd)
shift
quick=0 only= with_mpich=0 directories=()
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=1 ;;
    --with-mpich) with_mpich=1 ;;
    --only) only=${2:?--only takes a part of the tests\' names}; shift ;;
    -*) echo "mpich-tests: knows --quick, --with-mpich and --only TEXT, not '$1'" >&2; exit 2 ;;
    *) directories+=("$1") ;;
  esac
  shift
done
if [ "${#directories[@]}" -eq 0 ]; then
  directories=(attr comm datatype errhan group info init pt2pt topo)
  if [ "$quick" -eq 1 ]; then directories=(attr errhan group info topo); else directories+=(coll f77 f90); fi
fi
work=$build/mpich-tests
mkdir -p "$work/source/parts" "$work/source/lists/partial"

# The source package, without touching the machine's own lists of packages.
fetch_source() {
  ls -d "$work"/source/mpich-*/test/mpi >/dev/null 2>&1 && return
  command -v dpkg-source >/dev/null || { echo "mpich-tests: dpkg-dev is needed to unpack the source package" >&2; exit 1; }
  sed 's/^Types: deb$/Types: deb-src/' /etc/apt/sources.list.d/debian.sources >"$work/source/parts/source.sources"
  local options=(-o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$work/source/parts"
                 -o "Dir::State::lists=$work/source/lists" -o APT::Sandbox::User=root)
  (cd "$work/source" && apt-get "${options[@]}" -qq update && apt-get "${options[@]}" -qq source mpich >/dev/null)
}

# configure_suite NAME PREFIX: the suite for the MPI that is installed below PREFIX (empty: Debian's MPICH), in a folder of its own.
configure_suite() {
  local folder=$work/$1 compilers=()
  [ -f "$folder/runtests" ] && return
  mkdir -p "$folder"
  local leave_out=(--disable-cxx)
  if [ -n "$2" ]; then
    compilers=(--with-mpi="$2")
    leave_out+=(--disable-romio --disable-spawn --disable-rma --disable-part)
  else
    # A prefix with the plain names; hydra wants to lie where it was installed.
    mkdir -p "$work/debian/bin"
    local name
    for name in mpicc mpif77 mpif90 mpifort mpiexec; do
      printf '#!/bin/sh\nexec %s.mpich "$@"\n' "$name" >"$work/debian/bin/$name"
      chmod +x "$work/debian/bin/$name"
    done
    compilers=(--with-mpi="$work/debian")
  fi
  echo "mpich-tests: configuring for $1"
  (cd "$folder" && "$suite/configure" --srcdir="$suite" "${compilers[@]}" "${leave_out[@]}" >configure.log 2>&1) ||
    { tail -5 "$folder/configure.log"; echo "mpich-tests: configure failed: $folder/configure.log" >&2; exit 1; }
  make -C "$folder/dtpools" -j2 >"$folder/dtpools.log" 2>&1 || true
  make -C "$folder/util" -j2 >"$folder/util.log" 2>&1 || true
}

# run_directory NAME MPIEXEC DIRECTORY: prints one line of sums, and one for each test that failed.
run_directory() {
  local folder=$work/$1/$3 list=testlist
  cd "$folder"
  [ -f testlist ] || cp "$suite/$3/testlist" testlist
  # A directory of directories (f77, f90) is run whole.
  if ! find . -mindepth 2 -maxdepth 2 -name Makefile | grep -q .; then
    list=chosen.list
    grep -v '^#' testlist | grep -e "$only" >$list || true
  fi
  rm -f chosen.tap
  perl "$work/$1/runtests" -srcdir="$suite/$3" -mpiexec="$2" -tests=$list -tapfile=chosen.tap >run.log 2>&1 || true
  printf '%s %s: %s of %s tests passed\n' "$1" "$3" "$(grep -c '^ok' chosen.tap || true)" "$(grep -c -E '^(not )?ok' chosen.tap || true)"
  sed -n 's|^not ok *- *\([^#]*[^# ]\) *#.*|  failed: \1|p' chosen.tap
}

fetch_source
suite=$(echo "$work"/source/mpich-*/test/mpi)
prefix=$work/prefix
cmake --install "$build" --prefix "$prefix" >/dev/null
configure_suite llamada "$prefix"
[ "$with_mpich" -eq 0 ] || configure_suite mpich ""
export MPIEXEC_TIMEOUT=${MPIEXEC_TIMEOUT:-180}
for directory in "${directories[@]}"; do
  [ -d "$work/llamada/$directory" ] || { echo "mpich-tests: the suite has no directory '$directory'" >&2; exit 2; }
  (run_directory llamada "$prefix/bin/mpiexec" "$directory")
  [ "$with_mpich" -eq 0 ] || (run_directory mpich "$work/debian/bin/mpiexec" "$directory")
done
