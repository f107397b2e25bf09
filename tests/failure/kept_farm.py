"""Masters and workers on PERSISTENT topics (samples/common/farm.hpp), of which some and the service are killed."""

import json
import shlex
import signal
import time

import kept_bed
from outlive import send

PROGRAMS = {
    "primes": "-n 4000000",
    "matmul": "-n 500",
    "stream": "-b 90 -n 20000",
}
WORKERS = 3
# Who is killed at once.
VICTIMS = [("master",), ("worker",), ("service",), ("master", "service"), ("worker", "service"), ("master", "worker"),
           ("master", "worker", "service")]
GOES_ON = "a master goes on with"
ENGAGED = "a late joiner with its number was engaged"
MAY_BE_KEPT = "may still be kept"


def qos_file(bed):
    """That of the samples, but what is disposed of is soon forgotten."""
    text = kept_bed.QOS.read_text()
    delay = "<service_cleanup_delay><sec>10</sec></service_cleanup_delay>"
    if delay not in text:
        raise SystemExit(f"persistence.py: {kept_bed.QOS} does not have {delay}")
    file = bed.folder / "kept-topics.xml"
    file.write_text(text.replace(delay, delay.replace("<sec>10</sec>", "<sec>0</sec><nanosec>300000000</nanosec>")))
    return file


class Farm:
    """One run: the program until it has its answer, whoever dies meanwhile."""

    def __init__(self, bed, name, arguments):
        self.bed, self.name = bed, name
        self.words = [bed.build / f"samples/{name}-topics", "-w", WORKERS, "--partition", "kept", "--qos", qos_file(bed),
                      *shlex.split(arguments)]
        self.masters, self.times = [], {}
        self.start_master()

    def start_master(self):
        self.masters.append(self.bed.start(self.words))

    @property
    def master(self):
        return self.masters[-1]

    def workers(self):
        return [pid for pid in self.bed.processes() if "--worker" in kept_bed.command(pid)]

    def is_over(self):
        return self.master.process.poll() is not None

    def kill(self, draw, victims):
        """Kills them at once, and starts again those that nobody else starts. Who was there to be killed."""
        workers = self.workers()
        pids = {"master": self.master.pid, "service": self.bed.service.pid}
        if workers:
            pids["worker"] = draw.choice(sorted(workers))
        victims = [victim for victim in victims if victim in pids and not (victim == "master" and self.is_over())]
        begun = time.monotonic()
        kept_bed.kill_together([pids[victim] for victim in victims])
        pause_s = draw.choice([0, 0, draw.uniform(0, 1)]) if victims != ["worker"] else 0
        time.sleep(pause_s)
        if "service" in victims:
            self.bed.service.wait()
            self.bed.start_service()
            self.times["service"] = time.monotonic() - begun - pause_s
        if "master" in victims:
            self.master.wait()
            self.start_master()
        self.note_engaged(begun + pause_s, victims)
        return victims

    def note_engaged(self, begun, victims):
        """How long it took until the successor was at work; nobody, if nothing was left to do."""
        if victims == ["master"]:
            self.times["master"] = (self.master.await_line(GOES_ON) or begun) - begun
        if victims == ["worker"]:
            self.times["worker"] = (self.master.await_line(ENGAGED) or begun) - begun

    def slow_service(self, length_s):
        send([self.bed.service.pid], signal.SIGSTOP)
        time.sleep(length_s)
        send([self.bed.service.pid], signal.SIGCONT)

    def fault(self):
        """What is wrong with the end, or nothing."""
        code = self.master.wait()
        said = self.master.said()
        if code != 0 or f"{self.name}: VERIFIED" not in said:
            return f"code {code}: {said[-1500:]}"
        until = time.monotonic() + 10
        while self.kept_count() > 0 and time.monotonic() < until and MAY_BE_KEPT not in said:
            time.sleep(0.02)
        wrong = self.bed.end_service()
        if wrong:
            return wrong
        code, text = self.bed.persist("check")
        if code != 0:
            return text
        if self.kept_count() > 0 and MAY_BE_KEPT not in said:
            return f"{self.kept_count()} samples are still kept"
        return None

    def kept_count(self):
        return sum(topic["samples"] for topic in json.loads(self.bed.persist("ls", "--json")[1])["topics"])


def undisturbed_s(build, name, arguments, known={}):
    """How long the program takes when nothing happens to it."""
    if (name, arguments) not in known:
        bed = kept_bed.Bed(build)
        bed.start_service()
        begun = time.monotonic()
        farm = Farm(bed, name, arguments)
        farm.master.wait()
        known[name, arguments] = time.monotonic() - begun
        wrong = farm.fault() or bed.end()
        if wrong:
            raise SystemExit(f"persistence.py: {name} goes wrong undisturbed: {wrong}")
    return known[name, arguments]


def run(build, draw, name, arguments, victims):
    """One run: what was done, what is wrong or nothing, and the times."""
    took = undisturbed_s(build, name, arguments)
    bed = kept_bed.Bed(build)
    bed.start_service()
    farm = Farm(bed, name, arguments)
    done = []
    for _ in range(draw.choice([1, 1, 2])):
        moment = draw.uniform(0, 0.85 * took)
        time.sleep(moment)
        if farm.is_over():
            break
        if victims == ("slow",):
            length_s = draw.uniform(0, 2)
            farm.slow_service(length_s)
            done.append(f"the service stood still for {length_s:.2f} s")
        else:
            done.append(f"{'+'.join(farm.kill(draw, victims)) or 'nobody'} killed after {moment:.3f} s")
    wrong = farm.fault()
    if wrong:
        wrong += "\n" + bed.all_said() + "\n" + "\n--\n".join(master.said() for master in farm.masters)
    wrong = wrong or bed.end()
    bed.end(0)
    return "; ".join(done) or "it was over before", wrong, farm.times
