#!/usr/bin/env bash
# unprotected.sh MPIRUN PROGRAM: what no record can answer works, and ends the protection of the job with one sentence. A
# command that is interrupted by its rank's death ends the job, and is not run again.
source "$(dirname "$0")/script.sh"

cd "$folder" || exit 1
# run CODE ARGUMENT...: the program, in an empty folder, ends with this code.
run() {
  local expected=$1 code=0
  shift
  rm -rf "$folder/work"
  mkdir "$folder/work"
  timeout 60 "$mpirun" -wdir "$folder/work" -n 2 --qos fault-tolerant "$program" "$@" >"$folder/out" 2>"$folder/messages" </dev/null ||
    code=$?
  [ "$code" -eq "$expected" ] || fail "code $code, not $expected: $*"
}
said() { [ "$(grep -c -F -e "$1" "$folder/messages")" -eq 1 ] || fail "'$1' was not said once"; }

"$program" list >"$folder/rows"
[ "$(wc -l <"$folder/rows")" -gt 40 ] || fail 'there are no rows'
while IFS=$'\t' read -r row words; do
  run 0 "$row" 3<&-
  [ "$(cat "$folder/out")" = 'ok unprotected' ] || fail "$row: no output"
  said "$words"
  said 'a rank that dies from now on cannot be replaced'
done <"$folder/rows"

# What is not one of them leaves the protection.
for row in none connect-in-vain; do
  run 0 $row
  [ -s "$folder/messages" ] && fail "something was said of a job that leaves nothing behind: $row"
done

for row in killed-in-system killed-in-popen; do
  run 123 "$row"
  said 'rank 1 cannot be replaced: it died while a command ran'
  [ "$(cat "$folder/work/began")" = once ] || fail "$row: the command was run again"
done
exit "$failed"
