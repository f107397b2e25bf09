#!/usr/bin/env python3
"""Jobs on several nodes that go on without ranks and nodes that die at random moments (rank_replacement BLANK, SHRINK).

survivors.py BUILD here|bed RUNS SEED

The programs are tests/mpi/ulfm_*.c. In `here` the nodes are this machine, and ranks and nodes are killed by --inject. In
`bed` they are those of tests/bed, with a lease of 2 s: at times also a node loses its power, or is cut off for about as
long as a lease. Every rank that lives must say "ok", nobody else anything, the exit code must be 0, and nothing may be
left.
"""

import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import bed

PATIENCE_S = 90
# Each with what it is called with; "SEED" is drawn.
PROGRAMS = [("random", ["SEED", "60"]), ("random", ["SEED", "200"]), ("solver", []), ("agree", []), ("revoke", []),
            ("any_source", []), ("shrink", []), ("respawn", ["SEED", "200"]), ("respawn", ["SEED", "200"])]
CALLS = ["MPI_Allreduce", "MPI_Barrier", "MPI_Isend", "MPI_Recv", "MPIX_Comm_agree", "MPIX_Comm_shrink", "MPI_Alltoall",
         "MPIX_Comm_revoke", "MPIX_Comm_failure_ack", "MPI_Ssend", "MPI_Comm_spawn", "MPI_Intercomm_merge"]


def profile(kind):
    return bed.profile_with_lease("ulfm").replace("<kind>BLANK</kind>", f"<kind>{kind}</kind>")


class Job:
    """A job that the seed draws, and what happens to it."""

    def __init__(self, build, draw, in_bed):
        self.build, self.draw = build, draw
        self.name, arguments = draw.choice(PROGRAMS)
        self.node_count = draw.choice([2, 3, 4])
        others = [f"node{node}" if in_bed else "bcd"[node - 1] for node in range(1, self.node_count)]
        slots = [draw.choice([1, 1, 2, 2, 3]) for _ in range(self.node_count)]
        hosts = ",".join(f"{host}:{count}" for host, count in zip(["localhost", *others], slots))
        self.ranks = sum(slots)
        self.of_node = slots
        self.kind = draw.choice(["BLANK", "SHRINK"])
        self.rules, self.steps, self.dead_nodes = [], [], set()
        for _ in range(draw.choice([1, 1, 2, 3])):
            self.add_death(others)
        if in_bed:
            if draw.random() < 0.4:
                self.steps += [f"nodes relay {node} both loss=1% reorder=3%" for node in range(self.node_count)]
            self.add_cut()
        program = [f"{build}/tests/mpi/mpi_ulfm_{self.name}", *[str(draw.randrange(1000)) if word == "SEED" else word
                                                               for word in arguments]]
        self.words = ["-n", str(self.ranks), "-H", hosts, "--qos", "PROFILE", "--report", "report", "--on-deadlock", "end"]
        for rule in self.rules:
            self.words += ["--inject", rule]
        self.words += program

    def add_death(self, others):
        draw = self.draw
        shape = draw.choice(["call", "call", "time", "node", "node"])
        if shape == "call":
            self.rules.append(f"kill rank {draw.randrange(self.ranks)} in {draw.choice(CALLS)} {draw.randrange(1, 30)}")
        elif shape == "time":
            self.rules.append(f"kill rank {draw.randrange(self.ranks)} after {draw.uniform(0.05, 1):.3f} s")
        else:
            node = draw.choice(others)
            self.dead_nodes.add(others.index(node) + 1)
            self.rules.append(f"kill node {node} after {draw.uniform(0.02, 1.2):.3f} s")

    def add_cut(self):
        draw = self.draw
        node = draw.randrange(1, self.node_count)
        self.steps.append(f"sleep {draw.uniform(0, 0.5):.2f}")
        shape = draw.choice(["power", "power", "both", "from", "to", "pause"])
        if shape == "power":
            self.dead_nodes.add(node)
            self.steps.append(f"nodes kill {node}")
        elif shape == "pause":
            self.rules.append(f"pause node node{node} after {draw.uniform(0, 1):.2f} s for {draw.uniform(0, 2 * bed.GIVEN_UP_S):.2f} s")
        else:
            self.steps += [f"nodes relay {node} {shape} cut", f"sleep {draw.uniform(0, 2 * bed.GIVEN_UP_S):.2f}",
                           f"nodes relay {node} {shape} cut=no"]

    def __str__(self):
        return " ".join(f"'{word}'" if " " in word else word for word in self.words) + "; " + "; ".join(self.steps)

    def run(self, folder, in_bed):
        """The exit code; nothing: it hangs."""
        (folder / "profile.xml").write_text(profile(self.kind))
        words = [str(folder / "profile.xml") if word == "PROFILE" else word for word in self.words]
        if in_bed:
            return self.run_in_bed(folder, words)
        with open(folder / "out", "w") as out, open(folder / "errors", "w") as errors:
            job = subprocess.Popen([f"{self.build}/bin/mpirun", "--launcher", "fork", *words], cwd=folder,
                                   stdin=subprocess.DEVNULL, stdout=out, stderr=errors)
            try:
                return job.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                job.terminate()
                job.wait()
                return None

    def run_in_bed(self, folder, words):
        quoted = " ".join(f"'{word}'" for word in words)
        living = [node for node in range(1, self.node_count) if f"nodes kill {node}" not in self.steps]
        bed.run(self.build, folder, self.node_count, quoted, ["sleep 0.3", *self.steps], living, PATIENCE_S)
        return bed.code_in(folder)

    def fault(self, code, folder):
        """What is wrong; nothing: all is well. And how many ranks and nodes were lost."""
        errors = (folder / "errors").read_text()
        lines = (folder / "out").read_text().splitlines()
        nodes = len(re.findall(r"^mpirun: the node .* is lost: ", errors, re.M))
        report = json.loads((folder / "report").read_text()) if (folder / "report").exists() else {}
        deaths = len(report.get("deaths", []))
        processes = self.ranks + sum(world["ranks"] for world in report.get("spawned_worlds", []))
        if code is None:
            return "it hangs", deaths, nodes
        if code == 125 and re.search(r"^mpirun: the node ", errors, re.M) and not lines and not deaths:
            return None, deaths, nodes  # before any rank ran
        if deaths == processes:  # nobody was left to say anything
            return (None if code != 0 else "code 0"), deaths, nodes
        if code != 0:
            return f"code {code}", deaths, nodes
        wells = lines.count(f"ok ulfm_{self.name}")
        if wells != len(lines) or not processes - deaths <= wells <= processes:
            return f"{wells} of {processes} processes did well, {deaths} died, output {lines}", deaths, nodes
        return ("processes are left" if (folder / "left").exists() else None), deaths, nodes


def main(build, where, runs, seed, *words):
    if words or where not in ("here", "bed"):
        sys.exit("survivors.py: BUILD here|bed RUNS SEED")
    print(f"survivors.py: {where}, seed {seed}", flush=True)
    wrong, deaths, nodes = 0, 0, 0
    for number in range(int(runs)):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="survivors."))
        job = Job(pathlib.Path(build).resolve(), random.Random(int(seed) * 1000003 + number), where == "bed")
        fault, its_deaths, its_nodes = job.fault(job.run(folder, where == "bed"), folder)
        deaths, nodes = deaths + its_deaths, nodes + its_nodes
        if fault:
            wrong += 1
            print(f"WRONG: run {number}: {fault}\n  {job}\n{(folder / 'errors').read_text()[-3000:]}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{runs} runs, {deaths} ranks and {nodes} nodes were lost, {wrong} wrong", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
