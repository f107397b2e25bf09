"""The case `topics` of bench.py: DataWriters and DataReaders within this node, ours and those of the middlewares that
are installed (PACKAGES): iceoryx, Fast DDS, and Cyclone DDS (ddsperf, over UDP). Each round runs everything in turn, what asks some times,
with the machine probed before and after; who asks probes it between its batches, too. topics.md and topics.json have medians by the
machine's state, and ratios to ours.
"""
import json
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from aims import as_table, cells
from case import figures_in
from report import Figures, by_state, quartiles, shown, size_text, with_own_probes

PACKAGES = ("iceoryx", "libiceoryx-posh-dev", "libfastrtps-dev", "cyclonedds-tools")
SIZES = (16, 1024, 16384, 262144, 1048576)
# What is run, with how many readers, and how often in a round.
RUNS = (("spin", 1, 4), ("loan", 1, 4), ("wait", 1, 2), ("wait", 2, 1), ("wait", 8, 1), ("rate", 1, 1), ("rate", 2, 1), ("rate", 8, 1),
        ("memory", 8, 1))
OURS = "llamada"
PROGRAM_SECONDS_MAX = 60
TITLES = {"spin": "half a round trip, asking", "loan": "half a round trip, asking, written in place",
          "wait": "half a round trip, waiting", "rate": "sent",
          "bytes": "sent", "copies": "memory that a sample takes, in its sizes"}


class RouDi:
    """iceoryx's daemon, while there is something to run with it."""

    def __enter__(self):
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(["iox-roudi"], stdout=self.log, stderr=subprocess.STDOUT)
        for _ in range(100):
            self.log.seek(0)
            if "RouDi is ready" in self.log.read():
                break
            time.sleep(0.1)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def run_program(program, what, readers, environment):
    """What it said until it ended or its time was over: sizes that did not come have no figure."""
    try:
        done = subprocess.run([str(program), what, str(readers)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True, timeout=PROGRAM_SECONDS_MAX, env=environment)
        return figures_in(done.stdout)
    except subprocess.TimeoutExpired as late:
        return figures_in((late.stdout or b"").decode())


def run_cyclone(what, readers):
    """ddsperf reports each second: the last report of a run counts, of rates the best."""
    if readers != 1 or what not in ("wait", "rate"):
        return []
    figures = []
    for size in SIZES:
        if what == "wait":
            other = subprocess.Popen(["timeout", "30", "ddsperf", "-D", "3", "pong"], stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)
            text = subprocess.run(["timeout", "30", "ddsperf", "-D", "2", "ping", "size", str(size)],
                                  capture_output=True, text=True).stdout
            other.wait()
            values = re.findall(r"50% ([0-9.]+)us", text)
            if values:
                figures.append([f"wait_1 {size}", float(values[-1]), "µs"])
        else:
            other = subprocess.Popen(["timeout", "30", "ddsperf", "-D", "3", "-k", "all", "sub"],
                                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            subprocess.run(["timeout", "30", "ddsperf", "-D", "3", "-k", "all", "pub", "size", str(size)],
                           capture_output=True)
            text = other.communicate()[0]
            rates = [float(rate) for rate in re.findall(r"rate ([0-9.]+) kS/s", text)]
            if rates:
                figures.append([f"rate_1 {size}", max(rates) / 1e3, "M/s"])
                figures.append([f"bytes_1 {size}", max(rates) * 1e3 * size / 1e9, "GB/s"])
    return figures


def build_programs(build, say):
    """Those of this case: the build looks again for what is installed."""
    for command in (["cmake", str(build)], ["cmake", "--build", str(build), "--target", "bench_topics"]):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            say(f"{' '.join(command)} failed: {(done.stdout.strip().splitlines() or ['?'])[-1]}")


def middlewares(build, environment):
    """How each is run, ours first."""
    def program(name):
        return build / "bench" / f"topics_{name}"
    def run(name):
        return lambda what, readers: run_program(program(name), what, readers, environment)
    found = {OURS: run("llamada")}
    if program("iceoryx").exists() and shutil.which("iox-roudi"):
        def run_iceoryx(what, readers):
            with RouDi():
                return run("iceoryx")(what, readers)
        found["iceoryx"] = run_iceoryx
    if program("fastdds").exists():
        found["fastdds"] = run("fastdds")
    if shutil.which("ddsperf"):
        found["cyclone"] = run_cyclone
    return found


def title_of(name):
    head, size = name.split(" ")
    what, readers = head.split("_")
    return f"{TITLES[what]}, {readers} reader{'s' if readers != '1' else ''}, {size_text(int(size))}"


def in_order(figure):
    head, size = figure.split(" ")
    what, readers = head.split("_")
    return (list(TITLES).index(what), int(readers), int(size))


def table(figures, names):
    """Lines of Markdown, and the same as JSON has it."""
    lines = ["| what | unit | " + " | ".join(names) + " |", "| --- | --- |" + " ---: |" * len(names)]
    rows = {}
    for figure in sorted(figures.names(), key=in_order):
        row = {"unit": figures.units[figure], "quartiles": {}, "ratio_to_ours": {}}
        cells = []
        for name in names:
            row["quartiles"][name] = figures.median(figure, name)
            row["ratio_to_ours"][name] = figures.ratio(figure, name, OURS)[:3]
            middle, ratio = row["quartiles"][name][1], row["ratio_to_ours"][name][1]
            cells.append(shown(middle) + (f" ({shown(ratio)})" if ratio is not None and name != OURS else ""))
        lines.append(f"| {title_of(figure)} | {figures.units[figure]} | " + " | ".join(cells) + " |")
        rows[figure] = row
    return lines, rows


def aims(figures, state):
    """Their table, of what was measured: where two cores have a cache in common half of iceoryx's time where nothing is copied and a fiftieth
    of what Cyclone DDS takes over loopback; one copy for eight readers."""
    def ratios(ours, other, theirs):
        """To the other's median, of samples that do not say the state of their own moments."""
        values = figures.all(theirs, other) if theirs in figures.values else []
        return [each / statistics.median(values) for each in figures.all(ours, OURS)] if values and ours in figures.values else []
    found = []
    if state.startswith("fast"):
        found += [("made in place, beside iceoryx", 0.5, size, figures.ratios(f"loan_1 {size}", OURS, "iceoryx"))
                  for size in SIZES if f"loan_1 {size}" in figures.values]
        found.append(("asking, beside Cyclone DDS over loopback", 0.02, 16, ratios("spin_1 16", "cyclone", "wait_1 16")))
    copies = f"copies_8 {SIZES[-1]}"
    found.append(("copies of a sample in memory, 8 readers", 1.1, SIZES[-1], figures.all(copies, OURS) if copies in figures.values else []))
    return as_table([cells(text, bound, values, size_text(size)) for text, bound, size, values in found if values])


def run_topics(build, place, rounds, runner, say):
    """Writes topics.json and topics.md into `place`; the Markdown is given back, too."""
    build_programs(build, say)
    found = middlewares(build, runner.environment)
    samples = []
    for number in range(1, rounds + 1):
        for what, readers, turns in RUNS:
            for turn in range(1, turns + 1):
                for name, run in found.items():
                    say(f"round {number} of {rounds}: topics, {what}, {readers} readers, {name}")
                    before = runner.probe()
                    figures = run(what, readers)
                    samples.append({"round": number, "turn": turn, "configuration": name, "figures": figures, "before": before,
                                    "after": runner.probe(), "stolen": 0, "pace": None})
    lines, states = ["# Topics within a node", "",
                     f"RELIABLE, KEEP_ALL, VOLATILE; medians of {rounds} interleaved rounds, in brackets the ratio to ours.", ""], []
    for state, part in by_state(with_own_probes(samples)):
        figures = Figures(part)
        line = quartiles([sample["before"]["line_ns"] for sample in part])[1]
        lines_of_table, rows = table(figures, list(found))
        lines += [f"A cache line there and one back, half of it: {shown(line)} ns, the {state} state.", "", *aims(figures, state), *lines_of_table, ""]
        states.append({"state": state, "line_ns": line, "figures": rows})
    text = "\n".join(lines)
    (place / "topics.json").write_text(json.dumps({"rounds": rounds, "states": states, "samples": samples}, indent=1) + "\n")
    (place / "topics.md").write_text(text + "\n")
    return text
