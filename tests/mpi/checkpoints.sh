#!/usr/bin/env bash
# checkpoints.sh MPIRUN PROGRAM PART SEED: ranks are killed while a job takes checkpoints. Each run ends with code 0, its output
# once and in files as on standard output, and leaves nothing. PROGRAM is tests/mpi/checkpointed. PART is
#   steps   a kill at each step of a checkpoint, of the way back to one, and of the giving back of logs
#   random  kills at random moments, on one node and on two
#   refused checkpoints that cannot be taken
#   standby a copy of a rank that was parked before the first checkpoint is of no use behind it
set -u
mpirun=$1 program=$2 part=$3
RANDOM=$4
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LLAMADA_STORE=$work/store
printf '#!/bin/sh\nshift\nexec setsid -w "$@"\n' >"$work/agent" && chmod +x "$work/agent"
nodes=(--launcher-exec "$work/agent" -H localhost:2,b:1)
failures=0
wrong() {
  echo "WRONG: $*"
  tail -n 8 "$work/err" | sed 's/^/    /'
  failures=$((failures + 1))
}
digest_of() { python3 "${0%/*}/digest.py" "$1"; }
deaths=0 restarts=0
# run STEPS EVERY OPTION...: the program under these options; it must end right.
run() {
  local steps=$1 every=$2 code=0
  shift 2
  rm -f "$work/appended"
  timeout -s KILL 120 "$mpirun" -n 3 "$@" "$program" "$steps" 200 "$every" "$work/appended" >"$work/out" 2>"$work/err" </dev/null ||
    code=$?
  [ $code = 0 ] || wrong "$*: code $code"
  [ "$(digest_of "$work/out")" = "True $((2 * steps + 3))" ] || wrong "$*: output: $(digest_of "$work/out")"
  head -n -1 "$work/out" | cmp -s - "$work/appended" || wrong "$*: the appended file differs"
  [ -z "$(ls -A "$LLAMADA_STORE" 2>/dev/null)" ] || wrong "$*: left: $(ls "$LLAMADA_STORE")"
  deaths=$((deaths + $(grep -c 'done *replaced as incarnation' "$work/err")))
  restarts=$((restarts + $(grep -c 'restarted 1' "$work/err")))
}

case $part in
  steps)
    for step in begun opened region-written written agreed kept passed left all-passed log-given-back \
      records-given-back; do
      for rank in 0 1; do
        for count in 1 3; do
          before=$deaths
          run 12 3 --qos fault-tolerant --inject "kill rank $rank at step checkpoint:$step:$count"
          [ $deaths = $((before + 1)) ] || wrong "checkpoint:$step:$count: no death"
        done
      done
      # A death before, so that it is a replacement that dies there.
      run 12 3 --qos fault-tolerant --inject "kill rank 1 in MPI_Allreduce 8" \
        --inject "kill rank 1 at step checkpoint:$step:1 of incarnation 2"
      run 12 3 --qos persistent --inject "kill rank 2 at step checkpoint:$step:2"
      run 12 3 "${nodes[@]}" --qos fault-tolerant --inject "kill rank 2 at step checkpoint:$step:2"
    done
    for count in 1 2; do
      run 12 3 --qos fault-tolerant --inject "kill rank 1 in MPI_Allreduce 8" \
        --inject "kill rank 1 at step checkpoint:restored:$count of incarnation 2"
      run 12 3 "${nodes[@]}" --qos fault-tolerant --inject "kill rank 0 in MPI_Allreduce 8" \
        --inject "kill rank 0 at step checkpoint:left:$count of incarnation 2" --inject "kill rank 2 in MPI_Allreduce 8"
    done
    ;;
  random)
    for round in 1 2 3; do
      seed=$RANDOM
      run 40 4 --qos fault-tolerant --inject "kill any every ~90 ms 8 times seed $seed"
      run 40 4 --qos persistent --inject "kill any every ~90 ms 8 times seed $seed"
      run 40 4 "${nodes[@]}" --qos fault-tolerant --inject "kill any every ~90 ms 8 times seed $seed"
      run 40 4 "${nodes[@]}" --qos node-fault-tolerant --inject "kill node b after 0.$((RANDOM % 60 + 10)) s"
    done
    [ $restarts -gt 0 ] || wrong "no process went on from a checkpoint"
    ;;
  refused)
    # The directory cannot be made.
    echo >"$work/file"
    LLAMADA_STORE=$work/file timeout -s KILL 60 "$mpirun" -n 2 --qos fault-tolerant "$program" 4 200 2 "$work/appended" >"$work/out" 2>"$work/err"
    code=$?
    [ $code = 1 ] || wrong "no directory: code $code"
    grep -q 'checkpoints cannot be written: ' "$work/err" || wrong "nothing says that there is no directory"
    grep -q 'checkpoint 1 is not taken: ' "$work/err" || wrong "nothing says that it is not taken"
    ;;
  standby)
    cat >"$work/profile.xml" <<END
<dds><qos_library name="test"><qos_profile name="run" base_name="llamada::fault_tolerant">
<rank_replacement><standby_interval>0.1</standby_interval></rank_replacement></qos_profile></qos_library></dds>
END
    timeout -s KILL 120 "$mpirun" -n 3 -v --qos "$work/profile.xml" --inject "kill rank 1 in MPI_Allreduce 480" \
      --report "$work/report" "$program" 600 3000 20 "$work/appended" 400 >"$work/out" 2>"$work/err" </dev/null
    code=$?
    [ $code = 0 ] || wrong "standby: code $code"
    [ "$(digest_of "$work/out")" = "True 1203" ] || wrong "standby: output: $(digest_of "$work/out")"
    grep -q 'rank 1 .*goes on from a checkpoint' "$work/err" || wrong "standby: it has not gone on from a checkpoint"
    python3 -c 'import json, sys; sys.exit(json.load(open(sys.argv[1]))["totals"]["standbys_made"] == 0)' "$work/report" ||
      wrong "standby: none was made"
    ;;
esac
echo "$part: $deaths deaths, $restarts restarts"
exit $((failures > 0))
