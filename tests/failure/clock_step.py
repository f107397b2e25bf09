#!/usr/bin/env python3
"""The clocks of mpirun and llamanetd are set an hour forwards or back while a job runs on two nodes with a lease of 2 s.

clock_step.py BUILD SHIM

Nobody is lost because of it, also not a node that stands still for half a lease. A node that is killed is lost all the
same. The answer is always the same.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import bed

STEPS_S = (3600, -3600)
PATIENCE_S = 60
# What happens to the node b, and how many nodes are lost.
RULES = ((None, 0), ("kill node b after 1.5 s", 1), (f"pause node b after 1.5 s for {bed.LEASE_S / 2} s", 0))


def run(build, folder, rule, environment):
    words = [str(build / "bin/mpirun"), "--launcher", "fork", "-n", "3", "-H", "localhost:2,b:1", "--qos",
             str(folder / "profile.xml")]
    if rule:
        words += ["--inject", rule]
    words += [str(build / "samples/heat"), "-n", "400", "-s", "5000"]
    return subprocess.run(words, env=dict(os.environ, LLAMADA_STORE=str(folder / "store"), **environment), cwd=folder,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_S)


def main(build, shim):
    build, wrong = pathlib.Path(build).resolve(), 0
    with tempfile.TemporaryDirectory(prefix="clock_step.") as name:
        folder = pathlib.Path(name)
        (folder / "profile.xml").write_text(bed.profile_with_lease("node-fault-tolerant"))
        undisturbed = run(build, folder, None, {})
        if undisturbed.returncode != 0 or not undisturbed.stdout:
            sys.exit(f"clock_step.py: undisturbed: code {undisturbed.returncode}\n{undisturbed.stderr}")
        for seconds in STEPS_S:
            for rule, lost in RULES:
                job = run(build, folder, rule, {"LD_PRELOAD": shim, "CLOCK_STEP": f"{seconds}:1"})
                found = len(re.findall(r" is lost: ", job.stderr))
                good = job.returncode == 0 and job.stdout == undisturbed.stdout and found == lost
                print(f"{seconds} s, {rule}: code {job.returncode}, {found} nodes lost", flush=True)
                if not good:
                    wrong += 1
                    print(job.stdout + job.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
