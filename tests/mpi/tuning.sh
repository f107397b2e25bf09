#!/usr/bin/env bash
# tuning.sh MPIRUN PROGRAM: each setting changes something, by mpirun --set and by a PROPERTY; a wrong one is one sentence.
source "$(dirname "$0")/script.sh"

# measured MEASURE OPTION...: the number that the program prints.
measured() {
  local what=$1 code=0
  shift
  rm -f "$folder/go"
  timeout 120 "$mpirun" -n 3 "$@" "$program" "$what" "$folder/go" >"$folder/out" 2>"$folder/messages" || code=$?
  [ "$code" -eq 0 ] || fail "code $code: $what $*" >&2
  cat "$folder/out"
}

# less MEASURE SETTING OTHER_SETTING [COMMON_SETTING]: the measure under the first is less than under the other. Others on
# the machine may change it: a rank whose yields give its processor to them sleeps sooner.
less() {
  local what=$1 first second attempt common=()
  [ $# -lt 4 ] || common=(--set "$4")
  for attempt in 1 2 3 4 5 6 7 8; do
    first=$(measured "$what" "${common[@]}" --set "$2")
    second=$(measured "$what" "${common[@]}" --set "$3")
    [ "$first" -lt "$second" ] && return
  done
  fail "$what is $first with $2 and $second with $3, $attempt times"
}

less bulk_small llamada_eager_bytes_max=64KiB llamada_eager_bytes_max=1KiB
less bulk_large llamada_direct_bytes_min=1 llamada_direct_bytes_min=1GiB
less sends_over llamada_log_bytes_max=512KiB llamada_log_bytes_max=4MiB
less memory llamada_bulk_piece_bytes=4KiB llamada_bulk_piece_bytes=4MiB llamada_direct_bytes_min=1GiB
less sent_by_root llamada_collective_piece_bytes=256KiB llamada_collective_piece_bytes=16KiB
less broadcasts_over llamada_collective_log_bytes_max=256KiB llamada_collective_log_bytes_max=16MiB
less taken_in llamada_receive_before_send=false llamada_receive_before_send=true
less sent_by_other llamada_collective_barrier=0 llamada_collective_barrier=1
less sleeps llamada_yields_before_sleep=1000000000 llamada_yields_before_sleep=0
less llamada_spin_rounds llamada_spin_rounds=5 llamada_spin_rounds=100

# A PROPERTY says the same, mpirun --set goes before it, and MPI_T shows what holds.
printf '<dds><qos_library name="test"><qos_profile name="tuned" base_name="llamada::default"><domainparticipant_qos>
  <property><value><element><name>llamada_eager_bytes_max</name><value>1 KiB</value></element></value></property>
  </domainparticipant_qos></qos_profile></qos_library></dds>' >"$folder/tuned.xml"
[ "$(measured llamada_eager_bytes_max --qos "$folder/tuned.xml")" -eq 1024 ] || fail 'the PROPERTY has no effect'
[ "$(measured llamada_eager_bytes_max --qos "$folder/tuned.xml" --set llamada_eager_bytes_max=2000)" -eq 2000 ] ||
  fail '--set does not go before the PROPERTY'
[ "$(measured llamada_collective_piece_bytes --set llamada_collective_piece_bytes=32KiB)" -eq 32768 ] || fail 'MPI_T shows another size'

# refused SETTING SENTENCE
refused() {
  local said code=0
  said=$("$mpirun" --set "$1" true 2>&1) || code=$?
  [ "$code" -eq 125 ] && [ "$said" = "mpirun: --set: $2" ] || {
    printf 'tuning.sh: --set %s: code %s, %s\n' "$1" "$code" "$said"
    failed=1
  }
}
refused llamada_eager_byte_max=1 "there is no setting 'llamada_eager_byte_max'; llamada qos check lists all; did you mean 'llamada_eager_bytes_max'?"
refused llamada_eager_bytes_max=lots "llamada_eager_bytes_max cannot be 'lots'; legal: 0 bytes to 128 MiB, as bytes or with KiB, MiB or GiB"
refused llamada_bulk_piece_bytes=1 "llamada_bulk_piece_bytes is 1 bytes; legal: 4 KiB to 4 MiB, as bytes or with KiB, MiB or GiB"
refused llamada_collective_barrier=2 "llamada_collective_barrier cannot be '2'; legal: true, false"
refused llamada_spin_rounds "'llamada_spin_rounds' is not NAME=VALUE"
refused llamada_eager_bytes_max=1MiB "llamada_eager_bytes_max is 1 MiB, which is more than an eighth of llamada_log_bytes_max (512 KiB); lower the one or raise the other"
exit "$failed"
