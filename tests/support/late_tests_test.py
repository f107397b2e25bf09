"""What late_tests.py makes of ctest's files, and what it prints of a test that is late."""
import os
import subprocess
import sys
import unittest

import late_tests

FILE = r"""
add_test([=[pages]=] "/usr/bin/check" "a b" "say \"so\"")
set_tests_properties([=[pages]=] PROPERTIES  LABELS "unit" TIMEOUT "60" _BACKTRACE_TRIPLES "/x;1;add_test")
add_test([=[coll]=] "/tests/coll")
set_tests_properties([=[coll]=] PROPERTIES  LABELS "unit" _BACKTRACE_TRIPLES "/x;2;add_test")
add_test([=[coll.far]=] "/tests/coll")
set_tests_properties([=[coll.far]=] PROPERTIES  ENVIRONMENT "NODES=1;LINKS=udp" TIMEOUT "300" _BACKTRACE_TRIPLES "/x;3;add_test")
"""

# A test that starts another process, and leaves one behind in its name space.
PARENT = """
import os, subprocess, sys, time
child = subprocess.Popen(["sleep", "1000"], stdout=subprocess.DEVNULL)
behind = subprocess.run(["sh", "-c", "sleep 2000 > /dev/null & echo $!"], stdout=subprocess.PIPE, text=True).stdout.strip()
print("started", child.pid, behind, flush=True)
time.sleep(3000)
"""


class Limits(unittest.TestCase):
    def test_are_read_from_the_files_of_ctest(self):
        self.assertEqual(late_tests.limits_in(FILE), [
            ("pages", ("/usr/bin/check", "a b", 'say "so"'), set(), 60),
            ("coll", ("/tests/coll",), set(), late_tests.USUAL_LIMIT),
            ("coll.far", ("/tests/coll",), {"NODES=1", "LINKS=udp"}, 300),
        ])

    def test_tests_with_one_command_differ_by_their_environment(self):
        tests = late_tests.limits_in(FILE)
        name = lambda *arguments: (late_tests.find_test(tests, *arguments) or [None])[0]
        self.assertEqual(name(["/tests/coll"], {"HOME=/"}), "coll")
        self.assertEqual(name(["/tests/coll"], {"HOME=/", "NODES=1", "LINKS=udp"}), "coll.far")
        self.assertEqual(name(["/bin/sh", "/usr/bin/check", "a b", 'say "so"'], set()), "pages")
        self.assertIsNone(name(["/tests/other"], set()))


class Late(unittest.TestCase):
    def setUp(self):
        self.command = [sys.executable, "-c", PARENT]
        self.test = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True,
                                     env={**os.environ, "LLAMADA_NAMESPACE": f"late-{os.getpid()}"})
        self.started = [int(word) for word in self.test.stdout.readline().split()[1:]]

    def tearDown(self):
        self.test.kill()
        for pid in self.started:
            os.kill(pid, 9)
        self.test.stdout.close()
        self.test.wait()

    def watch(self, limit):
        return late_tests.Watch(os.getpid(), [("late", tuple(self.command), set(), limit)])

    def test_all_processes_of_a_late_test_are_told_of_once_in_its_own_output(self):
        watch = self.watch(late_tests.TOLD_BEFORE)
        self.assertTrue(watch.look())
        self.assertTrue(watch.look())
        self.test.kill()
        text = self.test.stdout.read()
        self.assertEqual(text.count("== LATE: "), 1)
        self.assertEqual(text.count("== END OF LATE"), 1)
        for pid in [self.test.pid, *self.started]:
            self.assertEqual(text.count(f"-- process {pid}: "), 1)
        self.assertGreaterEqual(text.lower().count("thread "), 3)

    def test_nothing_is_told_of_a_test_that_has_time(self):
        self.assertTrue(self.watch(late_tests.TOLD_BEFORE + 1000).look())
        self.test.kill()
        self.assertEqual(self.test.stdout.read(), "")

    def test_the_kernel_knows_something_where_there_is_no_gdb(self):
        self.assertIn("waits in ", late_tests.seen_by_kernel(late_tests.Process(self.test.pid)))

    def test_the_watch_ends_with_its_ctest(self):
        watch = self.watch(1000)
        watch.ctest.started -= 1
        self.assertFalse(watch.look())


if __name__ == "__main__":
    unittest.main()
