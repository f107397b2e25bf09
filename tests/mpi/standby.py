#!/usr/bin/env python3
"""standby.py MPIRUN PROGRAM PART SEED [COUNT]: ranks are killed that leave parked copies of themselves. Each job ends with code 0
and the output and files of an undisturbed one, and leaves no process. PROGRAM is tests/mpi/standby.
PART is
  random    kills at random moments
  steps     a kill at each step of the making of a copy and of its way back
  together  a rank and its copy are killed at once, and a copy alone
  waking    a rank is killed, and its copy as it is woken
  ends      mpirun or llamanetd is killed: no copy stays
  skipped   programs of which no copy can be made
  other     the same as random, with a program and its arguments behind COUNT and '--'"""
import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PROFILE = """<dds><qos_library name='test'><qos_profile name='standby' base_name='llamada::fault_tolerant'><rank_replacement>
<max_replacements_per_rank>100</max_replacements_per_rank><standby_interval>{}</standby_interval>{}
</rank_replacement></qos_profile></qos_library></dds>"""
WAIT_SECONDS = 30


def wait_until(condition, seconds=WAIT_SECONDS):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    return condition()


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def started(pid):
    """When a process was started, in the kernel's unit."""
    return int((read(f"/proc/{pid}/stat").rpartition(b")")[2].split() or [0] * 20)[19])


def send(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


class Job:
    """One job of a program, in a folder of its own."""

    def __init__(self, test, ranks, program, options):
        self.folder = tempfile.mkdtemp(dir=test.folder)
        with open(os.path.join(self.folder, "input"), "w") as file:
            file.writelines(f"{number * 7919 % 1000003}\n" for number in range(20000))
        self.mark = f"STANDBY_TEST={os.path.basename(self.folder)}"
        self.program = program
        environment = dict(os.environ, STANDBY_TEST=os.path.basename(self.folder))
        command = [test.mpirun, "-v", "-n", str(ranks), "--report", "report.json", *options, *program]
        self.out = open(os.path.join(self.folder, "out"), "wb")
        self.errors = open(os.path.join(self.folder, "errors"), "wb")
        self.process = subprocess.Popen(command, cwd=self.folder, stdout=self.out, stderr=self.errors,
                                        stdin=subprocess.DEVNULL, env=environment)

    def processes(self):
        """Those of the job that live: pid, executable, environment."""
        found = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            environment = read(f"/proc/{entry}/environ").decode(errors="replace").split("\0")
            if self.mark not in environment:
                continue
            try:
                found.append((int(entry), os.readlink(f"/proc/{entry}/exe"), environment))
            except OSError:
                pass
        return found

    def ranks(self):
        """By rank: the pids of its process and its copies, and of those that are parked for certain."""
        all_of, parked = {}, {}
        executable = os.path.realpath(self.program[0])
        for pid, exe, environment in self.processes():
            if exe != executable:
                continue
            rank = int(next(each[9:] for each in environment if each.startswith("PMI_RANK=")))
            all_of.setdefault(rank, []).append(pid)
            try:
                if os.readlink(f"/proc/{pid}/fd/1") == "/dev/null":
                    parked.setdefault(rank, []).append(pid)
            except OSError:
                pass
        return all_of, parked

    def end(self):
        """Waits for mpirun. Gives its exit code, or None if it had to be killed."""
        try:
            code = self.process.wait(240)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            code = None
        self.out.close()
        self.errors.close()
        return code

    def text(self, name):
        return read(os.path.join(self.folder, name)).decode(errors="replace")

    def output(self):
        """What a job has written: its lines in any order, and its files."""
        files = sorted(glob.glob(os.path.join(self.folder, "written.*")))
        return sorted(self.text("out").splitlines()), [(os.path.basename(each), read(each)) for each in files]

    def report(self):
        return json.loads(self.text("report.json"))


class Test:
    def __init__(self, mpirun, program, seed):
        self.mpirun, self.program, self.random = os.path.abspath(mpirun), os.path.abspath(program), random.Random(seed)
        self.folder = tempfile.mkdtemp()
        self.failures = 0
        self.expected = {}
        self.sums = dict(runs=0, deaths=0, made=0, woken=0, skipped=0)

    def profile(self, interval, more=""):
        path = os.path.join(self.folder, f"profile.{interval}.{len(more)}.xml")
        with open(path, "w") as file:
            file.write(PROFILE.format(interval, more))
        return ["--qos", path]

    def wrong(self, job, text):
        self.failures += 1
        lines = job.text("errors").splitlines()
        print(f"WRONG: {text} ({job.folder})", *lines[-25:], sep="\n    ", flush=True)

    def start(self, ranks, program, options):
        return Job(self, ranks, program, options)

    def undisturbed(self, ranks, program):
        key = (ranks, *program)
        if key not in self.expected:
            job = self.start(ranks, program, [])
            if job.end() != 0:
                self.wrong(job, "the undisturbed run failed")
            self.expected[key] = job.output()
        return self.expected[key]

    def check_gone(self, job):
        left = wait_until(lambda: not job.processes()) or job.processes()
        if left is not True:
            self.wrong(job, f"processes are left: {left}")

    def check(self, job, ranks, what):
        """Ends the job and looks at all of it. Gives the totals of its report."""
        expected = self.undisturbed(ranks, job.program)
        code = job.end()
        before = self.failures
        if code != 0:
            self.wrong(job, f"{what}: code {code}")
        elif job.output() != expected:
            self.wrong(job, f"{what}: another output")
        if re.search("of no use|diverged", job.text("errors")):
            self.wrong(job, f"{what}: a copy went another way")
        self.check_gone(job)
        totals = job.report()["totals"] if code == 0 else {}
        if code == 0:
            woken = job.text("errors").count("goes on from its standby of ")
            if totals["standbys_woken"] < woken:
                self.wrong(job, f"{what}: {woken} copies went on, and the report has {totals['standbys_woken']}")
            self.sums["runs"] += 1
            self.sums["deaths"] += len(job.report()["deaths"])
            for each in ("made", "woken", "skipped"):
                self.sums[each] += totals[f"standbys_{each}"]
        if self.failures == before:
            shutil.rmtree(job.folder)
        return totals

    def kill(self, find):
        """All that find() gives are stopped first, so that none ends because of another's end, nor makes another."""
        stopped = set()
        while new := set(find()) - stopped:
            send(new, signal.SIGSTOP)
            stopped |= new
        # Copies, which are younger, before a rank: none is woken meanwhile.
        send(sorted(stopped, key=started, reverse=True), signal.SIGKILL)


def random_kills(test, count, program, ranks=3):
    for _ in range(count):
        interval = test.random.choice(["0.005", "0.02", "0.05", "0.2"])
        every = test.random.choice([40, 90, 200])
        rule = f"kill any every ~{every} ms 8 times seed {test.random.randrange(1000000)}"
        job = test.start(ranks, program, [*test.profile(interval), "--inject", rule])
        test.check(job, ranks, f"standby_interval {interval}, {rule}")


def steps(test, steps_of):
    program = [test.program, "60", "2000", "1"]
    for step in steps_of:
        options = test.profile("0.02")
        if step in ("begun", "made"):
            rules = [f"kill rank 1 at step standby:{step}:{test.random.randint(1, 3)}"]
        else:
            rules = [f"kill rank 1 in MPI_Allreduce {test.random.randint(30, 50)}",
                     f"kill rank 1 at step standby:{step}:1"]
        for rule in rules:
            options += ["--inject", rule]
        job = test.start(3, program, options)
        totals = test.check(job, 3, f"at step {step}")
        if totals and len(rules) > 1 and totals["standbys_made"] == 0:
            print(f"at step {step}: no copy was made")


def together(test, count):
    program = [test.program, "300", "5000", "1"]
    test.undisturbed(3, program)
    for number in range(count):
        is_alone = number % 2 == 1
        job = test.start(3, program, test.profile("0.05"))
        rank = test.random.randrange(3)
        is_there = wait_until(lambda: job.ranks()[1].get(rank))
        time.sleep(test.random.random() * 0.3)
        what = f"rank {rank}'s copy alone" if is_alone else f"rank {rank} and its copy"
        if is_alone:
            send(job.ranks()[1].get(rank, []), signal.SIGKILL)
        else:
            test.kill(lambda: job.ranks()[0].get(rank, []))
        before = dict(test.sums)
        totals = test.check(job, 3, what)
        deaths = test.sums["deaths"] - before["deaths"]
        # The copy may be chosen as the next process before it has died of its signal: then that is a death, too.
        if not is_there or totals and (totals["standbys_woken"] != 0 or deaths not in ((0,) if is_alone else (1, 2))):
            test.failures += 1
            print(f"WRONG: {what}: {deaths} deaths, {totals.get('standbys_woken')} copies went on")


def waking(test, count):
    """A rank is killed, and its copy a moment later, as it becomes the rank."""
    program = [test.program, "300", "5000", "1"]
    test.undisturbed(3, program)
    for _ in range(count):
        job = test.start(3, program, test.profile("0.1"))
        rank = test.random.randrange(3)
        wait_until(lambda: job.ranks()[1].get(rank))
        all_of, parked = job.ranks()
        copies = parked.get(rank, [])
        send(set(all_of.get(rank, [])) - set(copies), signal.SIGKILL)
        delay = test.random.random() * test.random.choice([0.002, 0.01, 0.04])
        time.sleep(delay)
        send(copies, signal.SIGKILL)
        test.check(job, 3, f"rank {rank} and {1000 * delay:.1f} ms later its copy")


def ends(test):
    for name in ("mpirun", "llamanetd"):
        program = [test.program, "100000", "1000", "1"]
        job = test.start(3, program, test.profile("0.05"))
        if not wait_until(lambda: len(job.ranks()[1]) == 3):
            test.wrong(job, "not all ranks have a copy")
        send([pid for pid, exe, _ in job.processes() if os.path.basename(exe) == name], signal.SIGKILL)
        job.end()
        test.check_gone(job)


def skipped(test):
    reasons = {"pipe": "is open, and is no regular file", "twice": "input (descriptor ", "timer": "the program has set a timer",
               "file": "the program has used files of MPI", "requests": "communication was under way"}
    for obstacle, reason in reasons.items():
        program = [test.program, "60", "1000", "1", obstacle]
        job = test.start(2, program, [*test.profile("0.01"), "--inject", "kill rank 1 in MPI_Allreduce 40"])
        test.undisturbed(2, program)
        job.process.wait()
        said = re.findall(r"rank (\d): no standby was made: .*" + re.escape(reason), job.text("errors"))
        if said.count("0") != 1:
            test.wrong(job, f"{obstacle}: the reason was said {said.count('0')} times")
        totals = test.check(job, 2, obstacle)
        if totals and (totals["standbys_made"] != 0 or totals["standbys_skipped"] == 0):
            print(f"WRONG: {obstacle}: {totals['standbys_made']} made, {totals['standbys_skipped']} skipped")
            test.failures += 1


def main():
    mpirun, program, part, seed = sys.argv[1:5]
    program = os.path.abspath(program)
    count = int(sys.argv[5]) if len(sys.argv) > 5 else 2
    test = Test(mpirun, program, int(seed))
    if part == "random":
        random_kills(test, count, [program, "120", "3000", "1"])
    elif part == "steps":
        steps(test, ["begun", "made", "woken", "attached", "arena-adopted", "logs-opened", "replaying"])
    elif part == "together":
        together(test, count)
    elif part == "waking":
        waking(test, count)
    elif part == "ends":
        ends(test)
    elif part == "skipped":
        skipped(test)
    elif part == "other":
        random_kills(test, count, [os.path.abspath(sys.argv[7]), *sys.argv[8:]])
    print(part, *(f"{name} {number}" for name, number in test.sums.items()))
    if not test.failures:
        shutil.rmtree(test.folder)
    sys.exit(test.failures > 0)


main()
