#!/bin/bash
# memory_limit.sh MPIRUN: a rank that the kernel kills at the memory limit of its control group is told as such, and a job that
# needs more at its start than the group has is refused. Ends with 77 where no group can be made.
set -u
mpirun=$1
name=llamada-test-$$
work=$(mktemp -d) || exit 1
own=$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
if [ -n "$own" ]; then
  group=/sys/fs/cgroup/memory$own/$name limit=memory.limit_in_bytes
else
  group=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)/$name limit=memory.max
fi
trap 'rmdir "$group" 2>/dev/null; rm -rf "$work"' EXIT
mkdir "$group" 2>/dev/null && echo 268435456 >"$group/$limit" 2>/dev/null || {
  echo "SKIPPED: mpi.memory_limit: no control group can be made"
  exit 77
}
failures=0
wrong() {
  echo "WRONG: $*"
  sed 's/^/    /' "$work/err"
  failures=$((failures + 1))
}
# run arguments...: within the group; prints the exit code.
run() {
  sh -c 'echo $$ >"$0/cgroup.procs" || exit 77; exec timeout -s KILL 60 "$@"' "$group" "$mpirun" "$@" \
    >"$work/out" 2>"$work/err" </dev/null
  code=$?
  [ $code = 77 ] && exit 77
}

run -n 2 --report "$work/report" sh -c 'if [ $PMI_RANK = 1 ]; then exec tail /dev/zero; fi; exec sleep 30'
[ $code = 137 ] || wrong "code $code, not 137"
grep -q "SIGKILL (Killed): the kernel ended it, because the memory of its control group (limit 256 MiB) is used up" "$work/err" ||
  wrong "the limit is not named"
grep -q '"out_of_memory": true' "$work/report" || wrong "the report does not have it"
run -n 2 sh -c 'if [ $PMI_RANK = 1 ]; then kill -9 $$; fi; exec sleep 30'
grep -q "is used up" "$work/err" && wrong "another kill is taken for one by the memory limit"
run -n 2 --qos fault-tolerant-long true
[ $code = 125 ] || wrong "code $code, not 125"
grep -q "log_bytes_at_start of the profile .* is 2 GiB, but this job's control group .* MiB of its limit of 256 MiB left" "$work/err" ||
  wrong "what there is is not said"
exit $failures
