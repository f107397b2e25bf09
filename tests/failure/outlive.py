#!/usr/bin/env python3
"""Jobs that lose a node, or all of their processes, at random moments, and must end with the right answer.

outlive.py BUILD nodes|job RUNS SEED [SHAPE=2,1,1] [RANKS=3] [PROGRAM ...]

Each program runs once undisturbed. Then, RUNS times: in `nodes` on hosts that are this one, of which one is killed
by --inject, at times also a second; in `job` with DURABILITY PERSISTENT, killed whole and resumed again and again. The
exit code must be 0, standard output and files in the working directory must be the same, and nothing may be left.

SHAPE is the number of ranks on each host, for `nodes`. Every second run has a spare host, too. RANKS is the number of
ranks, for `job`. PROGRAM is the name of a sample or test program, or NAME=COMMAND, or NAME:PATTERN=COMMAND:
of its output only what matches PATTERN is compared, and none of its files.
`nodes` prints how long the steps of a restart took, median and maximum, from runs that lost one node.
"""

import json
import os
import pathlib
import random
import re
import shutil
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

# Those whose output is the same in each run.
PROGRAMS = ["heat", "jacobi", "matmul", "farm", "ring", "collectives", "nondeterministic", "comm_storm", "ssend"]
LIVES_MAX = 8
PATIENCE_S = 300
DEFAULTS = {"SHAPE": "2,1,1", "RANKS": "3"}
HOSTS = ("localhost", *"bcdefgh")

# mpirun's messages, in the order of a lost node, and the steps that lie between two of them.
MOMENTS = ("kills all processes of the node", " is lost: ", "all ranks start again and repeat", "all ranks have caught up")
STEPS = ("detection", "start", "replay")


class Program:
    """A word of the command line: NAME, NAME=COMMAND or NAME:PATTERN=COMMAND."""

    def __init__(self, build, word):
        title, _, command = word.partition("=")
        self.name, _, pattern = title.partition(":")
        self.pattern, self.has_files = re.compile(pattern or ".*"), not pattern
        self.words = shlex.split(command) or [find_program(build, self.name)]

    def compared(self, lines, files=()):
        found = sorted(found.group() for found in map(self.pattern.search, lines) if found)
        return found + [(path.name, path.read_bytes()) for path in files if self.has_files]


def find_program(build, name):
    for folder in ("samples", "tests/failure", "tests/mpi"):
        path = build / folder / name
        if path.is_file():
            return str(path)
    sys.exit(f"outlive.py: {build} has no program {name}")


def host_list(slots):
    return ",".join(f"{host}:{count}" for host, count in zip(HOSTS, slots))


def restart_steps(errors):
    """Seconds of detection, start, replay, and of all: of a job that lost one node and caught up. Otherwise None."""
    found = [[at for at, line in errors if moment in line] for moment in MOMENTS]
    if any(len(times) != 1 for times in found):
        return None
    times = [times[0] for times in found]
    return [end - begin for begin, end in zip(times, times[1:])] + [times[-1] - times[0]]


def print_steps(name, restarts):
    for step, seconds in zip((*STEPS, "total"), zip(*restarts)):
        print(f"{name}: {step} {statistics.median(seconds):.3f} s, at most {max(seconds):.3f} s", flush=True)


def family(pid):
    """The process and all that descend from it."""
    found = [pid]
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            for child in pathlib.Path(f"/proc/{pid}/task/{task}/children").read_text().split():
                found += family(int(child))
    except OSError:
        pass
    return found


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def send(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError:
            pass


def kill_whole(job):
    """Stopped first, so that none of them sees the others die and does something about it."""
    for _ in range(3):
        pids = family(job.pid)
        send(pids, signal.SIGSTOP)
    send(pids, signal.SIGKILL)
    job.wait()
    while any(is_alive(pid) for pid in pids):
        time.sleep(0.01)


class Runner:
    def __init__(self, build, seed):
        self.build, self.random = build, random.Random(seed)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="outlive."))
        self.environment = dict(os.environ, LLAMADA_STORE=str(self.folder / "store"))
        self.agent = self.folder / "agent"
        self.agent.write_text('#!/bin/sh\nshift\nexec setsid -w "$@"\n')
        self.agent.chmod(0o755)
        self.wrong = 0
        self.errors, self.reader = [], None

    def start(self, words, append=False):
        with open(self.folder / "out", "ab" if append else "wb") as out:
            job = subprocess.Popen([str(self.build / "bin/mpirun"), *words], env=self.environment, cwd=self.folder,
                                   stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, text=True)
        if not append:
            self.errors = []
        self.reader = threading.Thread(target=self.read_errors, args=(job.stderr,), daemon=True)
        self.reader.start()
        return job

    def read_errors(self, stream):
        for line in stream:
            self.errors.append((time.monotonic(), line))
        stream.close()

    def said(self):
        self.reader.join(PATIENCE_S)
        return "".join(line for _, line in self.errors)

    def output(self):
        lines = (self.folder / "out").read_text().splitlines()
        for file in sorted(self.folder.glob("files/1/*/stdout")):
            lines += file.read_text().splitlines()
        return lines

    def written(self):
        """The files in the working directory that the program has written."""
        return [path for path in sorted(self.folder.iterdir()) if path.is_file() and path.name not in ("agent", "out")]

    def clear(self):
        shutil.rmtree(self.folder / "files", ignore_errors=True)
        for path in self.written():
            path.unlink()

    def finish(self, job, program, what, expected):
        """Whether the job has ended right; says what is wrong."""
        try:
            code = job.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            kill_whole(job)
            code = "none, it hangs"
        # Directories without a name go when they are some minutes old.
        left = [path.name for path in (self.folder / "store").glob("*") if not path.suffix]
        said = self.said()
        if code == 0 and program.compared(self.output(), self.written()) == expected and not left:
            return True
        self.wrong += 1
        print(f"WRONG: {program.name}, {what}: code {code}, store {left}\n{said[-2000:]}", flush=True)
        return False

    def undisturbed(self, program, words):
        self.clear()
        begun = time.time()
        if self.start(words).wait() != 0:
            sys.exit(f"outlive.py: {' '.join(words)}: {self.said()}")
        expected = program.compared(self.output(), self.written())
        if not expected:
            sys.exit(f"outlive.py: {program.name} prints nothing to compare")
        return expected, time.time() - begun

    def lose_nodes(self, program, runs, slots):
        common = ["-n", str(sum(slots)), "--launcher-exec", str(self.agent), "--qos", "node-fault-tolerant"]
        expected, took = self.undisturbed(program, [*common, "-H", host_list(slots), *program.words])
        right, losses, restarts = 0, 0, []
        for run in range(runs):
            hosts = host_list(slots if run % 2 else [*slots, slots[-1]])
            rules = [f"kill node {self.random.choice(HOSTS[1:len(slots)])} after {self.random.uniform(0, took):.3f} s"]
            if self.random.random() < 0.3:
                rules.append(f"kill node b after {self.random.uniform(0, took):.3f} s")
            words = [word for rule in rules for word in ("--inject", rule)]
            self.clear()
            job = self.start([*common, "-H", hosts, *words, *program.words])
            right += self.finish(job, program, f"{hosts} {rules}", expected)
            losses += self.said().count(MOMENTS[1])
            restarts += [steps for steps in [restart_steps(self.errors)] if steps]
        print(f"{program.name}: {right} of {runs} right, {losses} nodes lost, {took:.2f} s undisturbed", flush=True)
        print_steps(program.name, restarts)

    def resumed(self):
        """A job that goes on with what is kept; nothing: there is none."""
        listed = subprocess.check_output([str(self.build / "bin/llamada"), "job", "ls", "--json"], env=self.environment)
        jobs = json.loads(listed)["jobs"]
        return self.start(["--resume", jobs[0]["number"]], append=True) if jobs else None

    def lose_jobs(self, program, runs, ranks):
        words = ["-n", ranks, "--qos", "persistent", "--output-filename", "files:nocopy", *program.words]
        expected, took = self.undisturbed(program, words)
        right, kills = 0, 0
        for _ in range(runs):
            self.clear()
            job, lives = self.start(words), 0
            while lives < LIVES_MAX:
                try:
                    job.wait(self.random.uniform(0, 1.3 * took))
                    break
                except subprocess.TimeoutExpired:
                    kill_whole(job)
                    lives += 1
                    # Before it was kept, and when it was over, there is nothing to go on with.
                    job = self.resumed() or self.start(words)
            right += self.finish(job, program, f"killed {lives} times", expected)
            kills += lives
        print(f"{program.name}: {right} of {runs} right, killed {kills} times, {took:.2f} s undisturbed", flush=True)


def main(build, kind, runs, seed, *words):
    print(f"outlive.py: seed {seed}", flush=True)
    runner = Runner(pathlib.Path(build).resolve(), int(seed))
    options = dict(DEFAULTS)
    options.update(word.split("=", 1) for word in words if word.partition("=")[0] in DEFAULTS)
    slots = [int(count) for count in options["SHAPE"].split(",")]
    try:
        for word in [word for word in words if word.partition("=")[0] not in DEFAULTS] or PROGRAMS:
            program = Program(runner.build, word)
            if kind == "nodes":
                runner.lose_nodes(program, int(runs), slots)
            else:
                runner.lose_jobs(program, int(runs), options["RANKS"])
    finally:
        shutil.rmtree(runner.folder)
    sys.exit(1 if runner.wrong else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
