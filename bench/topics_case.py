"""The case `topics` of bench.py: DataWriters and DataReaders within this node, ours and those of the middlewares that
are installed (PACKAGES): iceoryx, Fast DDS, and Cyclone DDS (ddsperf, over UDP). Each round runs everything once, in turn, with the
machine probed before and after; topics.md and topics.json have medians by the machine's state, and ratios to ours.
"""
import json
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from aims import as_table, cells
from report import by_state, flipped, quartiles, shown, size_text

PACKAGES = ("iceoryx", "libiceoryx-posh-dev", "libfastrtps-dev", "cyclonedds-tools")
SIZES = (16, 1024, 16384, 262144, 1048576)
RUNS = (("spin", 1), ("loan", 1), ("wait", 1), ("wait", 2), ("wait", 8), ("rate", 1), ("rate", 2), ("rate", 8), ("memory", 8))
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


def figures_of(text):
    """Lines "NAME SIZE VALUE UNIT"."""
    found = (re.fullmatch(r"(\S+) (\d+) (\S+) (\S+)", line) for line in text.splitlines())
    return {f"{each[1]} {each[2]}": [float(each[3]), each[4]] for each in found if each}


def run_program(program, what, readers):
    """What it said until it ended or its time was over: sizes that did not come have no figure."""
    try:
        done = subprocess.run([str(program), what, str(readers)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True, timeout=PROGRAM_SECONDS_MAX)
        return figures_of(done.stdout)
    except subprocess.TimeoutExpired as late:
        return figures_of((late.stdout or b"").decode())


def run_cyclone(what, readers):
    """ddsperf reports each second: the last report of a run counts, of rates the best."""
    if readers != 1 or what not in ("wait", "rate"):
        return {}
    figures = {}
    for size in SIZES:
        if what == "wait":
            other = subprocess.Popen(["timeout", "30", "ddsperf", "-D", "3", "pong"], stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)
            text = subprocess.run(["timeout", "30", "ddsperf", "-D", "2", "ping", "size", str(size)],
                                  capture_output=True, text=True).stdout
            other.wait()
            values = re.findall(r"50% ([0-9.]+)us", text)
            if values:
                figures[f"wait_1 {size}"] = [float(values[-1]), "µs"]
        else:
            other = subprocess.Popen(["timeout", "30", "ddsperf", "-D", "3", "-k", "all", "sub"],
                                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            subprocess.run(["timeout", "30", "ddsperf", "-D", "3", "-k", "all", "pub", "size", str(size)],
                           capture_output=True)
            text = other.communicate()[0]
            rates = [float(rate) for rate in re.findall(r"rate ([0-9.]+) kS/s", text)]
            if rates:
                figures[f"rate_1 {size}"] = [max(rates) / 1e3, "M/s"]
                figures[f"bytes_1 {size}"] = [max(rates) * 1e3 * size / 1e9, "GB/s"]
    return figures


def build_programs(build, say):
    """Those of this case: the build looks again for what is installed."""
    for command in (["cmake", str(build)], ["cmake", "--build", str(build), "--target", "bench_topics"]):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            say(f"{' '.join(command)} failed: {(done.stdout.strip().splitlines() or ['?'])[-1]}")


def middlewares(build):
    """How each is run, ours first."""
    def program(name):
        return build / "bench" / f"topics_{name}"
    found = {"llamada": lambda what, readers: run_program(program("llamada"), what, readers)}
    if program("iceoryx").exists() and shutil.which("iox-roudi"):
        def run_iceoryx(what, readers):
            with RouDi():
                return run_program(program("iceoryx"), what, readers)
        found["iceoryx"] = run_iceoryx
    if program("fastdds").exists():
        found["fastdds"] = lambda what, readers: run_program(program("fastdds"), what, readers)
    if shutil.which("ddsperf"):
        found["cyclone"] = run_cyclone
    return found


def title_of(name):
    head, size = name.split(" ")
    what, readers = head.split("_")
    return f"{TITLES[what]}, {readers} reader{'s' if readers != '1' else ''}, {size_text(int(size))}"


def table(samples, names):
    values, units = {}, {}
    for sample in samples:
        for figure, (value, unit) in sample["figures"].items():
            units[figure] = unit
            values.setdefault(figure, {}).setdefault(sample["middleware"], {})[sample["round"]] = (value, sample["before"])
    def order(figure):
        head, size = figure.split(" ")
        what, readers = head.split("_")
        return (list(TITLES).index(what), int(readers), int(size))
    lines = ["| what | unit | " + " | ".join(names) + " |", "| --- | --- |" + " ---: |" * len(names)]
    rows = {}
    for figure in sorted(values, key=order):
        row = {"unit": units[figure], "quartiles": {}, "ratio_to_ours": {}}
        cells = []
        for name in names:
            of_name = values[figure].get(name, {})
            row["quartiles"][name] = quartiles([value for value, _ in of_name.values()])
            ours = values[figure].get(names[0], {})
            ratios = [of_name[n][0] / ours[n][0] for n in of_name
                      if n in ours and ours[n][0] > 0 and not flipped(of_name[n][1], ours[n][1])]
            row["ratio_to_ours"][name] = quartiles(ratios)
            middle, ratio = row["quartiles"][name][1], row["ratio_to_ours"][name][1]
            cells.append(shown(middle) + (f" ({shown(ratio)})" if ratio is not None and name != names[0] else ""))
        lines.append(f"| {title_of(figure)} | {units[figure]} | " + " | ".join(cells) + " |")
        rows[figure] = row
    return lines, rows


def aims(rows):
    """Their table, of what was measured: half of iceoryx's time where nothing is copied, a fiftieth of what
    Cyclone DDS takes over loopback, and one copy for eight readers."""
    def middle(figure, name):
        return rows.get(figure, {}).get("quartiles", {}).get(name, [None] * 3)[1]
    found = [("made in place, beside iceoryx", 0.5, size, middle(f"loan_1 {size}", "llamada"), middle(f"loan_1 {size}", "iceoryx"))
             for size in SIZES]
    found.append(("asking, beside Cyclone DDS over loopback", 0.02, 16, middle("spin_1 16", "llamada"), middle("wait_1 16", "cyclone")))
    found.append(("copies of a sample in memory, 8 readers", 1.1, SIZES[-1], middle(f"copies_8 {SIZES[-1]}", "llamada"), 1))
    return as_table([cells(text, bound, [ours / theirs], size_text(size)) for text, bound, size, ours, theirs in found if ours and theirs])


def run_topics(build, place, rounds, probe, say):
    """Writes topics.json and topics.md into `place`; the Markdown is given back, too."""
    build_programs(build, say)
    found = middlewares(build)
    samples = []
    for number in range(1, rounds + 1):
        for what, readers in RUNS:
            for name, run in found.items():
                say(f"round {number} of {rounds}: topics, {what}, {readers} readers, {name}")
                before = probe()
                figures = run(what, readers)
                samples.append({"round": number, "middleware": name, "figures": figures, "before": before,
                                "after": probe()})
    lines, states = ["# Topics within a node", "",
                     f"RELIABLE, KEEP_ALL, VOLATILE; medians of {rounds} interleaved rounds, in brackets the ratio to ours.", ""], []
    for state, part in by_state(samples):
        line = quartiles([sample["before"]["line_ns"] for sample in part])[1]
        rows, figures = table(part, list(found))
        lines += [f"A cache line there and one back, half of it: {shown(line)} ns{', the ' + state + ' state' if state else ''}.", "",
                  *aims(figures), *rows, ""]
        states.append({"state": state, "line_ns": line, "figures": figures})
    text = "\n".join(lines)
    (place / "topics.json").write_text(json.dumps({"rounds": rounds, "states": states, "samples": samples}, indent=1) + "\n")
    (place / "topics.md").write_text(text + "\n")
    return text
