"""PERSISTENT MPI jobs whose mpirun, which keeps their record, dies or stands still, and jobs whose store fails: rows 12 to 14
of persistence.py. The death of whole jobs is outlive.py's."""

import errno
import pathlib
import re
import shutil
import signal
import time

import kept_bed
from outlive import Program, Runner, family, is_alive, kill_whole, send

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


def await_end(pids, patience_s=60):
    """Those of them that are still there after all this time."""
    until = time.monotonic() + patience_s
    while (left := [pid for pid in pids if is_alive(pid)]) and time.monotonic() < until:
        time.sleep(0.01)
    return left


def kill_some(job, running, words, draw, victims):
    """Kills mpirun, a rank, or both at once. The job that goes on, and what is wrong or nothing."""
    everybody = family(running.pid)
    ranks = [pid for pid in everybody if kept_bed.command(pid)[:1] == [pathlib.Path(job.program.words[0]).name]]
    kept_bed.kill_together([running.pid] * ("mpirun" in victims) + [draw.choice(ranks)] * ("rank" in victims and bool(ranks)))
    if "mpirun" not in victims:
        return running, None
    running.wait()
    left = await_end(everybody)
    if left:
        send(left, signal.SIGKILL)
        return running, f"without mpirun these went on: {[kept_bed.command(pid) for pid in left]}"
    again = job.runner.resumed()
    if again is None:  # nothing was kept yet, or all was over
        shutil.rmtree(job.runner.folder / "files", ignore_errors=True)
        again = job.runner.start(words)
    return again, None


def recorder_fails(build, draw, victims):
    """mpirun, which keeps the record, is killed alone, or with a rank, or stands still. The job is resumed, and right."""
    job = Job(build, draw)
    words = [*job.words[:4], "--output-filename", "files:nocopy", *job.program.words]
    running, wrong, done = job.runner.start(words), None, []
    for _ in range(draw.choice([1, 1, 2])):
        moment = draw.uniform(0.05, 1) * job.took
        time.sleep(moment)
        if wrong or running.poll() is not None:
            break
        if victims == ("slow",):
            length_s = draw.uniform(0, 2)
            send([running.pid], signal.SIGSTOP)
            time.sleep(length_s)
            send([running.pid], signal.SIGCONT)
            done.append(f"mpirun stood still for {length_s:.2f} s")
        else:
            running, wrong = kill_some(job, running, words, draw, victims)
            done.append(f"{'+'.join(victims)} killed after {moment:.3f} s")
    wrong = wrong or job.fault(running, may_be_refused=False)
    if not wrong and len(job.program.compared(job.runner.output())) != len(Job.expected):
        wrong = f"lines come twice: {job.runner.output()[-6:]}"
    left = [path.name for path in job.store.glob("*") if not path.suffix]
    if not wrong and left:
        wrong = f"the store still has {left}"
    job.end()
    return f"a job, {'; '.join(done) or 'it was over before'}", wrong


def recorder_row(victims):
    return lambda build, draw: recorder_fails(build, draw, victims)


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


ROWS = {"12": [recorder_row(victims) for victims in (("mpirun",), ("mpirun", "rank"), ("slow",))], "13": [disk_fails], "14": [bits_flip]}
