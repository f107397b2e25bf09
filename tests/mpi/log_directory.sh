#!/usr/bin/env bash
# log_directory.sh MPIRUN PROGRAM: with log_directory in its profile a job keeps its logs in files without a name in that
# directory. Ranks are replaced as ever, a full disk is told in a sentence, and nothing is left. Ends with 77 where the folder
# for temporary files lies on a file system that cannot reserve room.
source "$(dirname "$0")/script.sh"
logs=$folder/logs
mkdir "$logs"

# disk_profile NAME DIRECTORY BYTES ON_UNPROTECTED
disk_profile() {
  profile "$1" "$3" 0
  sed -i "s|</rank_replacement>|<on_unprotected>$4</on_unprotected><log_directory>$2</log_directory>&|" "$folder/$1.xml"
}
# run CODE PROFILE OPTION... -- ROUNDS: the job must end with this code, and leave nothing in the directory.
run() {
  local wanted=$1 qos=$2 code=0 options=()
  shift 2
  while [ "$1" != -- ]; do options+=("$1") && shift; done
  shift
  timeout 240 "$mpirun" -n 2 --qos "$qos" "${options[@]}" "$program" "$@" >"$folder/out" 2>"$folder/messages" || code=$?
  [ "$code" -eq "$wanted" ] || fail "code $code instead of $wanted with $qos"
  [ -z "$(ls -A "$logs")" ] || fail "left in the directory: $(ls -A "$logs")"
}
# says TEXT: mpirun has said this once.
says() {
  [ "$(grep -cF -- "$1" "$folder/messages")" = 1 ] || fail "not said once: $1"
}
# answers RUN: the answer is that of a job under the default profile.
answers() {
  [ "$(cat "$folder/out")" = "$answer" ] || fail "another answer than $answer $1"
}

run 0 default -- 200
answer=$(cat "$folder/out")

disk_profile disk "$logs" '1 GiB' CONTINUE
run 0 "$folder/disk.xml" -- 200
if grep -q 'cannot reserve room for a file' "$folder/messages"; then
  echo "SKIPPED: mpi.log_directory: $(cat "$folder/messages")"
  exit 77
fi
answers 'with the logs on a disk'
run 0 "$folder/disk.xml" --inject 'kill rank 1 in MPI_Sendrecv 120' --inject 'kill rank 0 in MPI_Sendrecv 160' -- 200
answers 'after two deaths'
[ "$(grep -c 'replaced as incarnation 2' "$folder/messages")" = 2 ] || fail 'two ranks were to be replaced'
run 0 "$folder/disk.xml" --launcher fork --host localhost:1,other:1 --inject 'kill rank 1 in MPI_Sendrecv 120' -- 200
answers 'on two nodes, after a death'
grep -q 'replaced as incarnation 2' "$folder/messages" || fail 'nobody was replaced on two nodes'

# What log_bytes_per_node leaves of the disk is used up.
disk_profile little "$logs" '8 MiB' CONTINUE
run 0 "$folder/little.xml" -- 200
answers 'when log_bytes_per_node is used up'
says '(8 MiB) is used up: the job goes on'
disk_profile stopping "$logs" '8 MiB' STOP
run 123 "$folder/stopping.xml" -- 200
says '(8 MiB) is used up: the job is ended'

# Directories that are none.
disk_profile relative logs '1 GiB' CONTINUE
run 125 "$folder/relative.xml" -- 1
says "log_directory is 'logs'; it must be an absolute path"
disk_profile missing "$folder/missing" '1 GiB' CONTINUE
run 125 "$folder/missing.xml" -- 1
says "the directory $folder/missing (log_directory) does not exist"
run 125 "$folder/missing.xml" --launcher fork --host localhost:1,other:1 -- 1
grep -q "the node '.*': the directory $folder/missing (log_directory) does not exist" "$folder/messages" ||
  fail 'the node is not named'
disk_profile file "$folder/disk.xml" '1 GiB' CONTINUE
run 125 "$folder/file.xml" -- 1
says "$folder/disk.xml (log_directory) is not a directory"
disk_profile proc /proc '1 GiB' CONTINUE
run 125 "$folder/proc.xml" -- 1
says "no file can be made in /proc (log_directory)"
sed 's/TRANSIENT_LOCAL/VOLATILE/g; s|<kind>REBUILD</kind>||' "$folder/disk.xml" >"$folder/volatile.xml"
run 125 "$folder/volatile.xml" -- 1
says "log_directory is '$logs', and the profile keeps no logs"

# A directory in memory is told.
if [ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] && [ -w /dev/shm ]; then
  disk_profile memory /dev/shm '1 GiB' CONTINUE
  run 0 "$folder/memory.xml" -- 200
  answers 'with the logs in a tmpfs'
  says 'lies in memory (tmpfs), so the logs take memory there'
fi

# A small file system that becomes full in the middle.
small=$folder/small
mkdir "$small"
spaces=(unshare --mount)
"${spaces[@]}" true 2>/dev/null || spaces=(unshare --user --map-root-user --mount)
if "${spaces[@]}" mount -t tmpfs -o size=24m small "$small" 2>/dev/null; then
  outer=$mpirun
  printf '#!/bin/sh\nmount -t tmpfs -o size=24m small "%s" && exec "%s" "$@"\n' "$small" "$outer" >"$folder/within"
  printf '#!/bin/sh\nexec %s "%s" "$@"\n' "${spaces[*]}" "$folder/within" >"$folder/mpirun"
  chmod +x "$folder/within" "$folder/mpirun"
  mpirun=$folder/mpirun
  disk_profile full "$small" '1 GiB' CONTINUE
  # What is reserved may suffice for the rest of the job, or not.
  code=0
  timeout 240 "$mpirun" -n 2 --qos "$folder/full.xml" "$program" 200 >"$folder/out" 2>"$folder/messages" || code=$?
  says "no room is left in $small (log_directory): the job goes on"
  if [ "$code" -ne 0 ]; then
    says 'there is no memory for messages: no room is left in the directory of the logs (log_directory)'
  else
    answers 'on a full disk'
  fi
  disk_profile ending "$small" '1 GiB' STOP
  run 123 "$folder/ending.xml" -- 200
  says "no room is left in $small (log_directory): the job is ended"
  printf '#!/bin/sh\nmount -t tmpfs -o size=12m small "%s" && exec "%s" "$@"\n' "$small" "$outer" >"$folder/within"
  run 125 "$folder/full.xml" -- 200
  says "no room is left in $small (log_directory)"
else
  echo 'SKIPPED: a full file system: this user may not mount one'
fi
exit "$failed"
