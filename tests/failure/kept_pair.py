"""Two persistence services of one domain, of which one is killed or stands still: row 16 of persistence.py."""

import os
import signal
import time

import kept_bed
import kept_disk
from outlive import send

COUNT, SIZE, KEYS = 320, 4000, 4


class Pair:
    """A writer of numbered samples beside two services with a store each, and what late readers get."""

    def __init__(self, build):
        self.topic = kept_disk.Topic(build)
        self.bed = self.topic.bed
        self.services = [None, None]

    def start(self, index):
        """Returns when it keeps topics; what is wrong, or nothing."""
        ready, tell = os.pipe()
        os.set_inheritable(tell, True)
        store = self.bed.folder / f"store-{index}"
        words = [self.bed.build / "bin/llamada-persistd", "--store", store, "--ready-descriptor", tell]
        self.services[index] = kept_bed.Program(words, self.bed.environment, self.bed.folder, (tell,))
        self.bed.services.append(self.services[index])
        os.close(tell)
        with os.fdopen(ready, "rb") as end:
            is_ready = end.read(1) == b"r"
        return None if is_ready else f"service {index} does not start: {self.services[index].said()[-800:]}"

    def align(self, index):
        """It starts beside the other one, and has all when this returns; what is wrong, or nothing."""
        before = self.aligned_count(1 - index)
        return self.start(index) or self.await_aligned(index, before)

    def aligned_count(self, index):
        """How often it has said so."""
        return sum("is aligned with" in line for _, line in list(self.services[index].lines))

    def await_aligned(self, index, before_of_other=None):
        """Where the other one has stood still for seconds, the one that has started serves, and the other one aligns."""
        until = time.monotonic() + kept_bed.PATIENCE_S
        while time.monotonic() < until:
            if self.aligned_count(index) > 0 or before_of_other is not None and self.aligned_count(1 - index) > before_of_other:
                return None
            time.sleep(0.002)
        return f"service {index} is not aligned"

    def kill(self, index):
        kept_bed.kill_together([self.services[index].pid])
        self.services[index].wait()

    def read(self, at_least):
        """A late reader; what is wrong with what it gets, or nothing."""
        numbers, wrong = self.topic.read()
        if not wrong and len(set(numbers)) != len(numbers):
            wrong = f"a late reader gets a sample twice: {numbers}"
        missing = sorted(set(range(1, at_least + 1)) - set(numbers))
        return wrong or (f"{at_least} were acknowledged, and a late reader lacks {missing[:20]}" if missing else None)

    def write(self):
        self.topic.writer = self.bed.start([self.topic.program, self.topic.qos, "write", 1, COUNT, SIZE, KEYS])

    def each_has_all(self):
        """Either of the two gives all on its own; what is wrong, or nothing."""
        wrong = self.topic.await_writer() or self.read(COUNT)
        for index in (0, 1):
            if wrong:
                return wrong
            self.kill(index)
            wrong = self.align(index)  # it gets what it has missed
            if not wrong:
                self.kill(1 - index)
                wrong = self.read(COUNT) or self.align(1 - index)
        return wrong

    def end(self, wrong):
        for service in self.services:
            if service is None or service.process.poll() is not None or wrong:
                continue
            send([service.pid], signal.SIGTERM)
            if (code := service.wait()) != 0:
                wrong = f"a service ended with {code}: {service.said()[-500:]}"
        return self.topic.end(wrong)


def killed(build, draw):
    """One of the two is killed again and again, perhaps before it has what the other one has."""
    pair, wrong = Pair(build), None
    waits = draw.random() < 0.5  # until the one that stays has all: then no late reader lacks anything
    wrong = pair.start(0) or pair.start(1)
    pair.write()
    kills = draw.randrange(2, 6)
    late = 1  # the one that joined last
    for _ in range(kills):
        time.sleep(draw.uniform(0, 0.25))
        if wrong:
            break
        if waits:
            wrong = pair.await_aligned(late)
        kept = pair.topic.acknowledged() if waits else 0
        late = draw.randrange(2)
        pair.kill(late)
        wrong = wrong or pair.read(kept)
        time.sleep(draw.uniform(0, 0.2))
        wrong = wrong or pair.start(late)
    wrong = wrong or pair.each_has_all()
    return f"one of two services is killed {kills} times{' when the other has all' if waits else ''}", pair.end(wrong)


def stopped(build, draw):
    """One of the two stands still for a while."""
    pair = Pair(build)
    wrong = pair.start(0) or pair.align(1)
    pair.write()
    time.sleep(draw.uniform(0, 0.2))
    index, pause_s = draw.randrange(2), draw.uniform(0.1, 2)
    send([pair.services[index].pid], signal.SIGSTOP)
    time.sleep(pause_s)
    send([pair.services[index].pid], signal.SIGCONT)
    wrong = wrong or pair.each_has_all()
    return f"service {index} of two stands still for {pause_s:.1f} s", pair.end(wrong)


def damaged(build, draw):
    """Bits of one of the two stores flip while nothing runs, and the other one has what is damaged."""
    pair = Pair(build)
    wrong = pair.start(0) or pair.align(1)
    pair.write()
    wrong = wrong or pair.topic.await_writer()
    kept_bed.kill_together([service.pid for service in pair.services])
    while pair.bed.processes():
        time.sleep(0.01)
    index, flips = draw.randrange(2), draw.randrange(1, 4)
    segment = sorted((pair.bed.folder / f"store-{index}").glob("*.seg"))[-1]
    with open(segment, "r+b") as file:
        for _ in range(flips):
            at = draw.randrange(SIZE * 4, COUNT * SIZE)  # within the samples
            file.seek(at)
            byte = file.read(1)
            file.seek(at)
            file.write(bytes([byte[0] ^ 1 << draw.randrange(8)]))
    first = draw.randrange(2)
    wrong = wrong or pair.start(first) or pair.align(1 - first)
    wrong = wrong or pair.read(COUNT)
    wrong = wrong or pair.each_has_all()
    what = f"{flips} bits of store {index} flip, and service {first} starts first"
    return what, pair.end(wrong)


ROWS = {"16": [killed, stopped, killed, damaged, killed]}
