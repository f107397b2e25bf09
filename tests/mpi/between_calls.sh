#!/usr/bin/env bash
# between_calls.sh MPIRUN PROGRAM: a rank that dies between two calls is replaced, although its replacement prints what it did not
# come to.
. "$(dirname "$0")/script.sh"
export LLAMADA_STORE=$folder/store
printf '<dds><qos_library name="test"><qos_profile name="standby" base_name="llamada::fault_tolerant"><rank_replacement>
  <standby_interval>0.001</standby_interval><max_replacements_per_rank>20</max_replacements_per_rank></rank_replacement>
  </qos_profile></qos_library></dds>' >"$folder/standby.xml"

# run WAY PROFILE PLACES DEATHS
run() {
  local code=0 expected
  timeout -s KILL 100 "$mpirun" -v -n 1 --qos "$2" "$program" "$folder/$(basename "$2").$1" "$1" >"$folder/out" \
    2>"$folder/messages" </dev/null || code=$?
  expected=$(for ((place = 1; place <= $3; place++)); do echo "place $place has a time"; done)
  [ "$code" = 0 ] || fail "$*: code $code"
  [ "$(cat "$folder/out")" = "$expected" ] || fail "$*: another output"
  [ "$(grep -c 'done *replaced as incarnation' "$folder/messages")" = "$4" ] || fail "$*: not $4 replacements"
}

for profile in fault-tolerant node-fault-tolerant; do
  run plain "$profile" 2 2
  run checkpoint "$profile" 2 2
done
run standby "$folder/standby.xml" 40 10
[ "$(grep -c 'goes on from its standby of ' "$folder/messages")" -ge 5 ] || fail 'standby: hardly a copy went on'
exit "$failed"
