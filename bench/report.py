"""What bench.py makes of its samples: report.md, results.json and plots (SVG, by gnuplot where it is installed)."""
import json
import re
import shutil
import statistics
import subprocess
from collections import Counter

import aims
import case

OURS = case.OURS + case.MADE_BEFORE
PEERS = case.PEERS
CONFIGURATIONS = OURS + PEERS + ("bare", "bare-kept")
# What each of ours is beside: a ring without a library that does as much.
BARE = {"default": "bare", "fault-tolerant": "bare-kept", "fault-tolerant-long": "bare-kept"}
# Two states of a machine differ by a factor of 2 to 4; a busy one by less.
FLIPPED = 1.6
# By so much more of the processors' time may the host have taken of one sample than of another, as it does when it gives or
# takes back memory.
STOLEN_MORE = 0.03
# By so much may the cores' mean pace during one sample be above that during another (bench/state.h), where programs do not
# probe it themselves.
PACE_MORE = 1.1
# One-line titles of figures, in the order of the report; others follow by their own names.
TITLES = {"pingpong": "half a round trip", "anysource": "half a round trip, MPI_ANY_SOURCE",
          "changed": "half a round trip, changed content", "anew": "half a round trip, all of it new",
          "bandwidth": "streaming bandwidth", "changed_stream": "streaming bandwidth, changed content, MPI_Send",
          "anew_stream": "streaming bandwidth, all of it new, MPI_Send", "rate": "message rate", "overlap": "of an exchange hidden behind work",
          "vector": "half a round trip, every second double", "columns": "half a round trip, 8 of 32 doubles",
          "indexed": "half a round trip, uneven blocks"}
COUNTS = {"launch": "start and end of {}", "memory": "memory of a rank of {}", "idle": "processor time of a rank that waits for {} s"}
PLOTS = {"latency": ("half a round trip", "µs", ["pingpong"]), "bandwidth": ("streaming bandwidth", "GB/s", ["bandwidth"]),
         "rate": ("message rate", "M/s", ["rate"])}


def flipped(one, other):
    low, high = sorted((one["line_ns"], other["line_ns"]))
    return low > 0 and high / low > FLIPPED


def with_own_probes(samples):
    """Figures beside which the program itself probed the machine are samples by themselves, with that probe."""
    for sample in samples:
        rest = [figure for figure in sample["figures"] if len(figure) == 3]
        if rest:
            yield dict(sample, figures=rest)
        for *figure, line_ns, cores in (figure for figure in sample["figures"] if len(figure) > 3):
            probe = dict(sample["before"], line_ns=line_ns, cores=cores)
            yield dict(sample, figures=[figure], before=probe, after=probe, pace=None)


# By what a cache line takes at least: two cores with a cache in common hand it over in less, two hyperthreads of one core in
# less than that.
LINES = (("hyperthread", 0), ("fast", 45), ("slow", 100))
STATES = ("one-core", "hyperthread", "fast", "slow", "fast-shared", "slow-shared")


def state_of(probe):
    if probe["line_ns"] == 0:
        return "one-core"
    line = [name for name, least_ns in LINES if probe["line_ns"] >= least_ns][-1]
    return line + "-shared" if probe.get("cores") == "shared" and line != "hyperthread" else line


def by_state(samples):
    """The samples of each of the machine's states, by the probes around them."""
    parts = {}
    for sample in samples:
        if not flipped(sample["before"], sample["after"]):
            parts.setdefault(state_of(sample["before"]), []).append(sample)
    return [(name, parts[name]) for name in STATES if name in parts]


def quartiles(values):
    if len(values) < 2:
        return values * 3 if values else [None] * 3
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return [low, statistics.median(values), high]


class Figures:
    """Per figure and configuration: values by round and turn, with the probe in whose breath they were taken, the share
    of the processors' time that the host took, and the cores' pace meanwhile. Of what takes long, the probe says nothing."""

    def __init__(self, samples, are_long=False):
        self.values, self.units, self.are_long = {}, {}, are_long
        for sample in samples:
            line_ns = (sample["before"]["line_ns"] + sample["after"]["line_ns"]) / 2
            probe = {"line_ns": line_ns, "stolen": sample["stolen"], "pace": sample["pace"]}
            for name, value, unit in sample["figures"]:
                self.units[name] = unit
                self.values.setdefault(name, {}).setdefault(sample["configuration"], {})[sample["round"], sample["turn"]] = (value, probe)

    def names(self):
        order = list(TITLES)
        def key(name):
            head = name.rsplit(" ", 1)[0]
            return (order.index(head) if head in order else len(order), "" if head in order else head,
                    int(name.rsplit(" ", 1)[1]) if " " in name else 0)
        return sorted(self.values, key=key)

    def all(self, name, configuration):
        return [value for value, _ in self.values[name].get(configuration, {}).values()]

    def median(self, name, configuration):
        return quartiles(self.all(name, configuration))

    def are_alike(self, one, other):
        if abs(one["stolen"] - other["stolen"]) > STOLEN_MORE:
            return False
        if self.are_long:
            return True
        if one["pace"] and other["pace"] and max(one["pace"], other["pace"]) > min(one["pace"], other["pace"]) * PACE_MORE:
            return False
        return not flipped(one, other)

    def in_work(self, name, one, other):
        """What the ratio of two long samples is to be multiplied by, so that it is one of the work that the cores could do meanwhile: a
        core that a neighbour shares does half as much. 1 for all others."""
        if not (self.are_long and one["pace"] and other["pace"]):
            return 1
        work = one["pace"] * (1 - one["stolen"]) / (other["pace"] * (1 - other["stolen"]))
        return 1 / work if self.units[name] in case.HIGHER_IS_BETTER else work

    def ratios(self, name, one, other):
        """Of each sample to the other configuration's that was taken in the same round and state, in the nearest turn."""
        found = []
        for (number, turn), (value, probe) in self.values[name].get(one, {}).items():
            alike = {abs(other_turn - turn): (theirs, other_probe)
                     for (other_number, other_turn), (theirs, other_probe) in self.values[name].get(other, {}).items()
                     if other_number == number and theirs > 0 and self.are_alike(probe, other_probe)}
            if alike:
                theirs, other_probe = alike[min(alike)]
                found.append(value / theirs * self.in_work(name, probe, other_probe))
        return found

    def ratio(self, name, one, other):
        """Their quartiles, and how many they are."""
        ratios = self.ratios(name, one, other)
        return quartiles(ratios) + [len(ratios)]

    def line_ratios(self, name, configuration):
        """Half a round trip beside one cache line that travels there and one back."""
        return [value * 1e3 / probe["line_ns"] for value, probe in self.values[name].get(configuration, {}).values()
                if probe["line_ns"] > 0]

    def better_peer(self, name):
        medians = {peer: self.median(name, peer)[1] for peer in PEERS if self.values[name].get(peer)}
        if not medians:
            return None
        choose = max if self.units[name] in case.HIGHER_IS_BETTER else min
        return choose(medians, key=medians.get)


def shown(value):
    return "-" if value is None else f"{value:.3g}" if value < 100 else f"{value:,.0f}"


def size_text(size):
    for unit, bytes_in in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= bytes_in and size % bytes_in == 0:
            return f"{size // bytes_in} {unit}"
    return f"{size} B"


def title_of(name):
    if name.startswith("changed-"):
        return title_of(name.removeprefix("changed-")) + ", changed content"
    head, _, tail = name.rpartition(" ")
    if head in TITLES:
        return f"{TITLES[head]}, {size_text(int(tail))}"
    for collective in ("Barrier_", "Bcast_", "Allreduce_", "Alltoall_", "Allgather_", "Reduce_scatter_"):
        if head.startswith(collective):
            size = "" if collective == "Barrier_" else f", {size_text(int(tail))}"
            return f"{collective[:-1]}, {head[len(collective):]} ranks{size}"
    if name.startswith("whole-"):
        return title_of(name.removeprefix("whole-")) + ", start to end"
    if head == "hpcc" or re.fullmatch("[a-z]{2}[.][A-Z]", head):
        return f"{head.upper()}, {tail} ranks"
    if head in COUNTS:
        return COUNTS[head].format(tail)
    return name if not head or tail != "0" else head


def row(figures, name):
    peer = figures.better_peer(name)
    cells = [title_of(name), figures.units[name]]
    for configuration in CONFIGURATIONS:
        low, middle, high = figures.median(name, configuration)
        spread = "" if middle is None else f" ({shown(low)}–{shown(high)})"
        cells.append(shown(middle) + spread)
    for ours in OURS:
        cells.append("-" if not peer else shown(figures.ratio(name, ours, peer)[1]))
    cells.append(shown(figures.ratio(name, "fault-tolerant", "default")[1]))
    cells += [shown(figures.ratio(name, ours, bare)[1]) for ours, bare in BARE.items()]
    cells.append(shown(quartiles(figures.line_ratios(name, "default"))[1]) if name.startswith("pingpong ") else "")
    return "| " + " | ".join(cells) + " |"


def header(about, dropped, stolen):
    machine = about["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items() if version)
    return [f"# Benchmark of {about['commit']}, {about['date']}", "",
             f"{machine['processor']}, {machine['cores']} cores, Linux {machine['kernel']}; "
             f"beside {versions}. {about['rounds']} interleaved rounds; "
             f"{dropped} samples dropped because the machine's state flipped. Its host took more than {STOLEN_MORE:.0%} of the processors' "
             f"time during {sum(stolen.values())} ({', '.join(f'{count} {name}' for name, count in stolen.items()) or 'none'}); "
             f"samples between which that share differs by more are not compared.", "",
             "Medians, in brackets the quartiles. *d/p*, *f/p*, *l/p*: the default profile, fault-tolerant and fault-tolerant-long "
             "beside the better of the other MPIs, median of the ratios of samples that were taken in one round and state (for times below 1 is better, for rates above); *f/d*: fault-tolerant beside default. *bare*, "
             "*bare-kept*: two threads without a library, by the best of several ways, the latter writing into memory that no cache has; "
             "*d/b*, *f/b*, *l/b*: ours beside them. *line*: the default profile beside the cache line probed in the same breath. "
             "The machine's states: *one-core*, there is no other; *hyperthread*, two of one core; *fast*, two cores with a cache in common; *slow*, without; *-shared*: "
             "somebody else computes on the other hyperthread of one of the cores or both, so that they have half their pace (told apart "
             "for programs that probe it, which are those with a line of their own). Samples of other programs are not compared if "
             f"the cores' mean pace meanwhile differs by more than {PACE_MORE - 1:.0%}; long programs are compared by the work that the "
             "cores could do meanwhile: time, mean pace and the share of the time that the host left, multiplied.", ""]


def tables(heading, state, figures, plots):
    probes = [probe for by in figures.values.values() for rounds in by.values() for _, probe in rounds.values()]
    line = quartiles([probe["line_ns"] for probe in probes])
    lines = [f"## {heading}", "",
             f"A cache line there and one back, half of it: {shown(line[1])} ns ({shown(line[0])}–{shown(line[2])}).", "",
             *aims.table(figures, state, title_of),
             "| what | unit | " + " | ".join(CONFIGURATIONS) + " | d/p | f/p | l/p | f/d | d/b | f/b | l/b | line |",
             "| --- | --- |" + " ---: |" * (len(CONFIGURATIONS) + 8)]
    lines += [row(figures, name) for name in figures.names()]
    ratios = {ours: [figures.ratio(name, ours, figures.better_peer(name))[1] for name in figures.names()
                     if aims.is_collective(name) and figures.better_peer(name)]
              for ours in OURS}
    for ours, values in ratios.items():
        values = [value for value in values if value is not None]
        if values:
            lines += ["", f"All collectives, {ours} beside the better MPI: median {shown(statistics.median(values))}, "
                      f"worst {shown(max(values))}."]
    return lines + [""] + [f"![{plot}]({plot}.svg)" for plot in plots] + [""]


def as_json(state, figures):
    result = {"state": state, "figures": {}}
    for name in figures.names():
        peer = figures.better_peer(name)
        entry = {"unit": figures.units[name], "better_peer": peer, "quartiles": {}, "ratio_to_better_peer": {}}
        for configuration in CONFIGURATIONS:
            if figures.values[name].get(configuration):
                entry["quartiles"][configuration] = figures.median(name, configuration)
        for ours in OURS:
            if peer:
                entry["ratio_to_better_peer"][ours] = figures.ratio(name, ours, peer)
            if figures.values[name].get(BARE[ours]):
                entry.setdefault("ratio_to_bare", {})[ours] = figures.ratio(name, ours, BARE[ours])
            if name.startswith("pingpong "):
                entry.setdefault("ratio_to_line", {})[ours] = quartiles(figures.line_ratios(name, ours))
        result["figures"][name] = entry
    return result


def plot(place, figures, state, name, title, unit, head):
    """One SVG: a line for each configuration against size."""
    commands = [f'set terminal svg size 760,480 font "sans,13" background "white"', f'set output "{place / (name + state)}.svg"',
                f'set title "{title}"', "set logscale xy", 'set xlabel "bytes"', f'set ylabel "{unit}"', "set grid", "set key top left"]
    lines = []
    for configuration in CONFIGURATIONS:
        points = [(int(key.rsplit(" ", 1)[1]), *figures.median(key, configuration)) for key in figures.names()
                  if key.rsplit(" ", 1)[0] == head and figures.values[key].get(configuration)]
        points = [(max(size, 1), middle, low, high) for size, low, middle, high in points if middle and low]
        if not points:
            continue
        block = "$" + configuration.replace("-", "_")
        commands.append(f"{block} << END\n" + "\n".join(" ".join(map(str, point)) for point in points) + "\nEND")
        lines.append(f'{block} using 1:2 with linespoints title "{configuration}"')
        lines.append(f"{block} using 1:2:3:4 with yerrorbars notitle linecolor rgb 'gray'")
    if not lines:
        return False
    script = "\n".join(commands) + "\nplot " + ", ".join(lines) + "\n"
    return subprocess.run(["gnuplot"], input=script, text=True, capture_output=True).returncode == 0


def draw(place, figures, state):
    if not shutil.which("gnuplot"):
        return []
    wanted = dict(PLOTS)
    for key in figures.names():
        head = key.rsplit(" ", 1)[0]
        if aims.is_collective(key) and not head.startswith("Barrier"):
            collective, ranks = head.rsplit("_", 1)
            wanted[head] = (f"{collective}, {ranks} ranks", "µs", [head])
    return [name + state for name, (title, unit, heads) in wanted.items()
            if plot(place, figures, state, name, title, unit, heads[0])]


def write_report(place, about, samples):
    stolen = Counter(sample["configuration"] for sample in samples if sample["stolen"] > STOLEN_MORE)
    long = [sample for sample in samples if sample["long"]]
    short = list(with_own_probes(sample for sample in samples if not sample["long"]))
    dropped = sum(flipped(sample["before"], sample["after"]) for sample in short)
    lines, states = header(about, dropped, stolen), []
    for state, part in by_state(short) if short else ():
        figures = Figures(part)
        lines += tables(f"The machine's {state} state", state, figures, draw(place, figures, "-" + state))
        states.append(as_json(state, figures))
    if long:
        figures = Figures(long, are_long=True)
        lines += tables("Long programs, in whichever state", None, figures, [])
        states.append(as_json("either", figures))
    (place / "report.md").write_text("\n".join(lines) + "\n")
    (place / "results.json").write_text(json.dumps(dict(about, dropped=dropped, stolen=stolen, states=states), indent=1) + "\n")
