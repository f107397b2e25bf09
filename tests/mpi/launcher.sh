#!/bin/bash
# What mpirun promises to the shell: launcher.sh MPIRUN PROGRAM [profile], where PROGRAM is exit_program.
set -u
mpirun=$1
program=$2
profile=(${3:+--qos "$3"})
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0

wrong() {
  echo "WRONG: $*"
  sed 's/^/    /' "$work/out" "$work/err" 2>/dev/null | head -30
  failures=$((failures + 1))
}

# run CODE arguments...: mpirun must end with this code.
run() {
  local expected=$1 code
  shift
  timeout -s KILL 60 "$mpirun" "${profile[@]}" "$@" >"$work/out" 2>"$work/err" </dev/null
  code=$?
  [ $code = "$expected" ] || wrong "code $code, not $expected: mpirun $*"
}

says() { grep -q -e "$1" "$work/err" "$work/out" || wrong "nothing says '$1'"; }

# Processes whose command line or environment carries the mark of this run.
with_mark() {
  env -u LLAMADA_TEST_MARK grep -lzxs "LLAMADA_TEST_MARK=$LLAMADA_TEST_MARK" /proc/[0-9]*/environ | cut -d / -f 3 |
    grep -v -x -e $$ -e $BASHPID
}
export LLAMADA_TEST_MARK=launcher-$$-$RANDOM

# alive: how many processes of this test run exit_program or mpirun or the driver.
alive() {
  local pid name count=0
  for pid in $(with_mark); do
    name=$(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline")
    case $name in *launcher.sh*) ;; '') ;; *) count=$((count + 1)) ;; esac
  done
  echo $count
}

nothing_left() {
  local i
  for i in $(seq 100); do
    [ "$(alive)" = 0 ] && return
    sleep 0.1
  done
  wrong "processes are left after: $*"
}

# When a job prints a line: wait_for FILE TEXT. Remove the file before the job is started: what an earlier one printed is
# there until the shell of the new one, which a signal must not meet, has come to open it.
wait_for() {
  local i
  for i in $(seq 300); do
    grep -q "$2" "$1" 2>/dev/null && return
    sleep 0.1
  done
  wrong "'$2' did not appear"
}

run 0 -n 3 "$program" return
run 4 -n 3 "$program" return 4
run 3 -n 3 "$program" exit 3
run 1 -n 3 "$program" exit 0
run 7 -n 3 "$program" abort 7
run 0 -n 3 "$program" abort 0
says "MPI_Abort was called with code 0"
run 1 -n 3 "$program" abort 256
run 5 -n 2 "$program" exit-before-init
nothing_left "exits"

if [ ${#profile[@]} = 0 ]; then
  run 137 -n 3 "$program" raise 9
  says "rank 1"
  run 139 -n 3 "$program" raise 11
  run 143 -n 2 "$program" raise 15
  nothing_left "signals"
fi

run 0 -n 3 hostname
[ "$(sort -u "$work/out" | wc -l)" = 1 ] && [ "$(wc -l <"$work/out")" = 3 ] || wrong "hostname on 3 ranks"
run 0 -n 2 true
run 1 -n 2 false
run 9 -n 2 bash -c 'exit 9'

timeout 60 "$mpirun" "${profile[@]}" -n 2 "$work/absent" >"$work/out" 2>"$work/err"
[ $? != 0 ] || wrong "a missing program passes"
says absent
"$mpirun" -n zero true >"$work/out" 2>"$work/err" && wrong "-n zero passes"
"$mpirun" --no-such-option true >"$work/out" 2>"$work/err" && wrong "an unknown option passes"
"$mpirun" -n 2 --qos no-such-profile true >"$work/out" 2>"$work/err" && wrong "an unknown profile passes"
"$mpirun" -n 2 >"$work/out" 2>"$work/err" && wrong "no program passes"
run 0 --help
run 0 -np 2 true

printf 'a\nb\nc\n' | timeout 60 "$mpirun" "${profile[@]}" -n 3 "$program" stdin >"$work/out" 2>"$work/err" || wrong "stdin"
sort "$work/out" | diff - <(printf 'rank 0 read 3 lines\nrank 1 read 0 lines\nrank 2 read 0 lines\n') >/dev/null ||
  wrong "stdin goes to rank 0 alone"

# A wrapper script between mpirun and the program, with a child of its own.
cat >"$work/wrapper" <<'W'
#!/bin/bash
sleep 300 &
"$@"
code=$?
kill %1
exit $code
W
chmod +x "$work/wrapper"
run 0 -n 2 "$work/wrapper" "$program" return
run 6 -n 2 "$work/wrapper" "$program" abort 6
nothing_left "wrapper scripts"

# A signal to mpirun reaches the ranks.
rm -f "$work/out"
"$mpirun" "${profile[@]}" -n 3 "$program" signal >"$work/out" 2>"$work/err" &
job=$!
wait_for "$work/out" ready
sleep 0.5
kill -USR1 $job
wait $job || wrong "SIGUSR1 is not handed on"
[ "$(grep -c 'was told' "$work/out")" = 3 ] || wrong "SIGUSR1 does not reach everybody"

# What cannot be written is not lost silently.
writes() {
  local expected=$1 to=$2
  shift 2
  timeout -s KILL 60 "$mpirun" "${profile[@]}" "$@" >"$to" 2>"$work/err" </dev/null
  local code=$?
  : >"$work/out"
  [ $code = "$expected" ] || wrong "code $code, not $expected, with output to $to: mpirun $*"
}
writes 120 /dev/full -n 2 echo hello
says "standard output cannot be written: No space left on device"
writes 120 /dev/full --version
says "standard output cannot be written"
run 120 -n 2 -outfile-pattern /dev/full echo hello
says "cannot write the output file /dev/full: No space left on device"
run 120 -n 2 --report /dev/full echo hello
says "cannot write the report /dev/full"
run 125 -n 2 --report "$work/none/report" echo hello
says "cannot write the report"
grep -q hello "$work/out" && wrong "a job ran whose report cannot be written"
timeout -s KILL 60 "$mpirun" "${profile[@]}" -n 2 echo hello 2>/dev/full >"$work/out" </dev/null || wrong "nothing was to be said"
timeout -s KILL 60 "$mpirun" "${profile[@]}" -n 2 sh -c 'echo hello >&2' 2>/dev/full >"$work/out" </dev/null
[ $? = 120 ] || wrong "standard error is lost silently"
timeout -s KILL 60 "$mpirun" "${profile[@]}" -n 2 yes 2>"$work/err" </dev/null | head -1 >"$work/out"
[ "${PIPESTATUS[0]}" = 141 ] || wrong "a closed pipe does not end the job by SIGPIPE"
[ -s "$work/err" ] && wrong "a closed pipe is said to be an error"
writes 0 "$work/behind" -n 2 --report /dev/stdout echo hello
[ "$(grep -c hello "$work/behind")" = 2 ] || wrong "--report /dev/stdout empties the file"
grep -q '"exit_code": 0' "$work/behind" || wrong "--report /dev/stdout writes no report"

# What is wrong is said before the job starts.
run 127 -n 2 ''
says "the name of the program is empty"
mkdir "$work/removed"
(
  cd "$work/removed" && rmdir "$work/removed"
  run 125 -n 2 "$program" return
  says "the working directory of mpirun no longer exists"
  run 0 -n 2 -wdir / "$program" return
  exit $failures
) || failures=$((failures + 1))
run 125 -n 2 --inject 'kill rank 1 in MPI_Nonsense' echo hello
says "MPI has no function 'MPI_Nonsense'"
run 125 -n 2 -hostfile /dev/zero echo hello
says "'/dev/zero' is a device"
run 125 -configfile /dev/zero
says "'/dev/zero' is a device"
run 0 -n 2 -hostfile <(echo localhost) echo hello
run 125 -n 2 -hostfile <(yes) echo hello
says "is longer than 4 MiB"
run 125 -n 2 -hostfile "$work" echo hello
says "is a folder"

# A program that closes what is not its own is told so.
run 1 -n 2 "$program" close-all
says "the program has closed file descriptor [0-9]*, over which the other ranks and llamanetd reach this rank"

# As a shell does it.
echo 'echo no shebang $1' >"$work/plain"
chmod +x "$work/plain"
run 0 -n 2 "$work/plain" here
says "no shebang here"
run 0 -n 1 "$work/plain" one : -n 1 "$work/plain" two
says "no shebang two"

# Whatever ends mpirun, nothing is left.
# A shell starts its background jobs with SIGINT ignored, and nohup ignores SIGHUP, which mpirun rightly keeps.
for signal in INT TERM HUP KILL; do
  rm -f "$work/out"
  env --default-signal=INT,HUP "$mpirun" "${profile[@]}" -n 3 "$work/wrapper" "$program" sleep >"$work/out" 2>"$work/err" &
  job=$!
  wait_for "$work/out" asleep
  kill -$signal $job
  wait $job 2>/dev/null
  [ $? != 0 ] || wrong "mpirun ends with 0 after SIG$signal"
  nothing_left "SIG$signal to mpirun"
done

[ $failures = 0 ] && echo "ok launcher"
exit $failures
