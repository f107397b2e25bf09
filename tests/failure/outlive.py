#!/usr/bin/env python3
"""Jobs that lose a node, or all of their processes, at random moments, and must end with the right answer.

outlive.py BUILD nodes|job RUNS SEED [PROGRAM ...]

Each program runs once undisturbed. Then, RUNS times: in `nodes` on three hosts that are this one, of which one is killed
by --inject, at times also a second; in `job` with DURABILITY PERSISTENT, killed whole and resumed again and again. The
exit code must be 0, standard output the same lines, and nothing may be left.
"""

import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

# Those whose output is the same in each run.
PROGRAMS = ["heat", "jacobi", "matmul", "farm", "ring", "collectives", "nondeterministic", "comm_storm", "ssend"]
LIVES_MAX = 8
PATIENCE_S = 300


def find_program(build, name):
    for folder in ("samples", "tests/failure", "tests/mpi"):
        path = build / folder / name
        if path.is_file():
            return str(path)
    sys.exit(f"outlive.py: {build} has no program {name}")


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

    def start(self, words, append=False):
        mode = "ab" if append else "wb"
        with open(self.folder / "out", mode) as out, open(self.folder / "errors", mode) as errors:
            return subprocess.Popen([str(self.build / "bin/mpirun"), *words], env=self.environment, cwd=self.folder,
                                    stdin=subprocess.DEVNULL, stdout=out, stderr=errors)

    def output(self):
        lines = (self.folder / "out").read_text().splitlines()
        for file in sorted(self.folder.glob("files/1/*/stdout")):
            lines += file.read_text().splitlines()
        return sorted(lines)

    def finish(self, job, name, what, expected):
        """Whether the job has ended right; says what is wrong."""
        try:
            code = job.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            kill_whole(job)
            code = "none, it hangs"
        # Directories without a name go when they are some minutes old.
        left = [path.name for path in (self.folder / "store").glob("*") if not path.suffix]
        if code == 0 and self.output() == expected and not left:
            return True
        self.wrong += 1
        print(f"WRONG: {name}, {what}: code {code}, store {left}\n{(self.folder / 'errors').read_text()[-2000:]}", flush=True)
        return False

    def undisturbed(self, words):
        begun = time.time()
        if self.start(words).wait() != 0:
            sys.exit(f"outlive.py: {' '.join(words)}: {(self.folder / 'errors').read_text()}")
        return self.output(), time.time() - begun

    def lose_nodes(self, name, runs):
        program = find_program(self.build, name)
        common = ["-n", "4", "--launcher-exec", str(self.agent), "--qos", "node-fault-tolerant"]
        expected, took = self.undisturbed([*common, "-H", "localhost:2,b:1,c:1", program])
        right, losses = 0, 0
        for _ in range(runs):
            packed = self.random.random() < 0.5
            hosts = "localhost:2,b:1,c:1" if packed else "localhost:2,b:1,c:1,d:1"
            rules = [f"kill node {self.random.choice('bc')} after {self.random.uniform(0, took):.3f} s"]
            if self.random.random() < 0.3:
                rules.append(f"kill node b after {self.random.uniform(0, took):.3f} s")
            words = [word for rule in rules for word in ("--inject", rule)]
            job = self.start([*common, "-H", hosts, *words, program])
            right += self.finish(job, name, f"{hosts} {rules}", expected)
            losses += len(re.findall(r" is lost: ", (self.folder / "errors").read_text()))
        print(f"{name}: {right} of {runs} right, {losses} nodes lost, {took:.2f} s undisturbed", flush=True)

    def resumed(self):
        """A job that goes on with what is kept; nothing: there is none."""
        listed = subprocess.check_output([str(self.build / "bin/llamada"), "job", "ls", "--json"], env=self.environment)
        jobs = json.loads(listed)["jobs"]
        return self.start(["--resume", jobs[0]["number"]], append=True) if jobs else None

    def lose_jobs(self, name, runs):
        words = ["-n", "3", "--qos", "persistent", "--output-filename", "files:nocopy", find_program(self.build, name)]
        expected, took = self.undisturbed(words)
        right, kills = 0, 0
        for _ in range(runs):
            shutil.rmtree(self.folder / "files", ignore_errors=True)
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
            right += self.finish(job, name, f"killed {lives} times", expected)
            kills += lives
        print(f"{name}: {right} of {runs} right, killed {kills} times, {took:.2f} s undisturbed", flush=True)


def main(build, kind, runs, seed, *programs):
    print(f"outlive.py: seed {seed}", flush=True)
    runner = Runner(pathlib.Path(build).resolve(), int(seed))
    try:
        for name in programs or PROGRAMS:
            (runner.lose_nodes if kind == "nodes" else runner.lose_jobs)(name, int(runs))
    finally:
        shutil.rmtree(runner.folder)
    sys.exit(1 if runner.wrong else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
