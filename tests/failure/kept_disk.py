"""A PERSISTENT topic whose service has a disk, or a machine, that fails: rows 13, 14 and 15 of persistence.py."""

import errno
import os
import pathlib
import re
import resource
import time

import kept_bed

COUNT, SIZE, KEYS = 60, 50_000, 4
MIB = 1 << 20
SECTOR = 512
TROUBLE = re.compile(r"does not take samples|no room for another sample|damaged|is not kept|llamada-persistd: .*"
                     r"(No space|File too large|Input/output|Cannot allocate|Too many open|memory)", re.I)


class Topic:
    """A writer of numbered samples beside a service, and what a late reader gets of them."""

    def __init__(self, build):
        self.bed = kept_bed.Bed(build)
        self.qos = self.bed.folder / "numbered.xml"
        text = kept_bed.QOS.read_text()
        self.qos.write_text(text.replace("<history_kind>KEEP_LAST</history_kind>", "<history_kind>KEEP_ALL</history_kind>"))
        self.program = build / "tests/kept_topic"
        self.shim = {"LD_PRELOAD": str(build / "tests/failing_disk.so"), "FAIL_BELOW": str(self.bed.store)}
        self.writer = None

    def write(self, count=COUNT):
        self.writer = self.bed.start([self.program, self.qos, "write", 1, count, SIZE, KEYS])

    def acknowledged(self):
        numbers = [int(line.split()[1]) for _, line in list(self.writer.lines) if line.startswith("kept ")]
        return max(numbers, default=0)

    def await_writer(self):
        """What is wrong with its end, or nothing."""
        code = self.writer.wait()
        return None if code == 0 else f"the writer ended with {code}: {self.writer.said()[-800:]}"

    def lose_all(self):
        """All processes die at once, so that only the store is left."""
        kept_bed.kill_together([self.writer.pid, self.bed.service_pid()])
        self.bed.service.wait()
        while self.bed.processes():
            time.sleep(0.01)

    def read(self):
        """The numbers that a late reader gets, and what is wrong with them or nothing."""
        reader = self.bed.start([self.program, self.qos, "read"])
        code = reader.wait()
        said = reader.said()
        if code != 0 or "WRONG" in said:
            return [], f"the late reader ended with {code}: {said[-800:]}"
        return sorted(int(line) for line in said.split() if line.isdigit()), None

    def kept_after_all_died(self):
        """What a new service gives: its numbers, and what is wrong or nothing."""
        if self.bed.start_service() is None:
            return [], f"the service does not start again: {self.bed.service.said()[-800:]}"
        numbers, wrong = self.read()
        return numbers, wrong or self.bed.end_service()

    def fault_of_all(self):
        """Nothing, if the writer comes to its end and a new service has all that it wrote, once."""
        wrong = self.await_writer()
        if wrong:
            return wrong
        self.lose_all()
        numbers, wrong = self.kept_after_all_died()
        if not wrong and numbers != list(range(1, COUNT + 1)):
            wrong = f"all was acknowledged, and a late reader gets {numbers}"
        return wrong

    def end(self, wrong):
        if wrong:
            wrong += f"\n{self.bed.all_said()}\n{self.writer.said()[-1500:] if self.writer else ''}"
        return self.bed.end(0 if wrong else 20) if not wrong else (self.bed.end(0), wrong)[1]


# 13: the disk.

def disk_fails(build, draw):
    """Calls of the service fail for a while: it says so, and nothing that it has acknowledged is lost."""
    call, error, name = draw.choice([("pwrite", errno.EIO, "EIO"), ("pwrite", errno.ENOSPC, "ENOSPC"), ("pwrite", "short", "short"),
                                     ("fdatasync", errno.EIO, "EIO"), ("fallocate", errno.ENOSPC, "ENOSPC")])
    skip, count = draw.randrange(3 if call == "fallocate" else 12), draw.randrange(1, 4)
    topic = Topic(build)
    what = f"{call} number {skip + 1} and {count - 1} more of the service: {name}"
    journal = topic.bed.folder / "journal"
    is_up = topic.bed.start_service(
        environment={**topic.shim, "FAIL_JOURNAL": str(journal), "FAIL": f"{call}:{error}:{skip}:{count}"})
    if is_up is None:
        said = topic.bed.service.said()
        wrong = None if TROUBLE.search(said) else f"the service ended without a sentence: {said}"
        topic.bed.start_service()
    else:
        wrong = None
    topic.write()
    kills = draw.random() < 0.5
    if kills:
        time.sleep(draw.uniform(0, 0.3))
        kept_bed.kill_together([topic.bed.service_pid()])
        topic.bed.service.wait()
        topic.bed.start_service()
    wrong = wrong or topic.fault_of_all()
    came = f"f {call}" in (journal.read_text() if journal.exists() else "")
    if not wrong and came and not kills and error != "short" and not TROUBLE.search(topic.bed.all_said()):
        wrong = "the service says nothing of it"
    what += "" if came else " (did not come so far)"
    return what + (", then it is killed" if kills else ""), topic.end(wrong)


def disk_full(build, draw):
    """The store's file system is full at a byte that the seed draws, until somebody makes room."""
    topic = Topic(build)
    topic.bed.store.mkdir(mode=0o700)
    filler_mib = draw.randrange(70, 190)
    mount = f"mount -t tmpfs -o size=256m none {topic.bed.store} && head -c {filler_mib}M /dev/zero >{topic.bed.store}/filler && exec \"$@\""
    if topic.bed.start_service(before=["unshare", "-m", "--propagation", "private", "sh", "-c", mount, "sh"]) is None:
        return "a full disk", topic.end(f"the service does not start: {topic.bed.service.said()}")
    inside = pathlib.Path(f"/proc/{topic.bed.service_pid()}/root{topic.bed.store}")
    topic.writer = topic.bed.start([topic.program, topic.qos, "write", 1, 4000, SIZE, KEYS])
    said = topic.bed.service.await_line("no room for another", 30)
    before = topic.acknowledged()
    time.sleep(0.3)
    wrong = None if said else "the service says nothing of a full disk"
    if not wrong and topic.acknowledged() > before + 16:
        wrong = "samples are acknowledged although the disk is full"
    (inside / "filler").unlink()
    until = time.monotonic() + 20
    while not wrong and topic.acknowledged() <= before and time.monotonic() < until:
        time.sleep(0.01)
    if not wrong and topic.acknowledged() <= before:
        wrong = "there is room again, and nothing more is acknowledged"
    acknowledged = topic.acknowledged()
    topic.writer.kill()
    numbers, fault = topic.read()
    wrong = wrong or fault
    if not wrong and not set(range(1, acknowledged + 1)) <= set(numbers):
        wrong = f"{acknowledged} were acknowledged, a late reader gets {len(numbers)}"
    return f"a tmpfs of 256 MiB with {filler_mib} MiB in use, {acknowledged} acknowledged", topic.end(wrong or topic.bed.end_service())


# 14: what the disk has.

def lose_power(journal, draw):
    """What was not synced is lost, or torn at a sector: each write of the journal for itself."""
    unsynced = {}
    for line in journal.read_text().splitlines() if journal.exists() else []:
        kind, path, offset, count = line.split()
        if kind == "s":
            unsynced[path] = []
        else:
            unsynced.setdefault(path, []).append((int(offset), int(count)))
    for path, writes in unsynced.items():
        if not os.path.exists(path) or not path.endswith(".seg"):
            continue
        with open(path, "r+b") as file:
            for offset, count in writes:
                kept = draw.choice([0, count, draw.randrange(count // SECTOR + 1) * SECTOR])
                file.seek(offset + kept)
                file.write(bytes(max(0, count - kept)))
    return sum(len(writes) for writes in unsynced.values())


def power_fails(build, draw):
    topic = Topic(build)
    journal = topic.bed.folder / "journal"
    call, skip = draw.choice(["pwrite", "fdatasync"]), draw.randrange(3, 25)
    topic.bed.start_service(environment={**topic.shim, "FAIL_JOURNAL": str(journal), "FAIL": f"{call}:die:{skip}:1"})
    topic.write(1000)
    topic.bed.service.wait(draw.uniform(0.1, 2))
    topic.lose_all()
    acknowledged = topic.acknowledged()
    lost = lose_power(journal, draw)
    numbers, wrong = topic.kept_after_all_died()
    if not wrong and (numbers != list(range(1, len(numbers) + 1)) or len(numbers) < acknowledged):
        wrong = f"{acknowledged} were acknowledged, a late reader gets {numbers}"
    return f"power lost in a {call}, with {lost} unsynced writes, {acknowledged} acknowledged, {len(numbers)} kept", topic.end(wrong)


def bits_flip(build, draw):
    topic = Topic(build)
    topic.bed.start_service()
    topic.write()
    wrong = topic.await_writer()
    topic.lose_all()
    segments = [each for each in sorted(topic.bed.store.glob("*.seg")) if each.read_bytes().strip(b"\0")]
    flips = []
    for _ in range(draw.choice([1, 1, 3])):
        path = draw.choice(segments)
        place = draw.randrange(len(path.read_bytes().rstrip(b"\0")))
        with open(path, "r+b") as file:
            file.seek(place)
            byte = file.read(1)[0]
            file.seek(place)
            file.write(bytes([byte ^ 1 << draw.randrange(8)]))
        flips.append(f"{path.name}+{place}")
    numbers, fault = ([], None) if wrong else topic.kept_after_all_died()
    wrong = wrong or fault
    missing = set(range(1, COUNT + 1)) - set(numbers)
    if not wrong and missing and "damaged" not in topic.bed.service.said():
        wrong = f"nothing is said of the missing samples {sorted(missing)}"
    if not wrong and missing and topic.bed.persist("check")[0] != 1:
        wrong = f"'llamada persist check' says nothing of the missing samples {sorted(missing)}"
    return f"bits flipped in {', '.join(flips)}, {len(missing)} samples missed", topic.end(wrong)


# 15: the machine.

LIMITS = {
    "RLIMIT_FSIZE": [0, 4096, MIB, 32 * MIB],
    "RLIMIT_AS": [16 * MIB, 64 * MIB, 1024 * MIB, 48 * 1024 * MIB],
    "RLIMIT_NOFILE": [3, 4, 5, 6, 8, 10, 12, 16],
}


def limited(build, draw):
    """The service, or the writer, has too little of something: it says what in a sentence, or it works."""
    name = draw.choice(list(LIMITS))
    amount = draw.choice(LIMITS[name])
    of_service = draw.random() < 0.6
    what = f"{name} {amount} of the {'service' if of_service else 'writer'}"

    def limit():
        resource.setrlimit(getattr(resource, name), (amount, amount))

    topic, wrong = Topic(build), None
    if of_service:
        topic.write()  # it starts the driver, which has no such limit
        topic.writer.await_line("nobody keeps this topic", 10)
    is_up = topic.bed.start_service(limit=limit if of_service else None)
    if not of_service:
        limits = topic.bed.start([topic.program, topic.qos, "write", 1, COUNT, SIZE, KEYS], limit=limit)
        code = limits.wait()
        wrong = end_without_sentence("the writer", code, limits.said()) if code != 0 else None
        if code == 0:
            topic.writer = limits
            return what + ": it works", topic.end(topic.fault_of_all())
        what += ": " + limits.said().splitlines()[-1]
        topic.write()
    else:
        topic.writer.process.poll() or time.sleep(1)
        code = topic.bed.service.process.poll()
        said = topic.bed.service.said()
        if code is not None:
            wrong = end_without_sentence("the service", code, said)
        elif topic.acknowledged() < COUNT and not TROUBLE.search(said):
            wrong = f"the service says nothing of its trouble: {said}"
        what += f": {'works' if is_up and topic.acknowledged() == COUNT else said.splitlines()[-1] if said else 'silence'}"
        kept_bed.kill_together([topic.bed.service.pid] if code is None else [])
        topic.bed.service.wait()
        topic.bed.start_service()
    return what, topic.end(wrong or topic.fault_of_all())


def end_without_sentence(who, code, said):
    if code is not None and code > 0 and said.strip():
        return None
    return f"{who} ended with {code} and said '{said}'"


def out_of_memory(build, draw):
    """The kernel kills the service in a cgroup that is too small."""
    group = pathlib.Path(f"/sys/fs/cgroup/memory/kept-{os.getpid()}")
    try:
        group.mkdir()
    except OSError:
        return "SKIPPED: no memory cgroup", None
    topic = Topic(build)
    try:
        amount = draw.choice([2, 4, 6, 10, 20]) * MIB
        (group / "memory.limit_in_bytes").write_text(str(amount))
        into = f"echo $$ >{group}/cgroup.procs && exec \"$@\""
        is_up = topic.bed.start_service(before=["sh", "-c", into, "sh"])
        topic.write()
        topic.writer.await_line("waiting: ", 2)
        code = topic.bed.service.process.poll()
        kept_bed.kill_together([topic.bed.service.pid] if code is None else [])
        topic.bed.service.wait()
        topic.bed.start_service()
        wrong = topic.fault_of_all()
    finally:
        for _ in range(100):
            try:
                group.rmdir()
                break
            except OSError:
                time.sleep(0.02)
    return f"{amount // MIB} MiB for the service: {f'ended with {code}' if code is not None else 'it works'}", topic.end(wrong)


ROWS = {
    "13": [disk_fails, disk_full, disk_fails],
    "14": [power_fails, bits_flip],
    "15": [limited, limited, out_of_memory],
}
