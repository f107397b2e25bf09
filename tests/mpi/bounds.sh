#!/usr/bin/env bash
# bounds.sh MPIRUN PROGRAM: SEND_WINDOW and RESOURCE_LIMITS bound how many messages a rank has under way. The program ends
# well at each bound, and with a history also when its ranks are killed.
source "$(dirname "$0")/script.sh"

# write_profile DURABILITY POLICIES: the profile of the runs that follow.
write_profile() {
  local ends="<reliability><kind>RELIABLE</kind></reliability><history><kind>KEEP_ALL</kind></history>
    <durability><kind>$1</kind></durability>"
  printf '<dds><qos_library name="test"><qos_profile name="bounds"><datawriter_qos>%s%s</datawriter_qos>
    <datareader_qos>%s</datareader_qos></qos_profile></qos_library></dds>' "$ends" "$2" "$ends" >"$folder/bounds.xml"
}

# run EARLY DEATHS OPTION...: so many sends are over while nobody takes them, and so many ranks are replaced.
run() {
  local early=$1 deaths=$2 code=0
  shift 2
  rm -f "$folder/go"
  timeout 120 "$mpirun" -n 3 --qos "$folder/bounds.xml" "$@" "$program" "$folder/go" >"$folder/out" 2>"$folder/messages" || code=$?
  [ "$code" -eq 0 ] && [ "$(cat "$folder/out")" = "early $early"$'\n'"ok bounds" ] || fail "code $code, not 'early $early', $*"
  [ "$(grep -c 'done *replaced as incarnation' "$folder/messages")" -eq "$deaths" ] || fail "not $deaths ranks were replaced"
}

window='<protocol><rtps_reliable_writer><max_send_window_size>%s</max_send_window_size></rtps_reliable_writer></protocol>'
limits='<resource_limits><max_samples>%s</max_samples><max_samples_per_instance>%s</max_samples_per_instance></resource_limits>'

for durability in VOLATILE TRANSIENT_LOCAL; do
  write_profile "$durability" ''
  run 128 0
  for size in 1 7; do
    # shellcheck disable=SC2059
    write_profile "$durability" "$(printf "$window" "$size")"
    run $((2 * size)) 0
  done
done
run 14 3 --inject 'kill rank 1 in MPI_Send 200' --inject 'kill rank 0 in MPI_Recv 150' --inject 'kill rank 2 in MPI_Send 905'
run 14 2 --inject 'kill rank 0 in MPI_Testsome 20' --inject 'kill rank 1 in MPI_Recv 30'

for size in 1 5; do
  # shellcheck disable=SC2059
  write_profile VOLATILE "$(printf "$limits" "$size" -1)"
  run "$size" 0
  # shellcheck disable=SC2059
  write_profile VOLATILE "$(printf "$limits" -1 "$size")"
  run $((2 * size)) 0
done
exit "$failed"
