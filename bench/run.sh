#!/bin/bash
# bench/run.sh BUILD [ROUNDS]: what the fault-tolerant profile costs when nothing fails, beside the default profile, the
# machine's limit and the other MPIs that are installed. Each round runs everything once, in turn, so that what else the
# machine does falls on all alike; the table has the medians of the rounds.
set -u
build=${1:?usage: bench/run.sh BUILD [ROUNDS]}
rounds=${2:-7}
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mpirun=$build/bin/mpirun
cores=$(nproc)
ranks=$((cores < 2 ? 2 : cores > 4 ? 4 : cores))

say() { echo "bench: $*" >&2; }
[ -x "$mpirun" ] || { say "there is no $mpirun: build first"; exit 1; }

# The same sources for each other MPI.
compile() { # compiler, folder
  local name
  mkdir -p "$2"
  for name in pingpong message_rate; do "$1" -O2 -w -o "$2/$name" "$here/$name.c" || return 1; done
  "$1" -O2 -w -o "$2/heat" "$root/samples/heat/heat.c" -lpng -lm &&
    "$1" -O2 -w -o "$2/matmul" "$root/samples/matmul/matmul.c" && "$1" -O2 -w -o "$2/farm" "$root/samples/farm/farm.c"
}
configurations="default fault-tolerant"
for other in mpich openmpi; do
  command -v mpicc.$other >/dev/null || continue
  if compile mpicc.$other "$work/$other"; then configurations+=" $other"; else say "mpicc.$other does not compile our programs"; fi
done

launch() { # configuration, ranks, program, arguments...
  local configuration=$1 count=$2 program=$3
  shift 3
  case $configuration in
    mpich) timeout 300 mpiexec.mpich -n "$count" "$work/mpich/$program" "$@" ;;
    openmpi)
      OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        timeout 300 mpiexec.openmpi --oversubscribe -n "$count" "$work/openmpi/$program" "$@" ;;
    *)
      local folder=bench
      case $program in heat | matmul | farm) folder=samples ;; esac
      timeout 300 "$mpirun" -n "$count" --qos "$configuration" "$build/$folder/$program" "$@" ;;
  esac 2>>"$work/errors"
}

# One line of raw figures: "figure configuration value".
timed() { # configuration, figure, program, arguments...
  local configuration=$1 figure=$2 start end
  shift 2
  start=$(date +%s%N)
  if launch "$configuration" "$ranks" "$@" >/dev/null; then
    end=$(date +%s%N)
    echo "$figure $configuration $(((end - start) / 1000))" | awk '{printf "%s %s %.6f\n", $1, $2, $3 / 1e6}'
  else
    say "$1 fails under $configuration"
  fi
}

one_round() {
  local configuration
  "$build/bench/machine" | sed 's/^\([a-z_]*\) /\1 machine /'
  for configuration in $configurations; do
    launch "$configuration" 2 pingpong | awk -v c="$configuration" '{print "pingpong_" $1, c, $2}'
    launch "$configuration" 2 message_rate | awk -v c="$configuration" '{print "message_rate", c, $1}'
    timed "$configuration" heat heat -n 384 -s 2000 -o ''
    timed "$configuration" matmul matmul -n 256 -r 60
    timed "$configuration" farm farm -t 2000
  done
}

for round in $(seq "$rounds"); do
  say "round $round of $rounds"
  one_round >>"$work/figures"
done
[ -s "$work/errors" ] && sed 's/^/    /' "$work/errors" | grep -v '^    farm: the order' | sort | uniq -c | sort -rn | head -5 >&2

awk -v configurations="$configurations" -v cores="$cores" -v rounds="$rounds" -v ranks="$ranks" '
  function median(key,   n, i, j, t, v) {
    n = split(values[key], v, " ")
    if (n == 0) return ""
    for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j] + 0 < v[j - 1] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
    return v[int((n + 1) / 2)]
  }
  function show(figure, title, unit,   i, line, ours, ft) {
    line = "| " title " | " unit " |"
    for (i = 1; i <= count; i++) line = line " " shown(median(figure " " name[i])) " |"
    ours = median(figure " default"); ft = median(figure " fault-tolerant")
    print line " " (ours != "" && ft != "" && ours > 0 ? sprintf("%.2f", ft / ours) : "-") " |"
  }
  function shown(value) { return value == "" ? "-" : sprintf("%.3f", value) }
  $1 == "huge_pages" { huge = $3; next }
  { values[$1 " " $2] = values[$1 " " $2] " " $3 }
  END {
    count = split(configurations, name, " ")
    printf "Machine: %d cores; one cache line there and one back takes 2 x %s ns; huge pages for shared memory: %s.\n", cores,
           median("line_ns machine") == "" ? "(unknown)" : median("line_ns machine"), huge == "yes" ? "granted" : "not granted"
    printf "Medians of %d interleaved rounds; ping-pong and message rate on 2 ranks, samples on %d.\n\n", rounds, ranks
    head = "| what | unit |"; rule = "| --- | --- |"
    for (i = 1; i <= count; i++) { head = head " " name[i] " |"; rule = rule " ---: |" }
    print head " fault-tolerant / default |"; print rule " ---: |"
    split("0 8 64 1024 8192 65536 1048576 4194304", size, " ")
    for (i = 1; i <= 8; i++) show("pingpong_" size[i], "ping-pong " size[i] " B, half a round trip", "us")
    show("message_rate", "message rate, 8 B", "M/s")
    show("heat", "heat", "s"); show("matmul", "matmul", "s"); show("farm", "farm", "s")
  }' "$work/figures"
"$here/topics.sh" "$build" "$rounds"
