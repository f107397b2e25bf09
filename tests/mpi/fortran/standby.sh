#!/usr/bin/env bash
# standby.sh MPIRUN PROGRAM: a program in Fortran leaves standbys, and a rank that is killed goes on from one. PROGRAM is killed.f90.
set -eu
mpirun=$1 program=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cat >"$work/standby.xml" <<'XML'
<dds><qos_library name='test'><qos_profile name='standby' base_name='llamada::fault_tolerant'><rank_replacement>
<standby_interval>0.02</standby_interval></rank_replacement></qos_profile></qos_library></dds>
XML
expected=$("$mpirun" -n 3 "$program" 4000)
answer=$("$mpirun" -n 3 --qos "$work/standby.xml" --verbose --inject 'kill rank 1 in MPI_Allreduce 3900' "$program" 4000 2>"$work/err")
if [ "$answer" != "$expected" ] || ! grep -q 'rank 1 (incarnation 2) goes on from its standby' "$work/err"; then
  printf 'expected\n%s\ngot\n%s\n' "$expected" "$answer"
  cat "$work/err"
  exit 1
fi
