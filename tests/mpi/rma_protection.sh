#!/usr/bin/env bash
# rma_protection.sh MPIRUN PROGRAM: what becomes of a job with windows when ranks are to be replaced, and of one whose rank
# is killed while it holds a lock that others wait for.
source "$(dirname "$0")/script.sh"

# run CODE OPTION...: the job must end with this code, soon, and leave no process.
run() {
  local wanted=$1 code=0 mark=rma-protection-$$-$RANDOM
  shift
  RMA_MARK=$mark timeout 120 "$mpirun" -n 3 "$@" "$program" >"$folder/out" 2>"$folder/messages" || code=$?
  [ "$code" -eq "$wanted" ] || fail "code $code instead of $wanted with: $*"
  local left
  left=$(grep -lzxs "RMA_MARK=$mark" /proc/[0-9]*/environ)
  [ -z "$left" ] || fail "left behind: $left"
}

# said COUNT TEXT: so many lines of mpirun's have this text.
said() {
  local count
  count=$(grep -c -- "$2" "$folder/messages")
  [ "$count" -eq "$1" ] || fail "$count times instead of $1: $2"
}

cat >"$folder/stop.xml" <<'XML'
<dds>
  <qos_library name="test">
    <qos_profile name="stop">
      <datawriter_qos>
        <reliability><kind>RELIABLE_RELIABILITY_QOS</kind></reliability>
        <durability><kind>TRANSIENT_LOCAL_DURABILITY_QOS</kind></durability>
        <history><kind>KEEP_ALL_HISTORY_QOS</kind></history>
      </datawriter_qos>
      <datareader_qos>
        <reliability><kind>RELIABLE_RELIABILITY_QOS</kind></reliability>
        <durability><kind>TRANSIENT_LOCAL_DURABILITY_QOS</kind></durability>
        <history><kind>KEEP_ALL_HISTORY_QOS</kind></history>
      </datareader_qos>
      <rank_replacement><kind>REBUILD</kind><on_unprotected>STOP</on_unprotected></rank_replacement>
    </qos_profile>
  </qos_library>
</dds>
XML

# Without a death the job goes on without protection, or not at all.
run 0 --qos fault-tolerant
said 1 'MPI_Win_allocate, its MPI call .*: one-sided communication cannot be repeated by a replacement: the job goes on'
run 123 --qos "$folder/stop.xml"
said 1 'MPI_Win_allocate, its MPI call .*: one-sided communication .* on_unprotected is STOP'

# Before the first window a rank is replaced; afterwards the job ends, and says why.
run 0 --qos fault-tolerant --inject 'kill rank 1 in MPI_Allreduce'
said 1 'is live again'
run 137 --qos fault-tolerant --inject 'kill rank 1 in MPI_Put 3'
said 1 'rank 1 of 3 died'
said 1 'because a replacement could not repeat what the rank has done'
said 0 'is live again'

# A lock that is never given back holds nobody for ever.
run 137 --inject 'kill rank 1 in MPI_Put 3'
said 1 'rank 1 of 3 died'
run 137 --inject 'kill rank 0 in MPI_Win_unlock'
said 1 'rank 0 of 3 died'
run 137 --inject 'kill rank 2 in MPI_Win_free'
said 1 'rank 2 of 3 died'

# Nor does a window that others make or free.
for rule in 'rank 1 in MPI_Win_create' 'rank 0 in MPI_Win_create 3' 'rank 2 in MPI_Win_allocate 4' 'rank 1 in MPI_Win_free 2' \
            'rank 0 in MPI_Win_free 7'; do
  run 137 --inject "kill $rule"
  said 1 "${rule%% in*} of 3 died"
  run 137 --qos fault-tolerant --inject "kill $rule"
  said 1 "${rule%% in*} of 3 died"
done
exit "$failed"
