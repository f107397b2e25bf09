"""Row 21 of persistence.py: topics under KEEP_LAST and deletes, for long. The bytes of the store and the memory of the
service must stay what they are, and its kills must not change that."""

import pathlib
import time

import kept_bed
import kept_disk

KEYS, SIZE, ROUND = 50, 80_000, 100
ROUNDS_MIN = 10
STORE_MAX = 4 * 64 << 20  # four segments for 4 MB that live
SLACK_KIB = 16 << 10


def resident_kib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    return 0


def store_bytes(bed):
    return sum(each.stat().st_blocks * 512 for each in bed.store.iterdir())


def run(build, draw, seconds):
    """What was measured, and what is wrong or nothing."""
    topic = kept_disk.Topic(build)
    topic.qos.write_text(kept_bed.QOS.read_text())  # KEEP_LAST 1
    topic.bed.start_service()
    until, first, sizes, memory, kills, wrong = time.monotonic() + seconds, 1, [], [], 0, None
    while not wrong and (time.monotonic() < until or len(sizes) < ROUNDS_MIN):
        topic.writer = topic.bed.start([topic.program, topic.qos, "write", first, ROUND, SIZE, KEYS])
        if draw.random() < 0.2:
            time.sleep(draw.uniform(0, 0.1))
            kept_bed.kill_together([topic.bed.service_pid()])
            topic.bed.service.wait()
            topic.bed.start_service()
            kills += 1
        wrong = topic.await_writer()
        first += ROUND
        sizes.append(store_bytes(topic.bed))
        memory.append(resident_kib(topic.bed.service_pid()))
    numbers, fault = ([], None) if wrong else topic.read()
    wrong = wrong or fault
    if not wrong and numbers != list(range(first - KEYS, first)):
        wrong = f"a late reader gets {numbers}, the newest of each key end with {first - 1}"
    if not wrong and max(sizes) > STORE_MAX:
        wrong = f"the store grows: {[size >> 20 for size in sizes]} MiB"
    # Buffers are made as they are needed, so the first half of the time says what is needed.
    if not wrong and memory[-1] > max(memory[:len(memory) // 2]) + SLACK_KIB:
        wrong = f"the service's memory grows: {memory} KiB"
    what = (f"{len(sizes)} writers, {first - 1} samples, {kills} kills of the service; store {sizes[-1] >> 20} MiB, at most "
            f"{max(sizes) >> 20}; service {memory[-1] >> 10} MiB, at most {max(memory) >> 10}")
    return what, topic.end(wrong or topic.bed.end_service())
