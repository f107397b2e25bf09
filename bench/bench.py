#!/usr/bin/env python3
"""bench.py BUILD [--rounds N] [--only TEXT] [--nodes] [--npb FOLDER] [--no-install] [--fresh]: `./dev bench`.

Runs the programs of this folder, the samples and programs of others (programs_case.py) under our two profiles and under
the other MPIs, interleaved: each turn of a program runs it once under each, and what messages take at least between two
threads (bare.c); in a round short ones have some turns. Before and after each sample the machine is probed (one cache line
between two cores and back; a copy): a sample between whose probes the state flipped is dropped. Programs of messages, and
of collectives on two ranks, probe the machine themselves between their batches (state.h, series.h), and keep those of one
state. What is compared are samples of one round whose probes agree, each with the one in the nearest turn, during which a
virtual machine's host took as much of the processors' time, and the cores had the same pace; long programs are compared by the
work that the cores could do meanwhile, whose pace was watched. What is shown are medians over the rounds, with quartiles, as
Markdown, JSON and SVG in bench/results/MACHINE-COMMIT. A run that was interrupted goes on where it was (--fresh: begins anew).
"""
import argparse
import contextlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from case import MADE_BEFORE, OURS, PEERS, Case
from nodes_case import EXIT_SKIPPED, Refused, bed_for, nodes_cases, write_nodes_report
from programs_case import HpccPrograms, NpbPrograms
from report import write_report
from topics_case import PACKAGES as TOPICS_PACKAGES
from topics_case import run_topics

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
# Between two threads without a library (bare.c), for messages: it tries many ways, which takes long.
BARE = ("bare", "bare-kept")
PACKAGES = ("mpich", "libmpich-dev", "openmpi-bin", "libopenmpi-dev", "gnuplot-nox")
PROGRAM_SECONDS_MAX = 120
LENT_GIB_MAX = 32
# What mpirun wants to see for a log that is made at the start.
LENT_AT_ONCE_MIB = {"fault-tolerant-long": 2560}
# Of what is free, Linux tells the host a sixteenth every 2 s, or 128 MiB: of so much a program that takes it slowly is given next to
# nothing that has gone.
LENT_TO_LONG_MIB = 4096

COLLECTIVES = ("Barrier", "Bcast", "Reduce", "Allreduce", "Alltoall", "Allgather", "Reduce_scatter", "Gather",
               "Scatter")


def cases(cores):
    few = max(2, min(4, cores))
    found = [Case(name, program, arguments=arguments, configurations=OURS + MADE_BEFORE + PEERS + BARE, turns=8, rarely=BARE)
             for name, program, arguments in (("pingpong", "pingpong", []), ("rate", "stream", ["rate"]),
                                              ("bandwidth", "stream", ["bandwidth"]))]
    found += [Case(f"{name} {how}", program, arguments=[how], configurations=OURS + MADE_BEFORE + PEERS)
              for how in ("changed", "anew") for name, program in (("pingpong", "pingpong"), ("bandwidth", "stream"))]
    found += [Case("overlap", "overlap"), Case("derived", "derived"), Case("idle", "idle")]
    for ranks in (2, 4, 8):
        found += [Case(f"{name} {ranks}", "collectives", ranks, [name], turns=4 if ranks == 2 else 2) for name in COLLECTIVES]
    found += [Case(f"{name} {ranks} changed", "collectives", ranks, ["changed", name]) for ranks in (2, 4)
              for name in ("Bcast", "Allreduce", "Alltoall", "Allgather")]
    found += [Case(f"launch {ranks}", "hello", ranks, figure=f"launch {ranks}", turns=4) for ranks in (4, 16, 64)]
    found += [Case(f"memory {ranks}", "hello", ranks, ["memory"]) for ranks in (2, 16, 64)]
    found += [Case("memory 256", "hello", 256, ["memory"], configurations=OURS)]
    found += [Case("heat", "heat", few, ["-n", "384", "-s", "2000", "-o", ""], "heat"),
              Case("matmul", "matmul", few, ["-n", "256", "-r", "60"], "matmul"),
              Case("farm", "farm", few, ["-t", "2000"], "farm")]
    # Of other chapters, where the program is there.
    for extra in ("threads", "rma"):
        if (HERE / f"{extra}.c").exists():
            found.append(Case(extra, extra))
    return found


def names_of(chosen):
    return [case.name for case in chosen]


def say(text, end="\n"):
    blank = "\r\033[K" if sys.stderr.isatty() else ""
    print(f"{blank}bench: {text}", file=sys.stderr, end=end, flush=True)


def install(packages):
    """By Debian's packages; without apt-get, with those that are there."""
    missing = [package for package in packages
               if subprocess.run(["dpkg-query", "-W", "-f=${Status}", package], capture_output=True, text=True)
               .stdout != "install ok installed"]
    if not missing or not shutil.which("apt-get"):
        return
    say("installing with apt-get: " + " ".join(missing))
    command = ([] if os.geteuid() == 0 else ["sudo"]) + ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
    subprocess.run(command + ["update", "-qq"], stdout=sys.stderr)
    subprocess.run(command + ["install", "-y", "-qq", "--no-install-recommends"] + missing, stdout=sys.stderr)


SOURCES = {"heat": ROOT / "samples/heat/heat.c", "matmul": ROOT / "samples/matmul/matmul.c",
           "farm": ROOT / "samples/farm/farm.c"}


def source_of(program):
    return SOURCES.get(program, HERE / f"{program}.c")


def compile_all(build, programs, suites, folder):
    """The same sources with the three wrappers. Gives the names of the programs that there are for each."""
    compilers = {"ours": (str(build / "bin/mpicc"), str(build / "bin/mpifort"))}
    compilers.update({peer: (f"mpicc.{peer}", f"mpifort.{peer}") for peer in PEERS if shutil.which(f"mpicc.{peer}")})
    fetched = []
    for suite in suites:
        try:
            suite.fetch()
            fetched.append(suite)
        except OSError as error:
            say(f"there is no {suite.name}: {error}")
    ready = {}
    for name, (c, fortran) in compilers.items():
        place = folder / name
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        ready[name] = set()
        for program in programs:
            command = [c, "-O2", "-w", "-o", str(place / program), str(source_of(program)), "-lpng", "-lm", "-lpthread"]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode == 0:
                ready[name].add(program)
            else:
                say(f"{name} does not compile {program}: {(done.stderr.strip().splitlines() or ['?'])[0]}")
        for suite in fetched:
            say(f"building {suite.name} with {c}")
            try:
                ready[name] |= suite.make(c, fortran, place)
            except OSError as error:
                say(f"there is no {suite.name} with {c}: {error}")
    return ready


class Lender:
    """Where a virtual machine's host gives memory when it is touched, and takes back what is free, programs get memory that is the
    machine's own: all of it is held meanwhile, and lent to what runs (machine.c)."""

    def __init__(self, build):
        is_virtual = "hypervisor" in Path("/proc/cpuinfo").read_text().split()
        self.command = [str(build / "bench/machine"), "lend", str(LENT_GIB_MAX)] if is_virtual else None
        self.process = None

    def __enter__(self):
        if self.command:
            say("holding the machine's memory, to lend it to what runs")
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.process.stdout.readline()
        return self

    def take_back(self, case, configuration):
        """What has become free since: soon, so that it need not come from the host again; and lends at once what `case` under `configuration`
        is to find."""
        if self.process is None:
            return
        try:
            lent_mib = max(LENT_AT_ONCE_MIB.get(configuration, 0), LENT_TO_LONG_MIB if case.is_long else 0)
            self.process.stdin.write(f"{lent_mib}\n")
            self.process.stdin.flush()
            is_there = self.process.stdout.readline()
        except OSError:
            is_there = False
        if not is_there:
            say("memory is not held any more: whoever lent it has ended")
            self.process = None

    def __exit__(self, *_):
        if self.process:
            self.process.communicate()


SHARED_MEMORY = Path("/dev/shm")


def in_shared_memory():
    """Files of one's own, by name, of libraries that leave some: Fast DDS after each run, Open MPI where a program is ended."""
    found = set()
    for pattern in ("fastrtps_*", "sem.fastrtps_*", "vader_segment.*"):
        for path in SHARED_MEMORY.glob(pattern):
            with contextlib.suppress(OSError):
                if path.stat().st_uid == os.geteuid():
                    found.add(path)
    return found


def in_use():
    """What processes have mapped or open, by name."""
    used = set()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            used.update(line.split(maxsplit=5)[-1] for line in (process / "maps").read_text().splitlines() if "/" in line)
        # The process may end meanwhile.
        with contextlib.suppress(OSError):
            for descriptor in os.scandir(process / "fd"):
                with contextlib.suppress(OSError):
                    used.add(os.readlink(descriptor))
    return used


@contextlib.contextmanager
def leftovers_removed():
    """What others leave in shared memory meanwhile goes when it is over."""
    before = in_shared_memory()
    try:
        yield
    finally:
        left = in_shared_memory() - before
        used = in_use() if left else set()
        for path in left:
            if str(path) not in used:
                path.unlink(missing_ok=True)


class Runner:
    def __init__(self, build, folder, ready, lender):
        self.build, self.folder, self.ready, self.lender = build, folder, ready, lender
        self.environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                                OMPI_MCA_hwloc_base_binding_policy="none",
                                OMPI_MCA_rmaps_base_oversubscribe="1", BENCH_WHOLE_CORE=self.machine("pace").get("whole_core_pace", "0"))

    def has(self, case, configuration):
        if configuration in BARE:
            return (self.build / "bench/bare").exists()
        return case.program in self.ready.get(configuration if configuration in PEERS else "ours", ())

    def command(self, case, configuration):
        if configuration in BARE:
            return [str(self.build / "bench/bare"), case.name] + (["kept"] if configuration == "bare-kept" else [])
        program = self.folder / (configuration if configuration in PEERS else "ours") / case.program
        return case.launcher(configuration, self.build) + [str(program)] + case.arguments

    def machine(self, what):
        """What machine.c says, by name."""
        text = subprocess.run([str(self.build / "bench/machine"), what], capture_output=True, text=True).stdout
        return dict(line.split() for line in text.splitlines() if len(line.split()) == 2)

    def probe(self):
        words = self.machine("quick")
        return {"line_ns": float(words.get("line_ns", 0)), "copy_gbs": float(words.get("copy_gbs", 0))}

    @contextlib.contextmanager
    def watched_pace(self):
        """Gives a list that holds the mean pace of the cores while this lasted, once it is over; none if it could not be seen."""
        seen = []
        with subprocess.Popen([str(self.build / "bench/machine"), "watch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as watcher:
            try:
                yield seen
            finally:
                text, _ = watcher.communicate()
                seen += [float(pace) for pace in re.findall(r"^pace ([\d.]+)$", text, re.MULTILINE)]

    def sample(self, case, configuration):
        """The figures of one run, or why there are none."""
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            self.lender.take_back(case, configuration)
            folder = Path(name)
            case.prepare(folder)
            before = self.probe()
            stolen, start = stolen_seconds(), time.monotonic()
            try:
                with self.watched_pace() as paces:
                    done = subprocess.run(self.command(case, configuration), capture_output=True, text=True, cwd=folder,
                                          env=self.environment, timeout=PROGRAM_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                return {"failed": f"it took more than {PROGRAM_SECONDS_MAX} s"}
            seconds = time.monotonic() - start
            stolen = (stolen_seconds() - stolen) / (seconds * os.cpu_count())
            after = self.probe()
            if done.returncode != 0:
                return {"failed": f"exit code {done.returncode}: {(done.stderr.strip().splitlines() or [''])[-1]}"}
            try:
                figures = case.figures(done.stdout, seconds, folder)
            except ValueError as error:
                return {"failed": str(error)}
        pace = paces[0] if paces else None
        return {"before": before, "after": after, "stolen": stolen, "pace": pace, "figures": figures}


def stolen_seconds():
    """Of all processors, since the start of the machine, by its host."""
    return int(Path("/proc/stat").read_text().split(maxsplit=9)[8]) / os.sysconf("SC_CLK_TCK")


def commit():
    done = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=10"],
                          capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def describe_machine(cores):
    version = {}
    for peer, package in (("mpich", "mpich"), ("openmpi", "openmpi-bin")):
        done = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], capture_output=True, text=True)
        version[peer] = done.stdout.strip()
    return {"processor": processor(), "cores": cores, "kernel": platform.release(), "versions": version}


def read_samples(path):
    if not path.exists():
        return []
    samples = []
    for line in path.read_text().splitlines():
        try:
            samples.append(json.loads(line))
        except ValueError:
            pass  # The last line of a run that was killed.
    return samples


def take_samples(runner, chosen, rounds, raw):
    """Runs what has no sample in `raw` yet, and gives all samples of these cases and rounds."""
    samples = read_samples(raw)
    done = {(sample["round"], sample["turn"], sample["case"], sample["configuration"]) for sample in samples}
    given_up = set()
    runs = [(number, turn, case, configuration) for number in range(1, rounds + 1) for case in chosen
            for turn, configuration in case.runs()]
    for count, (number, turn, case, configuration) in enumerate(runs, 1):
        key = (number, turn, case.name, configuration)
        if key in done or not runner.has(case, configuration) or (case.name, configuration) in given_up:
            continue
        say(f"{count} of {len(runs)}: round {number}, {case.name}, {configuration}", "" if sys.stderr.isatty() else "\n")
        sample = runner.sample(case, configuration)
        if "failed" in sample:
            say(f"{case.name} fails under {configuration}: {sample['failed']}")
            given_up.add((case.name, configuration))
            continue
        sample.update(round=number, turn=turn, case=case.name, configuration=configuration, long=case.is_long)
        samples.append(sample)
        with raw.open("a") as file:
            file.write(json.dumps(sample) + "\n")
    return [sample for sample in samples if sample["case"] in names_of(chosen) and sample["round"] <= rounds]


def main():
    parser = argparse.ArgumentParser(prog="./dev bench", description="ours beside other MPIs and the machine's limit")
    parser.add_argument("build", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="how often each is run (7)")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose name contains one of TEXT,TEXT…")
    parser.add_argument("--nodes", action="store_true", help="on two nodes, which are namespaces of this machine, beside TCP")
    parser.add_argument("--npb", type=Path, metavar="FOLDER",
                        help="the NAS Parallel Benchmarks, too: their folder NPB3.4-MPI, unpacked")
    parser.add_argument("--no-install", action="store_true", help="compare with what is installed")
    parser.add_argument("--fresh", action="store_true", help="forget the samples of an earlier run of this commit")
    parser.add_argument("--results", type=Path, default=HERE / "results", metavar="FOLDER", help="bench/results")
    options = parser.parse_args()
    build = options.build.resolve()
    if not (build / "bin/mpirun").exists():
        sys.exit(f"bench: there is no {build}/bin/mpirun: build first")
    cores = len(os.sched_getaffinity(0))
    suites = [] if options.nodes else [HpccPrograms(build / "sources")]
    suites += [NpbPrograms(options.npb.resolve())] if options.npb else []
    known = (nodes_cases() if options.nodes else cases(cores)) + [case for suite in suites for case in suite.cases()]
    wanted = [text for text in options.only.split(",") if text]
    chosen = [case for case in known if not wanted or any(text in case.name for text in wanted)]
    suites = [suite for suite in suites if any(case.name in names_of(chosen) for case in suite.cases())]
    topics = not options.nodes and (not wanted or any(text in "topics" for text in wanted))
    if not chosen and not topics:
        sys.exit(f"bench: no case is named like '{options.only}'; there are: "
                 + ", ".join(names_of(known)) + ", topics")
    if not options.no_install:
        install(PACKAGES + sum((suite.packages for suite in suites), ())
                + (TOPICS_PACKAGES if topics else ()))
    machine = describe_machine(cores)
    place = options.results.resolve() / (re.sub(r"[^A-Za-z0-9]+", "-", machine["processor"]).strip("-").lower() + "-" + commit())
    place.mkdir(parents=True, exist_ok=True)
    raw = place / "samples.jsonl"
    if options.fresh and raw.exists():
        raw.unlink()
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -10)  # Before what else the machine does; only root may.
    except OSError:
        pass
    ours_in_c = sorted({case.program for case in chosen if source_of(case.program).exists()})
    ready = compile_all(build, ours_in_c, suites, place / "programs")
    lender = Lender(build)
    runner = Runner(build, place / "programs", ready, lender)
    with bed_for(chosen, build, runner.environment) if options.nodes else lender:
        samples = take_samples(runner, chosen, options.rounds, raw)
    about = {"machine": machine, "commit": commit(), "rounds": options.rounds, "date": time.strftime("%Y-%m-%d"), "only": options.only}
    shutil.rmtree(place / "programs", ignore_errors=True)
    if options.nodes:
        print(write_nodes_report(place, about, samples))
        return say(f"written into {place}")
    write_report(place, about, samples)
    if topics:
        text = run_topics(build, place, options.rounds, runner, say)
        with (place / "report.md").open("a") as file:
            file.write("\n" + text + "\n")
    print((place / "report.md").read_text())
    say(f"written into {place}")


if __name__ == "__main__":
    try:
        with leftovers_removed():
            main()
    except Refused as why:
        print(f"SKIPPED: {why}")
        sys.exit(EXIT_SKIPPED)
    except KeyboardInterrupt:
        sys.exit("\nbench: interrupted; the same command goes on where it was")
