"""PERSISTENT MPI jobs whose store fails: rows 13 and 14 of persistence.py. The death of jobs alone is outlive.py's."""

import errno
import re
import shutil
import time

from outlive import Program, Runner, kill_whole

PROGRAM = "nondeterministic"
LASTING = 1000000
SENTENCE = re.compile(r"cannot be resumed|store|No space|Input/output|damaged", re.I)


class Job:
    """A job with a store of its own, whose answer is known."""

    expected, took = None, 0

    def __init__(self, build, draw):
        self.runner = Runner(build, draw.randrange(1 << 30))
        self.program = Program(build, PROGRAM)
        self.store = self.runner.folder / "store"
        self.words = ["-n", "3", "--qos", "persistent", *self.program.words]
        if Job.expected is None:
            Job.expected, Job.took = self.runner.undisturbed(self.program, self.words)

    def fault(self, job, may_be_refused):
        """Nothing, if it ended with the right answer, or says in a sentence why it does not."""
        code = job.wait(120)
        said = self.runner.said()
        if code == 0 and self.program.compared(self.runner.output())[-len(Job.expected):] == Job.expected:
            return None
        if may_be_refused and code != 0 and SENTENCE.search(said) and "WRONG" not in said:
            return None
        return f"code {code}, output {self.runner.output()[-3:]}: {said[-1500:]}"

    def end(self):
        shutil.rmtree(self.runner.folder, ignore_errors=True)


def disk_fails(build, draw):
    """mpirun's calls on the store fail. The job comes to its end, and mpirun says that it cannot be resumed; a failure that
    is over at once is made good in a further segment, and nothing need be said."""
    job = Job(build, draw)
    call, error = draw.choice([("pwrite", errno.EIO), ("pwrite", errno.ENOSPC), ("pwrite", "short"), ("fdatasync", errno.EIO),
                               ("fallocate", errno.ENOSPC)])
    count = draw.choice([1, 3, LASTING])
    # What fails for good near the end of a job hurts nobody: its store is removed.
    rule = f"{call}:{error}:{draw.randrange(4 if count == LASTING else 8)}:{count}"
    journal = job.runner.folder / "journal"
    plain = job.runner.environment
    job.runner.environment = {**plain, "LD_PRELOAD": str(build / "tests/failing_disk.so"), "FAIL_BELOW": str(job.store),
                              "FAIL": rule, "FAIL_JOURNAL": str(journal)}
    wrong = job.fault(job.runner.start(job.words), may_be_refused=True)
    came = f"f {call}" in (journal.read_text() if journal.exists() else "")
    if not wrong and came and count == LASTING and error != "short" and not SENTENCE.search(job.runner.said()):
        wrong = f"mpirun says nothing of it: {job.runner.said()}"
    job.end()
    return f"a job, {rule}" + ("" if came else " (did not come)"), wrong


def bits_flip(build, draw):
    """A job is killed, and its store is damaged: it is resumed and right, or refused with a sentence."""
    job = Job(build, draw)
    running = job.runner.start(job.words)
    time.sleep(draw.uniform(0.2, 1) * Job.took)
    kill_whole(running)
    segments = [each for each in sorted(job.store.rglob("*.seg")) if each.read_bytes().strip(b"\0")]
    what = "a job, nothing was kept yet"
    wrong = None
    if segments:
        path = draw.choice(segments)
        data = bytearray(path.read_bytes())
        used = len(data.rstrip(b"\0"))
        shape = draw.choice(["flip", "cut"])
        place = draw.randrange(used)
        if shape == "flip":
            data[place] ^= 1 << draw.randrange(8)
        else:
            data[place:used] = bytes(used - place)
        path.write_bytes(data)
        what = f"a job, {shape} in {path.name} at {place} of {used}"
        again = job.runner.resumed()
        if again is None:
            what += ", not to be resumed"
        else:
            wrong = job.fault(again, may_be_refused=True)
            what += ": right" if not wrong and again.returncode == 0 else f": {job.runner.said().splitlines()[-1:]}"
    job.end()
    return what, wrong


ROWS = {"13": [disk_fails], "14": [bits_flip]}
