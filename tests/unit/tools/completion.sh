#!/bin/bash
# completion.sh FOLDER SCRIPT: completes command lines of FOLDER/llamada as bash does with SCRIPT.
set -u
PATH=$1:$PATH
. "$2"
failures=0

# check EXPECTED WORD ...: EXPECTED is among what the last word is completed to.
check() {
  local expected=$1
  shift
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  COMPREPLY=()
  _llamada
  case " ${COMPREPLY[*]} " in
    *" $expected "*) ;;
    *) echo "'$*' is completed to '${COMPREPLY[*]}', without '$expected'" && failures=$((failures + 1)) ;;
  esac
}

check spy llamada s
check doctor llamada ''
check ranks llamada spy r
check --history llamada spy ranks --h
check --publish llamada spy ranks 1234 --p
check match llamada qos m
check --topic llamada qos check --t
exit $((failures > 0))
