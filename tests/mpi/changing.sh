#!/usr/bin/env bash
# changing.sh MPIRUN MPICC SOURCES: another build takes the place of a running job's program or library, then a rank dies. The
# job ends with the old program's answer, or says which file has changed and ends with another code than 0.
set -eu
mpirun=$1 mpicc=$2 sources=$3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
  echo "changing.sh: $1"
  cat output errors
  exit 1
}
library() { "${CC:-cc}" -shared -fPIC "$@" "$sources/changing_library.c"; }
# begin: a folder with the old builds, and the job in it; $1 is what runs.
begin() {
  rm -rf job && mkdir job
  cp old job/program && cp old.so job/libchanging.so
  "$mpirun" -n 2 --qos fault-tolerant --inject 'kill rank 1 in MPI_Allreduce 120' "$@" >output 2>errors &
  job=$!
  # Only when the ranks run is anything changed.
  for _ in $(seq 600); do
    [ "$(grep -l "$work/job/libchanging.so" /proc/[0-9]*/maps 2>/dev/null | wc -l)" -ge 2 ] && break
    sleep 0.05
  done
  sleep 0.3
}
end() { code=0; wait "$job" || code=$?; }

library -o old.so && library -DTERM=3 -o new.so
ln -s old.so libchanging.so
for build in "old 1" "new 2"; do
  set -- $build
  "$mpicc" -DSTEP="$2" "$sources/changing.c" -o "$1" -L. -lchanging -Wl,-rpath,'$ORIGIN'
done
ln -sf old.so libchanging.so
expected=$("$mpirun" -n 2 ./old)

begin job/program
cp new job/moved && mv job/moved job/program
end
if [ "$code" -ne 0 ] || [ "$(cat output)" != "$expected" ]; then fail "a program that was moved over: code $code"; fi
grep -q 'is live again' errors || fail "a program that was moved over: nobody died"

begin job/program
cp new.so job/moved && mv job/moved job/libchanging.so
end
[ "$code" -ne 0 ] || fail "a library that was moved over: code 0"
grep -q 'libchanging.so has changed on disk' errors || fail "a library that was moved over: not named"

# Behind a wrapper script mpirun does not start the program itself.
printf '#!/bin/sh\njob/program\nexit $?\n' >wrapper && chmod +x wrapper
begin ./wrapper
cp new job/moved && mv job/moved job/program
end
[ "$code" -ne 0 ] || fail "a program behind a script: code 0"
grep -q 'program has changed on disk' errors || fail "a program behind a script: not named"

begin ./wrapper
printf '#!/bin/sh\n# Another.\njob/program\nexit $?\n' >another && chmod +x another && mv another wrapper
end
[ "$code" -ne 0 ] || fail "a script: code 0"
grep -q 'wrapper has changed on disk' errors || fail "a script: not named"
