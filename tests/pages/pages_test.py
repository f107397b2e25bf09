"""The commands of the pages, run as each of README's four readers would type them: pages_test.py BUILD_FOLDER

Each command is read from its page, so a page whose command no longer works fails here, and so does a page that no longer
has the command. They run in a folder of their own, in which build/release, samples and the like lead to this build and
its sources. A namespace of their own keeps them apart from all other jobs.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = None

sys.path.insert(0, str(ROOT / "tests/failure"))
from outlive import kill_whole  # noqa: E402

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

# Rank 0 prints a line for each step. In the middle it waits for the file `go`.
STEPS = r"""
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int step = 1; step <= 40; ++step) {
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("step %d: %d\n", step, sum), fflush(stdout);
    while (rank == 0 && step == 20 && access("go", F_OK) != 0) usleep(20000);
  }
  if (rank == 0) printf("the end\n");
  MPI_Finalize();
  return 0;
}
"""

# The parts that the example of docs/ulfm.md leaves to its reader: 20 steps, and the way back.
SURVIVOR = r"""
#include <stdio.h>
static int step, done;
static int do_a_step(MPI_Comm comm) {
  int next = step + 1, least = 0;
  int code = MPI_Allreduce(&next, &least, 1, MPI_INT, MPI_MIN, comm);
  if (code != MPI_SUCCESS) return code;
  step = least;
  done = step >= 20;
  return code;
}
static void go_back_to_the_last_good_state(MPI_Comm comm) {
  (void)comm; /* the next step finds the last one that all have done */
  done = 0;
}
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  EXAMPLE
  int members, rank;
  MPI_Comm_size(comm, &members);
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) printf("%d ranks after %d steps\n", members, step);
  MPI_Comm_free(&comm);
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


def indented(page, beginning):
    """The lines of the block of code by indentation that begins with this text."""
    found = re.findall(r"(?:\A|\n)\n((?:    \S.*\n)+)", (ROOT / page).read_text())
    lines = [[line.strip() for line in block.splitlines()] for block in found if block.strip().startswith(beginning)]
    if len(lines) != 1:
        raise AssertionError(f"{page} has {len(lines)} blocks that begin with '{beginning}'; one is expected")
    return lines[0]


def typed(page):
    """The lines behind '$' in a page of a sample."""
    return re.findall(r"^    \$ (.*)$", (ROOT / page).read_text(), re.MULTILINE)


def smaller(line):
    """The same command with less to compute."""
    return line.replace(" -s 4000", " -s 300").replace(" -r 60", " -r 5")


class Reader(unittest.TestCase):
    """A folder that looks like a clone in which `./dev build` has run."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.place = Path(self.folder.name)
        (self.place / "build").mkdir()
        (self.place / "build/release").symlink_to(BUILD)
        for name in ("dev", "docs", "samples", "tests"):
            (self.place / name).symlink_to(ROOT / name)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("LLAMADA_QOS")}
        # As after an installation: commands without a folder.
        self.environment["PATH"] = f"{BUILD}/bin:{BUILD}/samples:{os.environ['PATH']}"
        self.environment["LLAMADA_NAMESPACE"] = f"pages-{os.getpid()}"

    def compile(self, name, text):
        (self.place / f"{name}.c").write_text(text)
        self.run_line(f"mpicc {name}.c -o {name}")

    def run_line(self, line, place="."):
        """(standard output, standard error) of a command that has to succeed."""
        ran = subprocess.run(["/bin/sh", "-ec", line], cwd=self.place / place, env=self.environment, text=True,
                             stdin=subprocess.DEVNULL, capture_output=True)
        self.assertEqual(ran.returncode, 0, f"{line}\n{ran.stdout}\n{ran.stderr}")
        return ran.stdout, ran.stderr


    def start(self, line):
        """A process for this command. It ends with the test."""
        process = subprocess.Popen(["/bin/sh", "-c", f"exec {line}"], cwd=self.place, env=self.environment, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for cleanup in (process.stdout.close, process.stderr.close, process.wait, process.terminate):  # last one first
            self.addCleanup(cleanup)
        return process

    def wait_for(self, process, beginning):
        """Reads standard error up to a line that begins like this."""
        lines = []
        for line in iter(process.stderr.readline, ""):
            if line.startswith(beginning):
                return
            lines.append(line)
        self.fail(f"no line '{beginning}…' in:\n{''.join(lines)}")


class MpiProgramAndBatchQueue(Reader):
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

    def test_the_commented_profile_is_legal_and_means_what_its_comments_say(self):
        line = typed("samples/qos/README.md")[0]
        self.assertTrue(line.startswith("llamada qos check long-job.xml"), line)
        output, _ = self.run_line(line, "samples/qos")
        for text in ("REBUILD", "16 GiB", "4 GiB", "the job ends (on_unprotected STOP)", "at most 3 times for one rank",
                     "given up after 60 s"):
            self.assertIn(text, output)

    def test_mpirun_starts_a_job_as_its_page_says(self):
        self.compile("a.out", PROGRAM)
        lines = indented("docs/mpirun.md", "mpirun -n 4 ./a.out")
        self.assertEqual(len(lines), 2, lines)
        for line in lines:
            self.assertEqual(self.run_line(line)[0], "the sum of all ranks is 6\n")

    def test_the_example_of_checkpoints_goes_on_from_one(self):
        (self.place / "sum.c").write_text("\n".join(block_with("docs/checkpoints.md", "int main(")))
        self.environment["LLAMADA_STORE"] = str(self.place / "store")
        compiling, start = indented("docs/checkpoints.md", "mpicc sum.c")
        self.run_line(compiling)
        output, errors = self.run_line(start)
        self.assertEqual(output, "the sum is 2004000\n")
        self.assertIn("mpirun: rank 2 (incarnation 2) goes on from a checkpoint.\n", errors)
        self.assertEqual(list((self.place / "store").glob("*")), [])

    def test_the_example_of_checkpoints_in_fortran_goes_on_from_one(self):
        (self.place / "sum.f90").write_text("\n".join(block_with("docs/checkpoints.md", "use llamada_checkpoints")))
        self.environment["LLAMADA_STORE"] = str(self.place / "store")
        compiling, start = indented("docs/checkpoints.md", "mpifort sum.f90")
        self.run_line(compiling)
        output, errors = self.run_line(start)
        self.assertEqual(output, "the sum is  2004000.\n")
        self.assertIn("mpirun: rank 2 (incarnation 2) goes on from a checkpoint.\n", errors)

    def test_a_program_for_other_libraries_too_takes_checkpoints_only_with_this_one(self):
        example = "\n".join(block_with("docs/checkpoints.md", "int main("))
        by_header = "\n".join(block_with("docs/checkpoints.md", "#if __has_include"))
        weak = block_with("docs/checkpoints.md", "#pragma weak LLAMADA_Checkpoint_register")
        declared, called = weak[:weak.index("")], weak[weak.index("") + 1:]
        with_if = example.replace("#include <llamada-checkpoint.h>\n", "")
        for call in called:
            with_if = with_if.replace(call[call.index(") ") + 2:], call)
        with_if = with_if.replace("#include <stdio.h>\n", "\n".join(["#include <stdio.h>", *declared, ""]))
        for call in called:
            self.assertIn(call, with_if)
        self.environment["LLAMADA_STORE"] = str(self.place / "store")
        _, start = indented("docs/checkpoints.md", "mpicc sum.c")
        for name, text in {"header": example.replace("#include <llamada-checkpoint.h>", by_header), "weak": with_if}.items():
            self.compile(name, text)
            output, errors = self.run_line(start.replace("./sum", f"./{name}"))
            self.assertEqual(output, "the sum is 2004000\n")
            self.assertIn("goes on from a checkpoint", errors)
        self.check_built_with_mpich(with_if, start)

    def check_built_with_mpich(self, program, start):
        """One binary, built with MPICH's mpicc, runs there without checkpoints, and here with them."""
        if not shutil.which("mpicc.mpich") or not shutil.which("mpirun.mpich"):
            return
        (self.place / "either.c").write_text(program)
        self.run_line("mpicc.mpich either.c -o either")
        self.assertEqual(self.run_line("mpirun.mpich -n 4 ./either")[0], "the sum is 2004000\n")
        output, errors = self.run_line(f"LD_LIBRARY_PATH={BUILD}/lib " + start.replace("./sum", "./either"))
        self.assertEqual(output, "the sum is 2004000\n")
        self.assertIn("goes on from a checkpoint", errors)

    def test_profiles_by_name_and_from_a_file(self):
        self.compile("a.out", PROGRAM)
        own = (ROOT / "qos-profiles/fault-tolerant.xml").read_text()
        own = own.replace('name="llamada"', 'name="lab"').replace('name="fault_tolerant"', 'name="long"')
        (self.place / "mine.xml").write_text(own)
        lines = block_with("qos-profiles/README.md", "--qos ./mine.xml ")
        self.assertEqual(len(lines), 4, lines)
        for line in lines:
            self.assertEqual(self.run_line(line)[0], "the sum of all ranks is 6\n")

    def test_the_table_of_profiles_has_all_and_each_survives_what_it_says(self):
        text = (ROOT / "qos-profiles/README.md").read_text()
        rows = re.findall(r"^\| `([a-z-]+)` \| [^|]+\| ([^|]+) \|", text, re.MULTILINE)
        profiles = [path.stem for path in (ROOT / "qos-profiles").glob("*.xml")]
        self.assertEqual(sorted(name for name, _ in rows), sorted(profiles))
        for name, death in rows:
            ranks = json.loads(self.run_line(f"llamada qos check {name} --json")[0])["ranks"]
            said = {"the job ends": "A rank dies: the job ends", "it is replaced": "A rank dies: it is replaced",
                    "the others go on": "A rank dies: the others go on"}
            expected = [text for beginning, text in said.items() if death.startswith(beginning)]
            self.assertEqual(len(expected), 1, death)
            self.assertTrue(ranks["survives"][0].startswith(expected[0]), (name, ranks))

    def test_the_samples_verify_their_answers(self):
        for sample, expected in (("farm", "farm: VERIFIED"), ("heat", "heat: VERIFIED"), ("matmul", "matmul: VERIFIED")):
            line = typed(f"samples/{sample}/README.md")[0]
            self.assertTrue(line.startswith(f"mpirun -n 4 --qos fault-tolerant {sample} "), line)
            self.assertIn(expected, self.run_line(smaller(line))[0])


    def test_a_job_that_was_killed_whole_is_resumed(self):
        self.compile("a.out", STEPS)
        self.environment["LLAMADA_STORE"] = str(self.place / "jobs")
        start = "mpirun -n 8 --qos persistent ./a.out"
        self.assertIn([start], blocks("docs/resume.md"))
        ls, *listed, resume, said = block_with("docs/resume.md", "$ llamada job ls")
        steps = [f"step {step}: 28\n" for step in range(1, 41)] + ["the end\n"]
        job = self.start(start)
        self.assertEqual([job.stdout.readline() for _ in range(20)], steps[:20])
        kill_whole(job)
        # The page's lines, with the number, the size and the folder of this job.
        lines = self.run_line(ls.removeprefix("$ "))[0].splitlines()
        number = lines[0].split()[0]
        self.assertRegex(lines[0], listed[0].replace("4c6f11d20a9be375", number).replace("16.0", r"[\d.]+") + "$")
        self.assertEqual(lines[1:], [listed[1].replace("/home/anna/run", str(self.place.resolve()))])
        (self.place / "go").touch()
        output, errors = self.run_line(resume.removeprefix("$ ").replace("4c6f", number[:4]))
        again = output.splitlines(keepends=True)
        self.assertEqual(again, steps[-len(again):])
        self.assertGreaterEqual(len(again), 21)
        self.assertRegex(errors, said.replace("4c6f11d20a9be375", number).replace("1204", r"\d+") + "\n")
        self.assertTrue(self.run_line("llamada job ls")[0].startswith("No job is kept in "))


class ProgrammerOfTopics(Reader):
    def test_the_guides_first_program_prints_what_its_page_says(self):
        line = typed("samples/guide/README.md")[0]
        self.assertEqual(line, "build/release/samples/twenty_lines")
        self.assertEqual(self.run_line(line)[0], "sensor 7: 21.5\n")

    def test_topics_between_processes(self):
        for sample in ("primes", "matmul"):
            line = typed(f"samples/{sample}/README.md")[1]
            self.assertTrue(line.startswith(f"{sample}-topics -w 3 "), line)
            self.assertIn(f"{sample}: VERIFIED", self.run_line(smaller(line))[0])


class TesterForFailures(Reader):
    def test_the_example_of_ulfm_goes_on_without_a_rank(self):
        example = block_with("docs/ulfm.md", "#include <mpi-ext.h>")
        included = [line for line in example if line.startswith("#include")]
        body = [line for line in example if not line.startswith("#include")]
        (self.place / "solver.c").write_text("\n".join(included) + SURVIVOR.replace("EXAMPLE", "\n  ".join(body)))
        compiling, start, with_kills, on_nodes = [
            line.split("  #")[0].strip() for line in indented("docs/ulfm.md", "mpicc solver.c")]
        self.run_line(compiling)
        self.assertEqual(self.run_line(start)[0], "8 ranks after 20 steps\n")
        # The same command with a rule that fires at one place, however fast the program is.
        with_kill = with_kills.replace("kill any every ~5 s 3 times", "kill rank 3 in MPI_Allreduce 7")
        self.assertNotEqual(with_kill, with_kills)
        output, errors = self.run_line(with_kill)
        self.assertEqual(output, "7 ranks after 20 steps\n", errors)
        # Two hosts that are this one. The rule comes too late for this program.
        on_two = on_nodes.replace("-H a:4,b:4", "--launcher fork -H localhost:4,b:4")
        self.assertNotEqual(on_two, on_nodes)
        self.assertEqual(self.run_line(on_two)[0], "8 ranks after 20 steps\n")

    def test_the_recipe_for_ci_passes_with_a_program_that_survives(self):
        self.compile("long", STEPS)
        (self.place / "go").touch()
        script = "\n".join(block_with("docs/injection.md", "Usage: survives.sh"))
        # The same rule, in a call: it fires however fast the program ends. One seed is enough to try the script.
        script = script.replace("kill any every ~2 s 5 times seed $seed", "kill rank 2 in MPI_Allreduce 1$seed")
        script = script.replace("1 2 3 4 5", "1")
        self.assertIn("in MPI_Allreduce 1$seed", script)
        (self.place / "survives.sh").write_text(script + "\n")
        self.run_line("chmod +x survives.sh; ./survives.sh ./long")
        self.assertIn("the end\n", (self.place / "got.txt").read_text())

    def test_a_rank_is_killed_after_a_time_and_another_in_the_running_job(self):
        self.compile("solver", STEPS)
        start, _, injection = indented("docs/injection.md", "mpirun -n 4 --qos fault-tolerant --inject 'kill rank 2")
        job = self.start(start)
        self.wait_for(job, "mpirun: rank 2 is live again")
        number = re.search(r"^job-([0-9a-f]{16})", self.run_line("llamada ls")[0], re.MULTILINE).group(1)
        self.assertIn("kill rank 0 after 0 s", self.run_line(injection.replace("5f3a", number[:4]))[0])
        self.wait_for(job, "mpirun: rank 0 of 4 died.")
        (self.place / "go").touch()
        output, errors = job.communicate()
        self.assertEqual(job.returncode, 0, errors)
        self.assertEqual(output, "".join(f"step {step}: 6\n" for step in range(1, 41)) + "the end\n")


class Contributor(Reader):
    def test_the_script_lists_every_command_of_the_page(self):
        listed = set(re.findall(r"^\./dev (\S+)", self.run_line("./dev help")[0], re.MULTILINE))
        named = {word for page in ("docs/contributing.md", "docs/releasing.md", "README.md")
                 for block in blocks(page) for line in block for word in re.findall(r"^\./dev (\S+)", line)}
        self.assertTrue(named)
        self.assertEqual(named - listed, set())

    def test_the_manual_pages_have_the_options_of_the_help_texts(self):
        commands = {"mpirun": "mpirun"}
        for name in re.findall(r"^  (\w+) {2,}", self.run_line("llamada --help")[0].split("Subcommands:")[1], re.MULTILINE):
            if name == "qos":
                commands["llamada qos check"] = commands["llamada qos match"] = "llamada-qos"
            elif name == "job":
                commands["llamada job ls"] = commands["llamada job rm"] = "llamada-job"
            elif name == "persist":
                commands |= {f"llamada persist {verb}": "llamada-persist" for verb in ("ls", "show", "drop")}
            elif name != "help":
                commands[f"llamada {name}"] = f"llamada-{name}"
        self.assertGreater(len(commands), 9)
        for command, page in commands.items():
            helped = self.run_line(f"{command} --help")[0].split("Also taken:")[0]
            manual = (ROOT / f"docs/man/{page}.1").read_text().replace("\\-", "-")
            heads = " ".join(re.findall(r"^ +(-.*?)(?:  |$)", helped, re.MULTILINE))
            options = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", heads)) - {"-h", "--help"}
            self.assertTrue(options or command in ("llamada inject", "llamada drain", "llamada migrate"), helped)
            self.assertEqual({option for option in options if option not in manual}, set(), command)

    def test_test_cases_run_by_name(self):
        line = next(line for line in block_with("docs/contributing.md", "./dev check --quick") if "test_qos" in line)
        self.assertIn("All tests passed", self.run_line(line.split("  #")[0])[0])

    def test_the_page_on_contributing_passes_its_own_check(self):
        for page in ("docs/contributing.md", "README.md"):
            self.assertEqual(self.run_line(f"python3 tests/tidy/prose.py {ROOT / page}")[0], "")


if __name__ == "__main__":
    BUILD = Path(sys.argv.pop(1)).resolve()
    unittest.main()
