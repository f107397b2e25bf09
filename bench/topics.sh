#!/bin/bash
# bench/topics.sh BUILD [ROUNDS]: samples between two processes of this node, by our topics and by the other
# middlewares that are installed: iceoryx (libiceoryx-posh-dev when we were built, and iceoryx's iox-roudi) and Cyclone
# DDS (cyclonedds-tools). Each round runs everything once, in turn; the table has the medians of the rounds, and ratios to ours.
set -u
build=${1:?usage: bench/topics.sh BUILD [ROUNDS]}
rounds=${2:-7}
work=$(mktemp -d)
roudi=
trap '[ -z "$roudi" ] || kill "$roudi" 2>/dev/null; rm -rf "$work"' EXIT

say() { echo "bench: $*" >&2; }

start_roudi() {
  [ -x "$build/bench/topics_iceoryx" ] && command -v iox-roudi >/dev/null || return 1
  iox-roudi >"$work/roudi" 2>&1 &
  roudi=$!
  local i
  for i in $(seq 100); do
    grep -q 'RouDi is ready' "$work/roudi" && return 0
    sleep 0.1
  done
  return 1
}

# "PROGRAM WAY": raw lines "latency SIZE VALUE", made into "latency_WAY SIZE middleware VALUE".
ours_or_iceoryx() {
  timeout 300 "$build/bench/topics_$1" "$2" 2>>"$work/errors" | awk -v name="$1" -v way="$2" '{print $1 "_" way, $2, name, $3}'
}

# ddsperf reports each second; the last report of a run counts.
cyclone() {
  local size other
  for size in 64 1024 65536 1000000; do
    timeout 30 ddsperf -D 3 pong >/dev/null 2>&1 &
    other=$!
    timeout 30 ddsperf -D 2 ping size "$size" 2>/dev/null |
      awk -v size="$size" '/ 50% /{for (i = 1; i < NF; i++) if ($i == "50%") value = $(i + 1) + 0} END{if (value != "") print "latency_sleep", size, "cyclone", value}'
    wait "$other"
    timeout 30 ddsperf -D 3 -k all sub >"$work/sub" 2>&1 &
    other=$!
    timeout 30 ddsperf -D 3 -k all pub size "$size" >/dev/null 2>&1
    wait "$other"
    awk -v size="$size" '/ rate /{for (i = 1; i < NF; i++) if ($i == "rate" && $(i + 3) + 0 > best) best = $(i + 3) + 0} END{if (best > 0) print "throughput_sleep", size, "cyclone", best / 8}' "$work/sub"
  done
}

others=
start_roudi && others+=" iceoryx"
command -v ddsperf >/dev/null && others+=" cyclone"
[ -n "$others" ] || say "neither iceoryx nor Cyclone DDS is installed (libiceoryx-posh-dev iceoryx cyclonedds-tools): our topics alone"
for round in $(seq "$rounds"); do
  say "topics, round $round of $rounds"
  ours_or_iceoryx llamada sleep
  case $others in *iceoryx*) ours_or_iceoryx iceoryx sleep ;; esac
  ours_or_iceoryx llamada spin
  case $others in *cyclone*) cyclone ;; esac
done >"$work/figures"
grep '^bench:' "$work/errors" | sort | uniq -c >&2

awk -v names="llamada$others" -v rounds="$rounds" '
  function median(key,   n, i, j, t, v) {
    n = split(values[key], v, " ")
    if (n == 0) return ""
    for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j] + 0 < v[j - 1] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
    return v[int((n + 1) / 2)]
  }
  function show(figure, size, title, unit,   i, line, ours, value) {
    line = "| " title ", " size " B | " unit " |"
    ours = median(figure " " size " llamada")
    for (i = 1; i <= count; i++) {
      value = median(figure " " size " " name[i])
      line = line (value == "" ? " - |" : i == 1 ? sprintf(" %.2f |", value) : sprintf(" %.2f (%.2f) |", value, value / ours))
    }
    print line
  }
  { values[$1 " " $2 " " $3] = values[$1 " " $2 " " $3] " " $4 }
  END {
    count = split(names, name, " ")
    printf "\nTopics between two processes, RELIABLE KEEP_ALL; medians of %d interleaved rounds; in brackets the ratio to ours.\n\n", rounds
    head = "| what | unit |"; rule = "| --- | --- |"
    for (i = 1; i <= count; i++) { head = head " " name[i] " |"; rule = rule " ---: |" }
    print head; print rule
    sizes = split("64 1024 65536 1000000", size, " ")
    for (i = 1; i <= sizes; i++) show("latency_spin", size[i], "half a round trip, spinning", "us")
    for (i = 1; i <= sizes; i++) show("latency_sleep", size[i], "half a round trip, sleeping", "us")
    for (i = 1; i <= sizes; i++) show("throughput_sleep", size[i], "throughput", "MB/s")
  }' "$work/figures"
