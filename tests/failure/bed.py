"""Jobs in a bed of nodes (tests/bed), for the scripts here."""

import pathlib
import subprocess
import sys

LEASE_S = 2
GIVEN_UP_S = 1.25 * LEASE_S
EXIT_SKIPPED = 77

SCRIPT = """
cd {folder}
nodes() {{ {build}/tests/nodes "$@"; }}
nodes agents $PWD/agents & server=$!
until [ -S agents ]; do sleep 0.01; done
nodes exec 0 {build}/bin/mpirun --launcher-exec "{build}/tests/nodes agent $PWD/agents" {words} >out 2>errors & job=$!
{steps}
wait $job; echo $? >code
tries=0
for node in {living}; do
  until [ "$(nodes exec $node sh -c 'set -- /proc/[0-9]*; echo $#')" = 2 ] || [ $tries = 100 ]; do
    sleep 0.1; tries=$((tries + 1))
  done
done
[ $tries = 100 ] && touch left
kill $server
"""


def profile_with_lease(name):
    """The text of a profile of the project, with a short lease."""
    text = (pathlib.Path(__file__).resolve().parents[2] / "qos-profiles" / f"{name}.xml").read_text()
    lease = f"<liveliness><kind>AUTOMATIC</kind><lease_duration><sec>{LEASE_S}</sec></lease_duration></liveliness>"
    for element in ("<datawriter_qos>", "<datareader_qos>"):
        text = text.replace(element, element + lease)
    return text


def run(build, folder, node_count, words, steps, living, patience_s):
    """Runs a job: `words` follow mpirun, `steps` are done to it. In `folder` are then out, errors, code (unless it hangs), and
    left if something is left on one of the `living` nodes. What the bed said. Ends the script where there can be no bed."""
    script = SCRIPT.format(folder=folder, build=build, words=words, steps="\n".join(steps),
                           living=" ".join(str(node) for node in living))
    (folder / "script").write_text(script)
    bed = subprocess.run([f"{build}/tests/nodes", "run", str(node_count), "--", "timeout", str(patience_s), "/bin/sh",
                          f"{folder}/script"], capture_output=True, text=True)
    if bed.returncode == EXIT_SKIPPED:
        print(bed.stdout.strip())
        sys.exit(0)
    return bed.stdout + bed.stderr


def code_in(folder):
    """The job's exit code; nothing: it hangs."""
    code = folder / "code"
    return int(code.read_text()) if code.exists() else None
