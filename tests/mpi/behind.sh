#!/usr/bin/env bash
# behind.sh MPIRUN PROGRAM: ranks that are killed are replaced where libmpi lies behind libc: each has appended one line.
set -eu
mpirun=$1 program=$2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
fail() { echo "behind.sh: $1"; cat "$folder"/out "$folder"/err "$folder"/lines 2>/dev/null; exit 1; }
run() { "$mpirun" -n 3 --qos fault-tolerant "$@" "$program" "$folder/lines" 'a b' >"$folder/out" 2>"$folder/err" || fail "code $?: $*"; }
run --inject 'kill rank 1 in MPI_Allreduce 20' --inject 'kill rank 0 in MPI_Finalize' --inject 'kill rank 2 in MPI_Init'
[ "$(grep -c 'done *replaced as incarnation' "$folder/err")" = 3 ] || fail 'not three replacements'
[ "$(sort "$folder/lines" | cut -d: -f1 | uniq -c | tr -s ' \n' ' ')" = ' 1 rank 0 1 rank 1 1 rank 2 ' ] || fail 'not one line of each rank'
[ "$(cat "$folder/out")" = "3 arguments, the last is 'a b'; preloaded: nothing; started over: not said" ] || fail 'another start'
! grep 'behind libc' "$folder/err" || fail 'libmpi was behind libc'
# What the user preloads stays.
libm=$(ldconfig -p | sed -n 's/.*libm\.so\.6.* => //p' | head -1)
run -x "LD_PRELOAD=$libm"
[ "$(cat "$folder/out")" = "3 arguments, the last is 'a b'; preloaded: $libm; started over: not said" ] || fail 'another LD_PRELOAD'
