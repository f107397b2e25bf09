#!/bin/bash
# completion.sh FOLDER SCRIPT...: completes command lines of the programs in FOLDER as bash does with the SCRIPTs.
set -u
PATH=$1:$PATH
shift
for script; do . "$script"; done
failures=0

# complete_line FUNCTION WORD ...: what the last word is completed to, in COMPREPLY.
complete_line() {
  local function=$1
  shift
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  COMPREPLY=()
  "$function"
}

# check EXPECTED WORD ...: EXPECTED is among what the last word is completed to.
check() {
  local expected=$1
  shift
  complete_line "_${1%.llamada}" "$@"
  case " ${COMPREPLY[*]} " in
    *" $expected "*) ;;
    *) echo "'$*' is completed to '${COMPREPLY[*]}', without '$expected'" && failures=$((failures + 1)) ;;
  esac
}

# check_none WORD ...: the last word is completed to nothing, so that bash completes files.
check_none() {
  complete_line "_$1" "$@"
  if [ ${#COMPREPLY[@]} -gt 0 ]; then echo "'$*' is completed to '${COMPREPLY[*]}'" && failures=$((failures + 1)); fi
}

check spy llamada s
check doctor llamada ''
check ranks llamada spy r
check --history llamada spy ranks --h
check --publish llamada spy ranks 1234 --p
check match llamada qos m
check --topic llamada qos check --t

check --on-deadlock mpirun --on
check -np mpirun -n
check -genvall mpirun -genva
check end mpirun -n 2 --on-deadlock e
check report mpirun -n 2 --on-deadlock = r
check fault-tolerant mpirun --qos f
check none mpirun -l -env A B --bind-to n
check kill mpirun --mca a b -host localhost -H localhost -N 2 --inject k
check node mpirun --map-by n
check numa mpirun --map-by n
check --report mpirun -l -n 2 --rep
check bash mpirun -n 2 bas
check_none mpirun -n 2 --report f
check_none mpirun -n 2 ./a.out --rep
exit $((failures > 0))
