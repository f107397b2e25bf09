#!/usr/bin/env python3
"""damaged_checkpoints.py MPIRUN LLAMADA PROGRAM PART SEED [ROUNDS]: files of checkpoints are damaged, cut off
or removed, and then needed. PROGRAM is tests/mpi/checkpointed. No answer is wrong, nothing hangs, and nothing is left. PART is
  resumed   all processes of a job are killed, and mpirun --resume goes on from an earlier checkpoint, while ranks are killed;
            or it ends with one sentence, since the last two checkpoints are damaged
  replaced  a rank is killed in a job with a record: all ranks start again from an earlier checkpoint
  node      the same after the loss of a node
  alone     a rank is killed in a job without a record: the job ends with one sentence"""
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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "failure"))
from outlive import family, kill_whole, send  # noqa: E402

RANKS, STEPS, EVERY = 3, 60, 3
END_SECONDS = 120
ENDS_UNPROTECTED = 123


def flip(path, chance):
    content = bytearray(path.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


def cut_off(path, chance):
    os.truncate(path, chance.randrange(path.stat().st_size))


def remove(path, _):
    path.unlink()


DAMAGES = (flip, cut_off, remove)


def command_of(pid):
    return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].decode()


def rank_of(pid):
    words = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return next(int(word[9:]) for word in words if word.startswith(b"PMI_RANK="))


class Test:
    def __init__(self, mpirun, llamada, program, chance):
        self.mpirun, self.llamada, self.program, self.chance = mpirun, llamada, program, chance
        self.failures, self.given_up, self.earlier, self.ended = 0, 0, 0, 0
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="damaged."))
        self.store = self.work / "store"
        self.environment = dict(os.environ, LLAMADA_STORE=str(self.store))
        agent = self.work / "agent"
        agent.write_text('#!/bin/sh\nshift\nexec setsid -w "$@"\n')
        agent.chmod(0o755)

    def start(self, *options, is_new=True):
        if is_new:
            for name in ("files", "store"):
                shutil.rmtree(self.work / name, ignore_errors=True)
            (self.work / "appended").unlink(missing_ok=True)
            options += ("-n", str(RANKS), "--output-filename", f"{self.work}/files:nocopy", self.program, str(STEPS), "3000",
                        str(EVERY), f"{self.work}/appended")
        self.errors = open(self.work / "errors", "w" if is_new else "a")
        return subprocess.Popen([self.mpirun, *options], env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=self.errors)

    def said(self):
        return (self.work / "errors").read_text()

    def wrong(self, what):
        self.failures += 1
        print(f"WRONG: {what}\n{self.said()[-2000:]}")

    def images(self):
        """The numbers of checkpoints of which each rank has a file, in order, and the folder of the files."""
        folders = list(self.store.glob("*.checkpoints"))
        found = {}
        for path in folders[0].iterdir() if folders else ():
            found.setdefault(int(path.name.split(".")[0]), []).append(path)
        return sorted(number for number, files in found.items() if len(files) == RANKS), folders

    def await_checkpoint(self, job, least):
        end = time.monotonic() + END_SECONDS
        while time.monotonic() < end and job.poll() is None:
            numbers, _ = self.images()
            if numbers and numbers[-1] >= least:
                time.sleep(self.chance.uniform(0, 0.05))  # it is not passed yet
                return
            time.sleep(0.002)
        self.wrong(f"checkpoint {least} never came")

    def damage(self, count=1, rank=None):
        """The last checkpoints that are there, each in one file: of this rank or of any."""
        numbers, folders = self.images()
        for number in numbers[-count:]:
            of_rank = self.chance.randrange(RANKS) if rank is None else rank
            self.chance.choice(DAMAGES)(folders[0] / f"{number}.{of_rank}", self.chance)

    def end(self, job, what):
        """Waits for it; gives the exit code."""
        try:
            return job.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.wrong(f"{what}: it hangs")
            kill_whole(job)
            return None

    def check_right(self, code, what):
        digest = subprocess.run([sys.executable, str(pathlib.Path(__file__).with_name("digest.py")),
                                 str(next(self.work.glob("files/*/rank.0/stdout")))], capture_output=True, text=True)
        output = next(self.work.glob("files/*/rank.0/stdout")).read_text().splitlines(keepends=True)
        if code != 0:
            self.wrong(f"{what}: code {code}")
        elif digest.stdout != f"True {2 * STEPS + 3}\n":
            self.wrong(f"{what}: output: {digest.stdout}")
        elif "".join(output[:-1]) != (self.work / "appended").read_text():
            self.wrong(f"{what}: the appended file differs")
        self.check_left(what)
        self.given_up += len(re.findall("is given up|are gone", self.said()))
        self.earlier += len(re.findall(r"are gone; all ranks go on from checkpoint \d+", self.said()))

    def check_left(self, what):
        if self.store.is_dir() and any(self.store.iterdir()):
            self.wrong(f"{what}: left: {list(self.store.iterdir())}")

    def number(self):
        listed = subprocess.run([self.llamada, "job", "ls", "--json"], env=self.environment, capture_output=True, text=True)
        return json.loads(listed.stdout)["jobs"][0]["number"]

    def stop(self, job):
        """All of its processes, so that a file is damaged before anybody reads it."""
        for _ in range(3):
            pids = family(job.pid)
            send(pids, signal.SIGSTOP)
        return pids

    def kill_a_rank(self, job):
        pids = self.stop(job)
        ranks = [pid for pid in pids if os.path.realpath(f"/proc/{pid}/exe") == os.path.realpath(self.program)]
        if ranks:
            killed = self.chance.choice(ranks)
            self.damage(1, rank_of(killed))
            send([killed], signal.SIGKILL)
        send(pids, signal.SIGCONT)

    def resumed(self, round_number):
        job = self.start("--qos", "persistent")
        lives, last = 1 + round_number % 3, 0
        for life in range(lives):
            # Behind those that are damaged already, so that two in a row never are by accident.
            self.await_checkpoint(job, max(2 + self.chance.randrange(3) + life, last + 2))
            kill_whole(job)
            last = self.images()[0][-1]
            # What was recorded before the last two is no longer kept, unless these are the first.
            count = self.chance.choice((1, 1, 2)) if life == lives - 1 else 1
            self.damage(count)
            # Ranks die on the way to the checkpoint that was given up, and behind it.
            kills = f"kill any every ~{self.chance.choice((20, 60, 120))} ms 4 times seed {self.chance.randrange(1 << 30)}"
            job = self.start("--resume", self.number(), "--inject", kills, is_new=False)
        what = f"resumed {lives} times"
        code = self.end(job, what)
        told = re.findall(r"cannot go on from checkpoint \d+: |it cannot be resumed: files of the checkpoints", self.said())
        if count == 2 and code != 0 and told:
            self.ended += 1
            if "it cannot be resumed" in self.said():  # somebody may bring the files back
                subprocess.run([self.llamada, "job", "rm", self.number()], env=self.environment, check=True, stdout=subprocess.DEVNULL)
            elif code != ENDS_UNPROTECTED:
                self.wrong(f"{what}: it has ended with code {code}")
            self.check_left(what)
        else:
            self.check_right(code, what)

    def replaced(self, _):
        job = self.start("--qos", "persistent")
        self.await_checkpoint(job, 3 + self.chance.randrange(8))
        self.kill_a_rank(job)
        self.check_right(self.end(job, "replaced"), "replaced")

    def node(self, _):
        job = self.start("--qos", "node-fault-tolerant", "--launcher-exec", str(self.work / "agent"), "-H", "localhost:2,b:1")
        self.await_checkpoint(job, 3 + self.chance.randrange(8))
        pids = self.stop(job)
        self.damage()
        lost = family(next(pid for pid in pids if command_of(pid).endswith("setsid")))
        send(lost, signal.SIGKILL)
        send([pid for pid in pids if pid not in lost], signal.SIGCONT)
        self.check_right(self.end(job, "node"), "node")

    def alone(self, _):
        job = self.start("--qos", "fault-tolerant")
        self.await_checkpoint(job, 3 + self.chance.randrange(8))
        self.kill_a_rank(job)
        code = self.end(job, "alone")
        told = re.findall(r"^mpirun: rank \d: it cannot go on from checkpoint \d+: .*", self.said(), re.MULTILINE)
        if code == ENDS_UNPROTECTED and len(told) == 1:
            self.given_up += 1
            self.check_left("alone")
        else:  # the rank died before it had passed the checkpoint, or was at its end
            self.check_right(code, "alone")


def main():
    mpirun, llamada, program, part, seed = sys.argv[1:6]
    test = Test(mpirun, llamada, program, random.Random(int(seed)))
    rounds = int(sys.argv[6]) if len(sys.argv) > 6 else 9
    try:
        for round_number in range(rounds):
            getattr(test, part)(round_number)
        if test.given_up == 0:
            test.wrong("no damaged file was needed")
        if part == "resumed" and test.ended == 0:
            test.wrong("no job ended because the last two checkpoints were damaged")
        if test.earlier == 0 and part != "alone":
            test.wrong("no job went on from an earlier checkpoint")
    finally:
        if not test.failures:
            shutil.rmtree(test.work)
    print(f"{part}: {rounds} rounds, {test.given_up} checkpoints given up, {test.earlier} times an earlier one was used, "
          f"{test.ended} ended, {test.failures} wrong")
    return min(test.failures, 1)


if __name__ == "__main__":
    sys.exit(main())
