#!/usr/bin/env bash
# run.sh BUILD [CASE ...]: jobs under Debian's Slurm, on nodes that are namespaces of this machine (tests/bed).
# Node 0 has the controller, nodes 1 to 4 run jobs. `./dev slurm-tests` builds what is needed, and installs Slurm.
# Ends with 77 and "SKIPPED: reason" where namespaces are refused.
set -euo pipefail
build=$(realpath "${1:?run.sh takes a build folder}")
shift
here=$(realpath "$(dirname "$0")")
export LLAMADA_BUILD=$build
nodes=$here/../support/nodes
work=$(mktemp -d) || exit 1
trap 'status=$?; "$nodes" down >/dev/null 2>&1 || true; rm -rf "$work"; exit $status' EXIT

# ---- the cluster

# A node as Slurm wants to see one: its name, and somewhere for control groups, of which it uses none here.
in_node() { # node, command
  local node=$1
  shift
  "$nodes" exec "$node" unshare --mount --uts /bin/sh -c \
    "hostname node$node && mount -t tmpfs none /sys/fs/cgroup && exec \"\$@\"" in_node "$@"
}

write_configuration() {
  mkdir -p "$work/state" "$work"/spool-node{1,2,3,4} "$work/log"
  head -c 1024 /dev/urandom >"$work/munge.key"
  chmod 600 "$work/munge.key"
  printf 'CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n' >"$work/cgroup.conf"
  cat >"$work/slurm.conf" <<CONF
ClusterName=bed
SlurmctldHost=node0(10.77.0.1)
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool-%n
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd-%n.pid
SlurmctldLogFile=$work/log/slurmctld
SlurmdLogFile=$work/log/slurmd-%n
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmdTimeout=10
KillWait=5
SlurmdParameters=config_overrides
MpiDefault=none
NodeName=node[1-4] NodeAddr=10.77.0.[2-5] CPUs=4 State=UNKNOWN
PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE OverTimeLimit=0 State=UP
CONF
  export SLURM_CONF=$work/slurm.conf
}

start_cluster() {
  local status=0
  LLAMADA_BED=$("$nodes" up 5 --owner $$) || status=$?
  [ "$status" -eq 0 ] || { echo "$LLAMADA_BED"; exit "$status"; }
  export LLAMADA_BED
  write_configuration
  in_node 0 munged --foreground --force --key-file="$work/munge.key" --socket="$work/munge.socket" \
    --pid-file="$work/munged.pid" --seed-file="$work/munge.seed" >"$work/log/munged" 2>&1 &
  wait_for 20 test -S "$work/munge.socket"
  in_node 0 slurmctld -D -i >"$work/log/controller" 2>&1 &
  for node in 1 2 3 4; do in_node $node slurmd -D -N node$node >"$work/log/node$node" 2>&1 & done
  wait_for 60 all_idle
}
all_idle() { [ "$(in_node 0 sinfo -h -t idle -o %D 2>/dev/null)" = 4 ]; }

# ---- what cases say

wait_for() { # seconds, command
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ $SECONDS -lt $end ] || { fail "after the time for it there is not: $*"; return 1; }
    sleep 0.2
  done
}
fail() {
  echo "run.sh: case $name: $*" >&2
  [ ! -e "$work/out" ] || sed 's/^/  out: /' "$work/out" >&2
  failed=1
}
expect() { # a regular expression that a line of the output matches
  grep -Eq -- "$1" "$work/out" || fail "there is no line '$1'"
}
# Submits a script of which the rest of the arguments are the last lines.
submit() { # options of sbatch, --, lines
  local options=()
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  shift
  { echo '#!/bin/sh'; printf '%s\n' "$@"; } >"$work/job.sh"
  : >"$work/out"
  job=$(in_node 0 sbatch --parsable --output="$work/out" "${options[@]}" "$work/job.sh")
}
runs() { "$nodes" exec "$1" pgrep -x "$2" >/dev/null; } # node, program
is_over() { [ -z "$(in_node 0 squeue -h -j "$job" 2>/dev/null)" ]; }
has_line() { grep -Eq -- "$1" "$work/out"; }
# No process of ours is left on any node: each sees its own ones only.
nothing_is_left() {
  local node program
  for node in 1 2 3 4; do
    for program in llamanetd mpirun heat sleep stopped; do runs $node $program && return 1; done
  done
  return 0
}
ends_clean() { # seconds
  wait_for "$1" is_over
  wait_for 5 nothing_is_left
}

# ---- cases

mpirun=$build/bin/mpirun
heat="$build/samples/heat -n 96 -s 400 -o ''"
stopped=$build/tests/system/stopped
sleeper="sh -c 'echo up; exec sleep 1000'"

case_sbatch() { # the nodes, the tasks and the way to start them are Slurm's, and the answer is that of one node
  eval "$mpirun -n 6 $heat" >"$work/alone"
  submit -N3 -n6 -- "$mpirun $heat"
  ends_clean 60
  cmp <(grep ^heat: "$work/alone") <(grep ^heat: "$work/out") || fail "the answer is not that of one node"
}
case_placement() {
  submit -N3 --ntasks-per-node=2 -- "$mpirun -l sh -c 'echo on \$(hostname)'" 'echo code $?'
  ends_clean 60
  expect '^\[0@node1\] on node1$'
  expect '^\[5@node3\] on node3$'
  expect '^code 0$'
}
case_salloc() { # the shell of salloc runs where salloc was called: on node 0, which has no ranks
  in_node 0 salloc -Q -N2 -n4 "$mpirun" -l hostname >"$work/out" 2>&1 || fail "salloc ended with $?"
  expect '^\[0@node1\] node1$'
  expect '^\[3@node2\] node2$'
  wait_for 5 nothing_is_left
}
case_srun() { # srun itself starts the ranks: the answer is that of mpirun, and two jobs of a script follow each other
  eval "$mpirun -n 4 $heat" >"$work/alone"
  submit -N2 -n4 -- "srun --mpi=pmi2 -N2 -n4 $heat" 'echo code $?' "srun --mpi=pmi2 -N1 -n2 $heat" 'echo code $?'
  ends_clean 60
  sed '/^code/q' "$work/out" >"$work/first"
  cmp <(grep ^heat: "$work/alone") <(grep ^heat: "$work/first") || fail "the answer is not that of mpirun"
  [ "$(grep -c '^code 0$' "$work/out")" = 2 ] || fail "srun ended with an error"
  ! grep -Eq 'llamada|mpirun' "$work/out" || fail "something was said"
}
case_srun_without_pmi() {
  submit -N2 -n2 -- "srun --mpi=none $heat" 'echo code $?'
  ends_clean 60
  expect 'srun --mpi=pmi2'
  expect '^code 1$'
}
srun_up='srun --mpi=pmi2 -N2 -n4 -l'
case_srun_rank_killed() {
  submit -N2 -n4 -- "$srun_up $stopped $work/never end" 'echo code $?'
  wait_for 30 has_line '^3: 3 [0-9]+$'
  "$nodes" exec 2 kill -KILL "$(sed -n 's/^3: 3 //p' "$work/out")"
  ends_clean 20
  expect 'mpirun: rank 3 of 4 died'
  expect '  host +node2$'
  expect '^code 13[79]|^code 143'
}
case_srun_scancel() {
  submit -N2 -n4 -- "$srun_up $stopped $work/never end"
  wait_for 30 has_line '^3: 3 [0-9]+$'
  in_node 0 scancel "$job"
  ends_clean 20
}
case_srun_stepd_killed() { # what starts the ranks of a node and reads what they write
  submit -N2 -n4 -- "$srun_up $stopped $work/never end" 'echo code $?'
  wait_for 30 has_line '^3: 3 [0-9]+$'
  "$nodes" exec 2 pkill -KILL -x slurmstepd
  wait_for 5 nothing_is_left
  in_node 0 scancel "$job"
  wait_for 60 is_over
}
case_array() {
  submit --array=1-3 --open-mode=append -N1 -n2 -- \
    "$mpirun sh -c 'echo task \$SLURM_ARRAY_TASK_ID rank \$LLAMADA_RANK of \$LLAMADA_SIZE'"
  ends_clean 60
  for task in 1 2 3; do expect "^task $task rank 1 of 2\$"; done
}
case_rank_killed() {
  submit -N2 -n2 -- "$mpirun $sleeper" 'echo code $?'
  wait_for 30 has_line '^up$'
  wait_for 30 "$nodes" exec 2 pkill -KILL -x sleep
  ends_clean 20
  expect '^mpirun: rank 1 of 2 died'
  expect '^  host +node2$'
  expect '^code 137$'
}
case_agent_killed() {
  submit -N2 -n2 -- "$mpirun $sleeper" 'echo code $?'
  wait_for 30 runs 2 sleep
  "$nodes" exec 1 pkill -KILL -x srun
  ends_clean 20
  expect "the node 'node2' is lost"
  expect '^code 125$'
}
case_mpirun_killed() {
  submit -N3 -n3 -- "$mpirun $sleeper" 'echo code $?'
  wait_for 30 runs 3 sleep
  "$nodes" exec 1 pkill -KILL -x mpirun
  ends_clean 20
  expect '^code 137$'
}
case_scancel() {
  submit -N2 -n2 -- "$mpirun $sleeper"
  wait_for 30 runs 2 sleep
  in_node 0 scancel "$job"
  ends_clean 20
}
case_time_limit() { # Slurm sends SIGTERM to the script's mpirun before the end, which hands it on
  submit -N2 -n2 --signal=TERM@30 --time=1 -- \
    "exec $mpirun sh -c 'trap \"echo rank \$LLAMADA_RANK ends; exit 0\" TERM; echo up; while :; do sleep 0.1; done'"
  wait_for 30 has_line '^up$'
  in_node 0 scancel --batch --signal=TERM "$job"
  ends_clean 20
  expect '^rank 0 ends$'
  expect '^rank 1 ends$'
}
case_node_lost() { # the last case, since the node stays away: Slurm lets the job go on, and so does mpirun, with a spare host
  local long=${heat/-s 400/-s 20000}
  eval "$mpirun -n 6 $long" >"$work/alone"
  submit -N4 --ntasks-per-node=2 --no-kill -- \
    "$mpirun -n 6 --spares 1 --qos node-fault-tolerant $long" 'echo code $?'
  wait_for 30 runs 2 heat
  sleep 1
  "$nodes" kill 2
  wait_for 120 has_line '^code 0$'
  expect "the node 'node2' is lost"
  expect 'all ranks have caught up'
  cmp <(grep ^heat: "$work/alone") <(grep ^heat: "$work/out") || fail "the answer is not that of one node"
  wait_for 60 is_over
}

all=(case_sbatch case_placement case_salloc case_srun case_srun_without_pmi case_srun_rank_killed case_srun_scancel
  case_srun_stepd_killed case_array case_rank_killed case_agent_killed case_mpirun_killed
  case_scancel case_time_limit case_node_lost)
[ $# -gt 0 ] || set -- "${all[@]#case_}"
any_failed=0
name=cluster failed=0
start_cluster
for name in "$@"; do
  failed=0
  [[ " ${all[*]} " == *" case_$name "* ]] || { echo "run.sh: there is no case '$name': ${all[*]#case_}" >&2; exit 2; }
  "case_$name" || failed=1
  [ "$failed" -eq 0 ] && echo "passed: $name" || { echo "FAILED: $name"; any_failed=1; }
done
exit "$any_failed"
