#!/usr/bin/env python3
"""long.py BUILD MINUTES SEED [NPB=FOLDER] [ONLY=checkpoints|standby] [EVERY=SECONDS]: jobs of hours, in so many minutes.

checkpoints  a program that takes one about each second sends many times the memory of its logs (256 MiB), while ranks are killed.
             Right: its output is that of one rank without a kill. Memory and disk of the last quarter are within 5 % of the second
             one's. A rank is live again at most an interval and a second after its death.
standby      NPB's CG and LU, class A, again and again under the profile long, while ranks are killed. Right: they verify. They are
             unchanged programs, so standbys bound their replays. Without NPB= this part is left out.
MINUTES is the time of each part. EVERY is the mean time between two kills (5)."""
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from outlive import family, kill_whole  # noqa: E402

PROFILE = """<dds><qos_library name='test'><qos_profile name='run' base_name='llamada::{base}'><rank_replacement>
<max_replacements_per_rank>100000</max_replacements_per_rank><max_replacements_per_job>1000000</max_replacements_per_job>
{more}</rank_replacement></qos_profile></qos_library></dds>"""
RANKS = 4
FLAT = 1.05
GRACE_S = 1.0


def pss_bytes(pids):
    """Memory of these processes; what they share counts once."""
    total = 0
    for pid in pids:
        try:
            found = re.search(r"^Pss:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
            total += int(found.group(1)) * 1024
        except (OSError, AttributeError):
            pass
    return total


def disk_bytes(folder):
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_blocks * 512
        except OSError:
            pass
    return total


def quarter(samples, index):
    """The median of this quarter of the run."""
    count = len(samples) // 4
    return statistics.median(samples[index * count:(index + 1) * count] or samples)


def steps_in(output):
    """How many steps the program rows has made."""
    found = re.search(r"^the end, step (\d+):", output, re.MULTILINE)
    return int(found.group(1)) if found else 0


class Long:
    def __init__(self, build, seconds, chance, every):
        self.build, self.seconds, self.chance, self.every = build, seconds, chance, every
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="long."))
        self.environment = dict(os.environ, LLAMADA_STORE=str(self.folder / "store"))
        self.wrong = 0

    def fail(self, what):
        self.wrong += 1
        print(f"WRONG: {what}", flush=True)
        errors = self.folder / "errors"
        if errors.exists():
            print(errors.read_text()[-2000:], flush=True)

    def profile(self, base, more=""):
        path = self.folder / f"{base}.xml"
        path.write_text(PROFILE.format(base=base, more=more))
        return str(path)

    def run(self, words, watch=None, seconds_max=3600):
        """(exit code, output, report, seconds) of mpirun with these words."""
        begun = time.monotonic()
        report = self.folder / "report.json"
        report.unlink(missing_ok=True)
        with open(self.folder / "out", "w") as out, open(self.folder / "errors", "w") as errors:
            job = subprocess.Popen([str(self.build / "bin/mpirun"), "--report", str(report), *words], env=self.environment,
                                   cwd=self.folder, stdin=subprocess.DEVNULL, stdout=out, stderr=errors)
            while job.poll() is None and time.monotonic() - begun < seconds_max:
                if watch:
                    watch(job)
                try:
                    job.wait(1)
                except subprocess.TimeoutExpired:
                    pass
            if job.poll() is None:
                kill_whole(job)
                self.fail(f"{words}: it hangs")
        told = json.loads(report.read_text()) if report.exists() else {"deaths": [], "totals": {}}
        return job.returncode, (self.folder / "out").read_text(), told, time.monotonic() - begun

    def kills(self):
        return ["--inject", f"kill any every ~{self.every} s seed {self.chance.randrange(1 << 30)}"]

    def replays(self, report, bound, name):
        """Seconds from each death to the end of its replay."""
        totals = [death["total_s"] for death in report["deaths"] if death["total_s"] is not None]
        if bound and totals and max(totals) > bound:
            self.fail(f"{name}: {max(totals):.2f} s from a death to the end of its replay; {bound:.2f} s are allowed")
        return totals

    def checkpoints(self):
        program = str(self.build / "tests/failure/rows")
        profile = self.profile("fault_tolerant", "<log_bytes_per_node>256 MiB</log_bytes_per_node>")
        fast = ["-n", str(RANKS), "--qos", profile]
        # How many steps are a second, on this machine as busy as it is.
        trial = self.run([*fast, program, "1000000000", "200", "3"])[1]
        every = max(100, steps_in(trial) // 3)
        memory, disk, sampled_at = [], [], [0.0]

        def watch(job):
            if time.monotonic() - sampled_at[0] >= min(2.0, self.seconds / 40):
                sampled_at[0] = time.monotonic()
                memory.append(pss_bytes(family(job.pid)))
                disk.append(disk_bytes(self.folder / "store"))

        code, output, report, seconds = self.run([*fast, *self.kills(), program, "1000000000", str(every), str(self.seconds)],
                                                 watch, 2 * self.seconds + 600)
        steps = steps_in(output)
        if code != 0:
            self.fail(f"rows: code {code}")
        expected = self.run(["-n", "1", program, str(steps), str(every)])[1]
        if output != expected:
            self.fail(f"rows: its output is not that of one rank:\n{output[-300:]}\nexpected\n{expected[-300:]}")
        interval = seconds / max(1, steps / every)
        totals = self.replays(report, interval + GRACE_S, "rows")
        logged = report["totals"].get("bytes_logged", 0)
        if not totals:
            self.fail("rows: no rank was killed")
        for name, samples in (("memory", memory), ("disk", disk)):
            if len(samples) >= 16 and quarter(samples, 3) > FLAT * quarter(samples, 1):
                self.fail(f"rows: {name} grows: {quarter(samples, 1) / 2**20:.1f} MiB in the second quarter, "
                          f"{quarter(samples, 3) / 2**20:.1f} MiB in the last")
        print(f"rows: {seconds:.0f} s, {steps / every:.0f} checkpoints ({interval:.2f} s apart), {logged / 2**30:.2f} GiB logged, "
              f"{len(report['deaths'])} deaths; dead until live {statistics.median(totals or [0]):.2f} s, at "
              f"most {max(totals or [0]):.2f} s; memory {quarter(memory, 1) / 2**20:.1f} and {quarter(memory, 3) / 2**20:.1f} MiB; "
              f"disk {quarter(disk, 1) / 2**10:.0f} and {quarter(disk, 3) / 2**10:.0f} KiB", flush=True)

    def standby(self, npb, name):
        program = npb / f"{name}.A.x"
        profile = self.profile("long", "<standby_interval>2</standby_interval>")
        end = time.monotonic() + self.seconds / 2
        runs, right, deaths, totals, woken, times = 0, 0, 0, [], 0, []
        while time.monotonic() < end:
            runs += 1
            code, output, report, seconds = self.run(["-n", str(RANKS), "--qos", profile, *self.kills(), str(program)])
            if code == 0 and re.search(r"Verification\s+=\s+SUCCESSFUL", output):
                right += 1
            else:
                self.fail(f"{name}: code {code}\n{output[-500:]}")
            deaths += len(report["deaths"])
            totals += self.replays(report, None, name)
            woken += report["totals"].get("standbys_woken", 0)
            times.append(seconds)
        print(f"NPB {name.upper()}, class A: {right} of {runs} right, {statistics.median(times):.1f} s each, {deaths} deaths, {woken} "
              f"standbys woken; dead until live {statistics.median(totals or [0]):.2f} s, at most {max(totals or [0]):.2f} s",
              flush=True)


def main():
    build, minutes, seed = pathlib.Path(sys.argv[1]).resolve(), float(sys.argv[2]), int(sys.argv[3])
    named = dict(word.split("=", 1) for word in sys.argv[4:])
    test = Long(build, 60 * minutes, random.Random(seed), float(named.get("EVERY", 5)))
    only = named.get("ONLY")
    if only in (None, "checkpoints"):
        test.checkpoints()
    if "NPB" in named and only in (None, "standby"):
        for name in ("cg", "lu"):
            test.standby(pathlib.Path(named["NPB"]).resolve(), name)
    if not test.wrong:
        shutil.rmtree(test.folder)
    else:
        print(f"{test.wrong} wrong; the last run is in {test.folder}")
    return min(test.wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
