"""The commands of the first pages, run as a reader would type them: pages_test.py BUILD_FOLDER

Each command is read from its page, so a page whose command no longer works fails here, and so does a page that no longer
has the command. They run in a folder of their own, in which build/release and samples lead to this build.
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = None

PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("the sum of all ranks is %d\n", sum);
  MPI_Finalize();
  return 0;
}
"""


def blocks(page):
    """The lines of each block of code."""
    text = (ROOT / page).read_text()
    return [block.splitlines() for block in re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)]


def block_with(page, text):
    found = [block for block in blocks(page) if any(text in line for line in block)]
    if len(found) != 1:
        raise AssertionError(f"{page} has {len(found)} blocks of code with '{text}'; one is expected")
    return found[0]


def typed(page):
    """The lines behind '$' in a page of a sample."""
    return re.findall(r"^    \$ (.*)$", (ROOT / page).read_text(), re.MULTILINE)


class Pages(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.place = Path(self.folder.name)
        (self.place / "build").mkdir()
        (self.place / "build/release").symlink_to(BUILD)
        (self.place / "samples").symlink_to(ROOT / "samples")

    def run_line(self, line, place="."):
        """(standard output, standard error) of a command that has to succeed."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("LLAMADA_QOS")}
        ran = subprocess.run(["/bin/sh", "-ec", line], cwd=self.place / place, env=environment, text=True,
                             stdin=subprocess.DEVNULL, capture_output=True)
        self.assertEqual(ran.returncode, 0, f"{line}\n{ran.stdout}\n{ran.stderr}")
        return ran.stdout, ran.stderr

    def test_readme_compiles_and_starts_a_program_of_the_readers_own(self):
        (self.place / "my.c").write_text(PROGRAM)
        lines = block_with("README.md", "mpicc my.c")
        self.assertEqual(len(lines), 3, lines)
        self.assertTrue(lines[0].startswith("./dev build"), lines[0])
        self.run_line(lines[1])
        self.assertEqual(self.run_line(lines[2])[0], "the sum of all ranks is 6\n")

    def test_samples_lose_a_rank_and_readme_shows_what_mpirun_says_of_it(self):
        lines = block_with("samples/README.md", "samples/primes")
        self.assertEqual(lines[0], "cd build/release")
        output, errors = self.run_line(lines[1], "build/release")
        self.assertIn("primes: VERIFIED", output)
        shown = block_with("README.md", "mpirun: rank 2 of 4 died.")
        said = errors[errors.find("mpirun: rank "):].splitlines()  # a container's warning may come before
        self.assertEqual([line.split()[0] for line in said], [line.split()[0] for line in shown], errors)
        self.assertEqual(said[0], shown[0])
        for label in ("cause", "done"):
            self.assertEqual([line for line in said if line.startswith(f"  {label} ")],
                             [line for line in shown if line.startswith(f"  {label} ")])
        self.assertRegex(said[-1], r"^mpirun: rank 2 is live again as incarnation 2, [\d.]+ s after its death: "
                                   r"start and replay took [\d.]+ s, ")

    def test_the_guides_first_program_prints_what_its_page_says(self):
        line = typed("samples/guide/README.md")[0]
        self.assertEqual(line, "build/release/samples/twenty_lines")
        self.assertEqual(self.run_line(line)[0], "sensor 7: 21.5\n")

    def test_the_commented_profile_is_legal_and_means_what_its_comments_say(self):
        line = typed("samples/qos/README.md")[0]
        self.assertTrue(line.startswith("llamada qos check long-job.xml"), line)
        output, _ = self.run_line(f"../../build/release/bin/{line}", "samples/qos")
        for text in ("REBUILD", "16 GiB", "4 GiB", "the job ends (on_unprotected STOP)", "at most 3 times for one rank",
                     "given up after 60 s"):
            self.assertIn(text, output)


if __name__ == "__main__":
    BUILD = Path(sys.argv.pop(1)).resolve()
    unittest.main()
