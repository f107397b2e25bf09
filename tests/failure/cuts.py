#!/usr/bin/env python3
"""Jobs on several nodes whose network is cut, or of which a node stands still, for about as long as a lease.

cuts.py BUILD RUNS SEED

Each run has a bed of nodes (tests/bed), a program whose answer depends on the order of its matches, and one or two
disturbances that the seed draws; at times all links lose, double, reorder and damage frames, too, and at times mpirun is
killed in the end. A process beside each rank writes down when and where that runs. No rank may run in two places at a
time; the job must end with the right answer, or with a sentence on what was lost; nothing may be left.
"""

import collections
import pathlib
import random
import shutil
import sys
import tempfile

import bed

PATIENCE_S = 120
EXIT_LAUNCHER = 125
EXIT_KILLED = 137
NOISE = "loss=2% duplicate=2% reorder=5% corrupt=0.5%"

WITNESSED = """(while echo $LLAMADA_RANK $(uname -n | cut -d- -f1)/$$ $(date +%s%N) >>witness; do sleep 0.01; done) &
exec "$@"
"""


class Disturbance:
    """What happens to the job: shell commands, and rules of --inject."""

    def __init__(self, draw):
        self.steps, self.rules = [], []
        if draw.random() < 0.3:
            self.steps += [f"nodes relay {node} both {NOISE}" for node in (0, 1, 2, 3)]
        for _ in range(1 if draw.random() < 0.7 else 2):
            self.steps.append(f"sleep {draw.uniform(0, 1.5):.2f}")
            self.add(draw, draw.uniform(0, 2.5 * bed.GIVEN_UP_S))
        self.kills_mpirun = draw.random() < 0.1
        if self.kills_mpirun:
            self.rules.append(f"kill mpirun after {draw.uniform(0.5, 6):.2f} s")

    def add(self, draw, length):
        node = draw.choice([1, 1, 2, 0])
        shape = draw.choice(["both", "both", "from", "to", "peer", "pause"])
        if shape == "pause":
            self.rules.append(f"pause node node{draw.choice([1, 2])} after {draw.uniform(0, 2):.2f} s for {length:.2f} s")
            return
        peer = f" peer={draw.choice([each for each in (0, 1, 2) if each != node])}" if shape == "peer" else ""
        way = "both" if shape == "peer" else shape
        self.steps += [f"nodes relay {node} {way}{peer} cut", f"sleep {length:.2f}", f"nodes relay {node} {way}{peer} cut=no"]

    def __str__(self):
        return "; ".join(self.steps + self.rules)


def runs_twice(witness):
    """The first rank that two processes were at a time, and when; nothing: none was."""
    lives = collections.defaultdict(dict)
    for line in witness.splitlines():
        rank, life, now = line.split()
        first, _ = lives[rank].get(life, (int(now), 0))
        lives[rank][life] = (first, int(now))
    for rank, its in lives.items():
        in_order = sorted(its.items(), key=lambda each: each[1])
        for (one, (_, last)), (other, (first, _)) in zip(in_order, in_order[1:]):
            if first <= last:
                return f"rank {rank} ran as {one} until {last} and as {other} from {first}"
    return None


def run_once(build, draw, folder):
    """What was wrong, or nothing; and whether a node was lost, and whether the answer came."""
    disturbance = Disturbance(draw)
    hosts = "localhost:2,node1:1,node2:1" + (",node3:1" if draw.random() < 0.6 else "")
    program = f"{build}/tests/failure/wildcards -s 3000 -p 1000 -k {draw.choice(['recv', 'probe', 'persistent'])}"
    rules = " ".join(f"--inject '{rule}'" for rule in disturbance.rules)
    (folder / "witnessed").write_text(WITNESSED)
    (folder / "profile.xml").write_text(bed.profile_with_lease("node-fault-tolerant"))
    words = f"-n 4 -H {hosts} --qos $PWD/profile.xml {rules} sh $PWD/witnessed {program}"
    until_begun = "until grep -q . witness 2>/dev/null || ! kill -0 $job 2>/dev/null; do sleep 0.01; done"
    said = bed.run(build, folder, 4, words, [until_begun, *disturbance.steps], [1, 2, 3], PATIENCE_S)
    errors = (folder / "errors").read_text()
    out = (folder / "out").read_text()
    code = bed.code_in(folder)
    is_lost = " is lost: " in errors
    is_right = code == 0 and out.startswith("ok wildcards")
    wrong = runs_twice((folder / "witness").read_text())
    if not wrong and code is None:
        wrong = "it hangs"
    if not wrong and (folder / "left").exists():
        wrong = "processes are left"
    is_clear = (code == EXIT_LAUNCHER and is_lost) or (code == EXIT_KILLED and disturbance.kills_mpirun)
    if not wrong and not is_right and not is_clear:
        wrong = f"code {code}, output '{out}'"
    if wrong:
        print(f"WRONG: {wrong}\n  {hosts}: {disturbance}\n{errors}{said}", flush=True)
    return wrong, is_lost, is_right


def main(build, runs, seed, *words):
    if words:
        sys.exit(f"cuts.py: takes runs and a seed, and not '{words[0]}'")
    print(f"cuts.py: seed {seed}", flush=True)
    draw = random.Random(int(seed))
    wrong, lost, right = 0, 0, 0
    for _ in range(int(runs)):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="cuts."))
        one_wrong, one_lost, one_right = run_once(pathlib.Path(build).resolve(), draw, folder)
        shutil.rmtree(folder, ignore_errors=True)
        wrong, lost, right = wrong + bool(one_wrong), lost + one_lost, right + one_right
    print(f"{runs} runs: {right} with the right answer, {int(runs) - right - wrong} ended with a sentence, {wrong} wrong; "
          f"in {lost} a node was given up", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
