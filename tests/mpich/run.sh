#!/usr/bin/env bash
# run.sh BUILD [--quick] [--with-mpich] [--nodes K] [--only TEXT] [DIRECTORY ...]: builds the test suite of MPICH, which comes
# as a source package of Debian's, with our mpicc and mpifort, and runs directories of it under our mpirun; with --nodes also
# on K nodes of this machine. See docs/mpich-tests.md.
set -euo pipefail
build=$(cd "$1" && pwd)
shift
quick=0 only= with_mpich=0 nodes=1 directories=()
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=1 ;;
    --with-mpich) with_mpich=1 ;;
    --only) only=${2:?--only takes a part of the tests\' names}; shift ;;
    --nodes) nodes=${2:?--nodes takes a number of nodes}; shift
             [[ $nodes =~ ^[2-9]$ ]] || { echo "mpich-tests: --nodes takes a number from 2 to 9, not '$nodes'" >&2; exit 2; } ;;
    -*) echo "mpich-tests: knows --quick, --with-mpich, --nodes K and --only TEXT, not '$1'" >&2; exit 2 ;;
    *) directories+=("$1") ;;
  esac
  shift
done
if [ "${#directories[@]}" -eq 0 ]; then
  directories=(attr errhan group info init topo f77/pt2pt f90/datatype f08/pt2pt)
  [ "$nodes" -eq 1 ] || directories=(attr coll comm datatype errhan group info init io pt2pt spawn threads topo)
  [ "$quick" -eq 1 ] || [ "$nodes" -gt 1 ] || directories=(attr coll comm datatype errhan errors f77 f90 f08 group info init io pt2pt rma spawn threads topo)
fi
work=$build/mpich-tests

# The options for chapters that our mpi.h has not: the suite's own library would not link with them.
missing_chapters() {
  local chapter
  for chapter in rma:MPI_Win_create romio:MPI_File_open spawn:MPI_Comm_spawn; do
    grep -q "${chapter#*:}(" "$1" || echo "--disable-${chapter%%:*}"
  done
}

# A prefix with the plain names for Debian's MPICH; hydra wants to lie where it was installed.
debian_prefix() {
  local name
  mkdir -p "$work/debian/bin"
  for name in mpicc mpif77 mpif90 mpifort mpiexec; do
    printf '#!/bin/sh\nexec %s.mpich "$@"\n' "$name" >"$work/debian/bin/$name"
    chmod +x "$work/debian/bin/$name"
  done
}

# An mpiexec for jobs on several nodes, which are llamanetds of this machine. The ranks are dealt out evenly, in their order.
nodes_mpiexec() {
  cat <<TEXT
#!/usr/bin/env bash
# mpiexec -n N PROGRAM on $nodes nodes.
count=1
[ "\$1" != -n ] || count=\$2
slots=\$(((count + $nodes - 1) / $nodes))
hosts=localhost:\$slots
for ((node = 2; node <= $nodes; ++node)); do hosts+=,node\$node:\$slots; done
exec "$prefix/bin/mpiexec" --launcher fork --host "\$hosts" "\$@"
TEXT
}

# Outside of a build of MPICH the suite leaves its tests of mpi_f08 out; this configures them, too.
allow_f08() {
  sed 's/ -a "$FROM_MPICH" = "yes" ; then$/ ; then/' "$suite/configure" >"$suite/configure.with-f08"
  chmod +x "$suite/configure.with-f08"
}

# configure_suite NAME PREFIX MPI_H: the suite for the MPI below PREFIX, in a folder of its own.
configure_suite() {
  local folder=$work/$1
  # Without what is MPI-4's partitioned communication, and C++'s old bindings.
  local options=(--with-mpi="$2" --disable-cxx --disable-part --enable-threads=multiple --enable-fortran=all)
  mapfile -t -O "${#options[@]}" options < <(missing_chapters "$3")
  [ -f "$folder/runtests" ] && [ "$(cat "$folder/options")" = "${options[*]}" ] && return
  rm -rf "$folder" && mkdir -p "$folder"
  echo "mpich-tests: configuring for $1"
  (cd "$folder" && "$suite/configure.with-f08" --srcdir="$suite" "${options[@]}" >configure.log 2>&1) ||
    { tail -5 "$folder/configure.log"; echo "mpich-tests: configure failed: $folder/configure.log" >&2; exit 1; }
  make -C "$folder/dtpools" -j2 >"$folder/dtpools.log" 2>&1 || true
  make -C "$folder/util" -j2 >"$folder/util.log" 2>&1 || true
  echo "${options[*]}" >"$folder/options"
}

# choose NAME DIRECTORY: writes chosen.list in the directory and in all below it: the directories of its testlist, and of
# the tests those that were asked for.
choose() {
  local folder=$work/$1/$2 list line
  list=$folder/testlist
  [ -f "$list" ] || list=$suite/$2/testlist
  mkdir -p "$folder"
  [ -f "$list" ] || { : >"$folder/chosen.list"; return; }
  while read -r line; do
    if [ -n "$line" ] && [ -d "$folder/${line%% *}" ]; then
      echo "$line"
      choose "$1" "$2/${line%% *}" </dev/null
    elif [[ $line == !* ]] || [[ $line == *"$only"* ]]; then
      echo "$line"
    fi
  done < <(sed -e 's/#.*//' "$list") >"$folder/chosen.list"
}

# run_directory NAME MPIEXEC DIRECTORY [LABEL]: prints one line of sums, and one for each test that failed.
run_directory() {
  choose "$1" "$3"
  cd "$work/$1/$3"
  rm -f chosen.tap
  perl "$work/$1/runtests" -srcdir="$suite/$3" -mpiexec="$2" -tests=chosen.list -tapfile=chosen.tap >run.log 2>&1 || true
  local skipped
  skipped=$(grep -c '^ok.*# SKIP' chosen.tap || true)
  printf '%s %s: %s of %s tests passed%s\n' "${4:-$1}" "$3" "$(($(grep -c '^ok' chosen.tap) - skipped))" \
    "$(($(grep -c -E '^(not )?ok' chosen.tap) - skipped))" "$([ "$skipped" -eq 0 ] || echo ", $skipped left out by the suite itself")"
  sed -n 's|^not ok *- *\([^#]*[^# ]\) *#.*|  failed: \1|p' chosen.tap
}

"$(dirname "${BASH_SOURCE[0]}")/../support/debian_source.sh" mpich "$work/source"
suite=$(echo "$work"/source/mpich-*/test/mpi)
allow_f08
prefix=$work/prefix
cmake --install "$build" --prefix "$prefix" >/dev/null
configure_suite llamada "$prefix" "$prefix/include/mpi.h"
if [ "$nodes" -gt 1 ]; then
  nodes_mpiexec >"$work/nodes_mpiexec"
  chmod +x "$work/nodes_mpiexec"
fi
if [ "$with_mpich" -eq 1 ]; then
  debian_prefix
  configure_suite mpich "$work/debian" "$(mpicc.mpich -show -E - | tr ' ' '\n' | sed -n 's/^-I//p' | head -1)/mpi.h"
fi
for directory in "${directories[@]}"; do
  [ -d "$work/llamada/$directory" ] || { echo "mpich-tests: the suite has no directory '$directory'" >&2; exit 2; }
  (run_directory llamada "$prefix/bin/mpiexec" "$directory")
  [ "$nodes" -eq 1 ] || (run_directory llamada "$work/nodes_mpiexec" "$directory" "llamada on $nodes nodes,")
  [ "$with_mpich" -eq 0 ] || (run_directory mpich "$work/debian/bin/mpiexec" "$directory")
done
