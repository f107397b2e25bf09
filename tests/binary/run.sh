#!/usr/bin/env bash
# run.sh BUILD [--qos PROFILE] [PROGRAM ...]: programs of Debian's that were built for MPICH, unchanged, under our mpirun. See docs/programs.md.
set -euo pipefail
build=$(cd "$1" && pwd)
shift
profile=default programs=()
while [ $# -gt 0 ]; do
  case $1 in
    --qos) profile=${2:?--qos takes a profile}; shift ;;
    -*) echo "binary-tests: knows --qos PROFILE, not '$1'" >&2; exit 2 ;;
    *) programs+=("$1") ;;
  esac
  shift
done
[ "${#programs[@]}" -gt 0 ] || programs=(NPmpich2 xdinv xdlu xdqr xdtrd xdsep cxx)
packages=(netpipe-mpich2 scalapack-mpi-test scalapack-test-common libscalapack-mpich2.2 liblapack3 libblas3 libmpich12 libmpich-dev)
work=$build/binary-tests
root=$work/root

# The packages are unpacked, not installed: nothing of the machine changes.
fetch_packages() {
  [ "$(cat "$work/fetched" 2>/dev/null)" != "${packages[*]}" ] || return 0
  mkdir -p "$work/packages" "$root"
  (cd "$work/packages" && apt-get -qq -o APT::Sandbox::User=root download "${packages[@]}")
  local package
  for package in "$work"/packages/*.deb; do dpkg -x "$package" "$root"; done
  echo "${packages[*]}" >"$work/fetched"
}

# What the program finds of MPI is ours: libmpich.so.12 by LD_LIBRARY_PATH, and nothing else is changed.
run() { # output, ranks, program, arguments
  local output=$1 ranks=$2
  shift 2
  LD_LIBRARY_PATH=$prefix/lib:$libraries:$libraries/lapack:$libraries/blas \
    timeout --kill-after=10 "${BINARY_TESTS_TIMEOUT:-1800}" "$prefix/bin/mpirun" -n "$ranks" --qos "$profile" "$@" </dev/null >"$output" 2>&1
}

# Sizes from 1 byte to 1 MiB, and every byte looked at.
netpipe() {
  run "$work/NPmpich2.out" 2 "$root/usr/bin/NPmpich2" -i -u 1048576 -o "$work/np.out" || return 1
  ! grep -i -q -e 'integrity check failed' -e 'error' "$work/NPmpich2.out"
}

# Each of ScaLAPACK's programs reads its input from the working directory and counts its checks. Combinations that its input names and
# that are not legal it skips (32 in QR.dat).
scalapack() {
  cp -rLn "$root$tests/"*.dat "$work/scalapack/" 2>/dev/null || true
  (cd "$work/scalapack" && run "$work/$1.out" 4 "$root$tests/$1") || return 1
  grep -q -E '^ *[1-9][0-9]* tests completed and passed' "$work/$1.out" &&
    ! grep -q -E '^ *[1-9][0-9]* tests completed and failed|FAILED' "$work/$1.out"
}

# The C++ bindings: MPICH's header, and its library of them on top of our libmpi.
cxx() {
  ${CXX:-c++} -w -I "$root/usr/include/$(gcc -print-multiarch)/mpich" -o "$work/cxx" "$(dirname "$0")/cxx.cpp" \
    "$libraries/libmpichcxx.so.12" "$prefix/lib/libmpich.so.12" -Wl,--unresolved-symbols=ignore-in-shared-libs || return 1
  # Nothing else of MPICH's is found.
  mkdir -p "$work/cxx-library"
  cp -f "$libraries/libmpichcxx.so.12" "$work/cxx-library/"
  libraries=$work/cxx-library run "$work/cxx.out" 3 "$work/cxx" && grep -q '^C++ bindings passed$' "$work/cxx.out"
}

fetch_packages
prefix=$work/prefix
cmake --install "$build" --prefix "$prefix" >/dev/null
libraries=$root/usr/lib/$(gcc -print-multiarch)
tests=/usr/lib/$(gcc -print-multiarch)/scalapack/mpich-tests
mkdir -p "$work/scalapack"
failed=0
for program in "${programs[@]}"; do
  began=$SECONDS
  case $program in
    NPmpich2) check=netpipe ;;
    cxx) check=cxx ;;
    *) check="scalapack $program" ;;
  esac
  if $check; then
    printf 'passed %s (%s, %d s) %s\n' "$program" "$profile" $((SECONDS - began)) "$(grep -m1 -o -E '[0-9]+ tests completed and passed' "$work/$program.out" || true)"
  else
    printf 'FAILED %s: %s\n' "$program" "$work/$program.out"
    tail -n 15 "$work/$program.out"
    failed=1
  fi
done
exit $failed
