#!/usr/bin/env python3
"""Programs on PERSISTENT topics, of which everything below them dies at random moments, or whose disk fails.

persistence.py BUILD RUNS SEED [ROW=12 ...] [KILL=master+worker] [SECONDS=N] [PROGRAM or PROGRAM=ARGUMENTS ...]

Each run has a persistence service of its own. Its answer is checked, and nothing may be left on the machine. The rows:

12  a master and workers (samples primes, matmul, stream on topics): the service, the master, a worker or several of them
    are killed at once, or the service stands still for a while
12m a PERSISTENT MPI job: mpirun, which keeps its record, is killed alone or with a rank, or stands still for a while
13  a PERSISTENT topic: the service's disk is full, or calls fail: EIO, a short write, a failed fdatasync; and the same of a
    PERSISTENT MPI job
14  all processes die and what was not synced is lost or torn, or bits of the store flip; and the same of an MPI job
15  the service or the writer has too little memory, too few files, or files that may not grow
16  a domain has two services with a store each: one is killed, stands still, or has a damaged store
21  a soak of SECONDS: writers come and go, the service is killed now and then, and its store and memory must not grow
"""

import pathlib
import random
import statistics
import sys
import time

import kept_disk
import kept_farm
import kept_jobs
import kept_pair
import kept_soak


class Options:
    """The words of the command line."""

    def __init__(self, words):
        named = [word.partition("=")[::2] for word in words]
        self.rows = [value for name, value in named if name == "ROW"] or list(ROWS)
        self.victims = [tuple(value.split("+")) for name, value in named if name == "KILL"] or [*kept_farm.VICTIMS, ("slow",)]
        self.seconds = next((float(value) for name, value in named if name == "SECONDS"), SOAK_S)
        self.programs = programs_of([word for word in words if word.partition("=")[0] not in ("ROW", "KILL", "SECONDS")])


def farm_run(build, draw, number, options):
    name, arguments = options.programs[number % len(options.programs)]
    victims = options.victims[number // len(options.programs) % len(options.victims)]
    done, wrong, times = kept_farm.run(build, draw, name, arguments, victims)
    return f"{name}, {done}", wrong, {f"{name}, {victim}": taken for victim, taken in times.items()}


def programs_of(words):
    """NAME or NAME=ARGUMENTS, of the samples on topics."""
    named = [word.partition("=")[::2] for word in words]
    unknown = [name for name, _ in named if name not in kept_farm.PROGRAMS]
    if unknown:
        sys.exit(f"persistence.py: there is no program '{unknown[0]}'; there are {', '.join(kept_farm.PROGRAMS)}")
    return [(name, arguments or kept_farm.PROGRAMS[name]) for name, arguments in named] or list(kept_farm.PROGRAMS.items())


def disk_run(row):
    def run(build, draw, number, options):
        shapes = kept_disk.ROWS.get(row, []) + kept_jobs.ROWS.get(row, []) + kept_pair.ROWS.get(row, [])
        return *shapes[number % len(shapes)](build, draw), {}

    return run


def soak_run(build, draw, number, options):
    return *kept_soak.run(build, draw, options.seconds), {}


def job_run(build, draw, number, options):
    shapes = kept_jobs.ROWS["12"]
    return *shapes[number % len(shapes)](build, draw), {}


ROWS = {"12": farm_run, "12m": job_run, **{row: disk_run(row) for row in (*kept_disk.ROWS, *kept_pair.ROWS)}, "21": soak_run}
SOAK_S = 3


def main(build, runs, seed, *words):
    print(f"persistence.py: seed {seed}", flush=True)
    build = pathlib.Path(build).resolve()
    options = Options(words)
    wrong, taken = 0, {}
    first = random.Random(seed).randrange(1000)  # which shape a row begins with, so that short runs differ
    for number in range(int(runs)):
        row = options.rows[number % len(options.rows)]
        draw, begun = random.Random(f"{seed} {number}"), time.monotonic()
        what, fault, times = ROWS[row](build, draw, first + number // len(options.rows), options)
        wrong += bool(fault)
        took = "".join(f"; {of.split(', ')[1]} again after {seconds:.3f} s" for of, seconds in times.items() if seconds > 0)
        print(f"run {number}, row {row}: {what}: {'WRONG: ' + fault if fault else 'right' + took} "
              f"({time.monotonic() - begun:.1f} s)", flush=True)
        for of, seconds in times.items():
            taken.setdefault(of, []).append(seconds)
    for of, seconds in sorted(taken.items()):
        seconds = [each for each in seconds if each > 0]
        if seconds:
            print(f"{of} at work again: {len(seconds)} times, {statistics.median(seconds):.3f} s, at most {max(seconds):.3f} s")
    print(f"{int(runs) - wrong} of {runs} runs right", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
