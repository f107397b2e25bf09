#!/usr/bin/env python3
"""flat_journals.py MPIRUN PROGRAM PROFILE INTERVALS OUTCOMES LINES [OPTION...]: a job with checkpoints records OUTCOMES wildcard
receives, tests and questions to the clock between two of them, and prints LINES lines. Right: its output. The memory of all
its processes, and what its record takes of the disk, are the same in the second and in the last quarter of the run. PROGRAM is
tests/mpi/many_outcomes. OPTIONs are mpirun's."""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "failure"))
from long import disk_bytes, pss_bytes, quarter  # noqa: E402
from outlive import family, kill_whole  # noqa: E402

# The store gives space back in pieces.
FLAT, MEMORY_SLACK_BYTES, DISK_SLACK_BYTES = 1.1, 8 << 20, 20 << 20
END_SECONDS = 280


def record_bytes(store):
    """Without the files of checkpoints."""
    return sum(disk_bytes(path) for path in store.iterdir() if path.suffix != ".checkpoints") if store.is_dir() else 0


def watch(job, store):
    """Samples of memory and of disk, until the job ends."""
    memory, disk, begun = [], [], time.monotonic()
    while job.poll() is None:
        if time.monotonic() - begun > END_SECONDS:
            kill_whole(job)
            sys.exit("it hangs")
        memory.append(pss_bytes(family(job.pid)))
        disk.append(record_bytes(store))
        time.sleep(0.1)
    return memory, disk


def main():
    mpirun, program, profile, intervals, outcomes, lines = sys.argv[1:7]
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="flat.") as folder:
        folder = pathlib.Path(folder)
        environment = dict(os.environ, LLAMADA_STORE=str(folder / "store"))
        with open(folder / "out", "wb") as out:
            job = subprocess.Popen([mpirun, "-n", "3", "--qos", profile, *sys.argv[7:], program, intervals, outcomes, lines,
                                    str(folder)],
                                   env=environment, stdin=subprocess.DEVNULL, stdout=out)
            begun = time.monotonic()
            memory, disk = watch(job, folder / "store")
        if job.returncode != 0:
            print(f"WRONG: code {job.returncode}")
            wrong += 1
        digest = subprocess.run([sys.executable, str(pathlib.Path(__file__).with_name("digest.py")), str(folder / "out")],
                                capture_output=True, text=True).stdout
        if digest != f"True {int(intervals) * int(lines) + 1}\n":
            print(f"WRONG: output: {digest}")
            wrong += 1
        for name, samples, slack in (("memory", memory, MEMORY_SLACK_BYTES), ("disk", disk, DISK_SLACK_BYTES)):
            if quarter(samples, 3) > FLAT * quarter(samples, 1) + slack:
                print(f"WRONG: {name} grows")
                wrong += 1
        figures = ["/".join(f"{quarter(samples, part) / 2**20:.1f}" for part in range(4)) for samples in (memory, disk)]
        print(f"{profile}: {time.monotonic() - begun:.1f} s; memory {figures[0]} MiB, disk {figures[1]} MiB by quarter, "
              f"at most {max(disk) / 2**20:.1f} MiB of disk")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
