#!/usr/bin/env python3
"""standby.py MPIRUN PROGRAM PART SEED [COUNT]: ranks are killed that leave parked copies of themselves. Each job ends with code 0
and the output and files of an undisturbed one, and leaves no process. PROGRAM is tests/mpi/standby.
PART is
  random    kills at random moments
  steps     a kill at each step of the making of a copy and of its way back
  together  a rank and its copy are killed at once, and a copy alone
  again     a rank is killed again and again, sooner than the next copy would be due
  diverging a copy goes another way: it and the copy that it has left are given up
  waking    a rank is killed, and its copy as it is woken
  ends      mpirun or llamanetd is killed: no copy stays
  skipped   programs of which no copy can be made
  resumed   only with .persistent: all processes are killed, and the job is resumed
  lost      only with .nodes.transient: a node is lost with its copies, and then ranks are killed
  other     the same as random, with a program and its arguments behind COUNT and '--'
Behind it may stand
  .nodes       the ranks are on two nodes, which are llamanetds of this machine
  .transient   with DURABILITY TRANSIENT instead of TRANSIENT_LOCAL
  .persistent  with DURABILITY PERSISTENT"""
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

PROFILE = """<dds><qos_library name='test'><qos_profile name='standby' base_name='llamada::{}'><rank_replacement>
<max_replacements_per_rank>100</max_replacements_per_rank><standby_interval>{}</standby_interval>{}
</rank_replacement></qos_profile></qos_library></dds>"""
WAIT_SECONDS = 30
NODES = ["--launcher", "fork", "--host", "localhost:1,other:2"]


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
        self.environment = dict(os.environ, STANDBY_TEST=os.path.basename(self.folder), LLAMADA_STORE=os.path.join(self.folder, "store"))
        command = [test.mpirun, "-v", "-n", str(ranks), "--report", "report.json", *test.hosts, *options, *program]
        self.out = open(os.path.join(self.folder, "out"), "wb")
        self.errors = open(os.path.join(self.folder, "errors"), "wb")
        self.process = subprocess.Popen(command, cwd=self.folder, stdout=self.out, stderr=self.errors,
                                        stdin=subprocess.DEVNULL, env=self.environment)

    def resume(self, test, numbers, options):
        """The job goes on; of one that was over before it was killed nothing is kept."""
        assert len(numbers) == 1, numbers
        command = [test.mpirun, "--resume", numbers[0], "-v", "--report", "report.json", *test.hosts, *options]
        self.process = subprocess.Popen(command, cwd=self.folder, stdout=self.out, stderr=self.errors, stdin=subprocess.DEVNULL,
                                        env=self.environment)

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
    def __init__(self, mpirun, program, seed, variants):
        self.mpirun, self.program, self.random = os.path.abspath(mpirun), os.path.abspath(program), random.Random(seed)
        self.hosts = NODES if "nodes" in variants else []
        self.base = next((base for name, base in (("transient", "node_fault_tolerant"), ("persistent", "persistent"))
                          if name in variants), "fault_tolerant")
        self.folder = tempfile.mkdtemp()
        self.failures = 0
        self.expected = {}
        self.sums = dict(runs=0, deaths=0, made=0, woken=0, skipped=0)

    def profile(self, interval, more=""):
        path = os.path.join(self.folder, f"profile.{interval}.{len(more)}.xml")
        with open(path, "w") as file:
            file.write(PROFILE.format(self.base, interval, more))
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

    def check(self, job, ranks, what, useless=0):
        """Ends the job and looks at all of it. Gives the totals of its report."""
        expected = self.undisturbed(ranks, job.program)
        code = job.end()
        before = self.failures
        if code != 0:
            self.wrong(job, f"{what}: code {code}")
        elif job.output() != expected:
            self.wrong(job, f"{what}: another output")
        if len(re.findall("^.*(?:of no use|diverged).*$", job.text("errors"), re.M)) != useless:
            self.wrong(job, f"{what}: {useless} copies should have gone another way")
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
    """The step is armed in rank 1, and so in its copies. Steps of the way back need the death of the rank first."""
    program = [test.program, "300", "3000", "1"]
    test.undisturbed(3, program)
    for step in steps_of:
        is_of_rank = step in ("begun", "made")
        rule = f"kill rank 1 at step standby:{step}:{test.random.randint(1, 3) if is_of_rank else 1}"
        job = test.start(3, program, [*test.profile("0.02"), "--inject", rule])
        if not is_of_rank:
            wait_until(lambda: job.ranks()[1].get(1))
            time.sleep(test.random.random() * 0.2)
            all_of, parked = job.ranks()
            send(set(all_of.get(1, [])) - set(parked.get(1, [])), signal.SIGKILL)
        deaths = test.sums["deaths"]
        test.check(job, 3, f"at step {step}")
        if test.sums["deaths"] - deaths < (1 if is_of_rank else 2):
            print(f"WRONG: nobody came to step {step}")
            test.failures += 1


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


def again(test, count):
    """Each process of a rank leaves a copy, at the latest as it becomes the rank."""
    program = [test.program, "300", "5000", "1"]
    test.undisturbed(3, program)
    for _ in range(count):
        job = test.start(3, program, test.profile("0.6"))
        rank, kills = test.random.randrange(3), 4
        for _ in range(kills):
            parked = wait_until(lambda: job.ranks()[1].get(rank))
            time.sleep(test.random.random() * 0.05)
            all_of, parked = job.ranks()
            send(set(all_of.get(rank, [])) - set(parked.get(rank, [])), signal.SIGKILL)
            wait_until(lambda: not set(parked.get(rank, [])) & set(job.ranks()[1].get(rank, [])))
        totals = test.check(job, 3, f"rank {rank} is killed {kills} times")
        if totals and totals["standbys_woken"] != kills:
            test.failures += 1
            print(f"WRONG: {kills} kills, {totals['standbys_woken']} copies went on")


def diverging(test, count):
    program = [test.program, "1000", "3000", "1", "wiped"]
    test.undisturbed(2, program)
    for _ in range(count):
        job = test.start(2, program, test.profile("1.5"))
        wait_until(lambda: job.ranks()[1].get(1))
        time.sleep(0.1)  # steps that the copy is to repeat
        all_of, parked = job.ranks()
        send(set(all_of.get(1, [])) - set(parked.get(1, [])), signal.SIGKILL)
        deaths = test.sums["deaths"]
        totals = test.check(job, 2, "a copy without a page", useless=1)
        if totals and (totals["standbys_woken"], test.sums["deaths"] - deaths) != (1, 2):
            test.failures += 1
            print(f"WRONG: {totals['standbys_woken']} copies went on, {test.sums['deaths'] - deaths} deaths")


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


def lost(test, count):
    """A node is lost with its copies; all ranks start again, make copies again, and go on from these."""
    program = [test.program, "400", "3000", "1"]
    test.undisturbed(3, program)
    for _ in range(count):
        after = test.random.randint(30, 120) * 10
        options = test.profile(test.random.choice(["0.02", "0.1"]))
        for rule in (f"kill node other after {after} ms", f"kill rank 1 in MPI_Allreduce {test.random.randint(330, 390)}",
                     f"kill rank 0 in MPI_Allreduce {test.random.randint(330, 390)}"):
            options += ["--inject", rule]
        job = test.start(3, program, options)
        job.process.wait()
        if len(re.findall("all ranks have caught up", job.text("errors"))) != 1:
            test.wrong(job, "no node was lost")
        after_loss = job.text("errors").rpartition("all ranks have caught up")[2]
        test.check(job, 3, f"a node is lost after {after} ms")
        if "goes on from its standby of " not in after_loss:
            test.wrong(job, f"a node was lost after {after} ms, and no copy went on afterwards")


def resumed(test, count):
    """All processes of a job are killed while ranks are replaced by copies, and the job is resumed."""
    program = [test.program, "300", "3000", "1"]
    lines, files = test.undisturbed(3, program)
    for _ in range(count):
        rule = f"kill any every ~90 ms 8 times seed {test.random.randrange(1000000)}"
        job = test.start(3, program, [*test.profile("0.02"), "--inject", rule])
        wait_until(lambda: job.ranks()[1])
        time.sleep(test.random.random() * 1.2)
        test.kill(lambda: [pid for pid, _, _ in job.processes()])
        job.process.wait()
        test.check_gone(job)
        kept = os.listdir(os.path.join(job.folder, "store"))
        job.resume(test, [each for each in kept if len(each) == 16], ["--inject", rule])
        if job.end() != 0:
            test.wrong(job, f"resumed, {rule}")
        elif sorted(set(job.text("out").splitlines())) != lines or job.output()[1] != files:
            test.wrong(job, f"resumed, {rule}: another output")
        else:
            test.sums["runs"] += 1
            test.sums["woken"] += job.report()["totals"]["standbys_woken"]
            shutil.rmtree(job.folder)


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
    part, *variants = part.split(".")
    test = Test(mpirun, program, int(seed), variants)
    if part == "random":
        random_kills(test, count, [program, "120", "3000", "1"])
    elif part == "steps":
        of_copies = ["copy-numbered", "copy-begun"] if "nodes" in variants else []
        steps(test, ["begun", "made", "chosen", "woken", "attached", "arena-adopted", *of_copies, "logs-opened", "replaying"])
    elif part == "together":
        together(test, count)
    elif part == "again":
        again(test, count)
    elif part == "diverging":
        diverging(test, count)
    elif part == "waking":
        waking(test, count)
    elif part == "ends":
        ends(test)
    elif part == "skipped":
        skipped(test)
    elif part == "lost":
        lost(test, count)
    elif part == "resumed":
        resumed(test, count)
    elif part == "other":
        random_kills(test, count, [os.path.abspath(sys.argv[7]), *sys.argv[8:]])
    print(sys.argv[3], *(f"{name} {number}" for name, number in test.sums.items()))
    if not test.failures:
        shutil.rmtree(test.folder)
    sys.exit(test.failures > 0)


main()
