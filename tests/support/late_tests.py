#!/usr/bin/env python3
"""Prints where the processes of a test stand that is about to be killed at its time limit.

    late_tests.py BUILD_FOLDER        watches the ctest that has started this, until that ends

ctest kills a test that hangs, and a rare hang leaves nothing else. Some time before that the stacks of all its
processes go into the test's own output. Where gdb is missing, or may not attach, the kernel's view takes their place:
what each thread is called, and in which call it waits.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import time

TOLD_BEFORE = 30  # seconds; a job may have many processes, and the machine other work
USUAL_LIMIT = 1500  # ctest's own
GDB_LIMIT = 20
BETWEEN_LOOKS = 3
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def read(path):
    """The file's content as text; empty if there is none any more, or it may not be read."""
    try:
        with open(path, "rb") as file:
            return file.read().decode(errors="replace")
    except OSError:
        return ""


# ---- what ctest knows


def cmake_words(text):
    """The quoted arguments of a command in a CTestTestfile.cmake."""
    return [re.sub(r"\\(.)", r"\1", word) for word in re.findall(r'"((?:[^"\\]|\\.)*)"', text)]


def limits_in(text):
    """Of each test in a CTestTestfile.cmake: its command line, its environment, and its time limit in seconds."""
    commands = {name: cmake_words(rest) for name, rest in re.findall(r"^add_test\(\[=\[(.*?)\]=\] (.*)\)$", text, re.M)}
    found = []
    for name, rest in re.findall(r"^set_tests_properties\(\[=\[(.*?)\]=\] PROPERTIES (.*)\)$", text, re.M):
        limit = re.search(r'\bTIMEOUT "(\d+)"', rest)
        environment = re.search(r'\bENVIRONMENT "((?:[^"\\]|\\.)*)"', rest)
        if name in commands:
            found.append((name, tuple(commands[name]), set(environment.group(1).split(";")) if environment else set(),
                          int(limit.group(1)) if limit else USUAL_LIMIT))
    return found


def all_limits(build):
    found = []
    for path in glob.glob(os.path.join(glob.escape(build), "**", "CTestTestfile.cmake"), recursive=True):
        found += limits_in(read(path))
    return found


def find_test(tests, command, environment):
    """The test that a process runs: of those with its command line, the one with most of its environment."""
    fitting = [test for test in tests if tuple(command[-len(test[1]):]) == test[1] and test[2] <= environment]
    return max(fitting, key=lambda test: len(test[2]), default=None)


# ---- what the kernel knows


class Process:
    def __init__(self, pid):
        self.pid = pid
        stat = read(f"/proc/{pid}/stat").rpartition(")")[2].split()
        self.parent = int(stat[1]) if stat else 0
        self.started = int(stat[19]) / TICKS_PER_SECOND if stat else 0.0
        self.is_there = bool(stat) and stat[0] != "Z"

    def command(self):
        return read(f"/proc/{self.pid}/cmdline").split("\0")[:-1]

    def environment(self):
        return set(read(f"/proc/{self.pid}/environ").split("\0"))

    def age(self):
        return float(read("/proc/uptime").split()[0]) - self.started


def all_processes():
    return [process for process in map(Process, (int(name) for name in os.listdir("/proc") if name.isdigit()))
            if process.is_there]


def name_spaces(process):
    return {word for word in process.environment() if word.startswith("LLAMADA_NAMESPACE=")}


def processes_of(test, everything):
    """The test's process, all that it has started, and what lives in the background in their name spaces."""
    found = [test]
    for process in found:
        found += [other for other in everything if other.parent == process.pid]
    names = set().union(*map(name_spaces, found))
    known = {process.pid for process in found}
    parents = {process.pid: process.parent for process in everything}
    return found + [process for process in everything if process.pid not in known and parents.get(process.parent) in (0, None)
                    and names & name_spaces(process)]


def seen_by_kernel(process):
    lines = []
    for task in sorted(glob.glob(f"/proc/{process.pid}/task/*"), key=lambda path: int(os.path.basename(path))):
        name, channel, call = (read(f"{task}/{file}").strip() for file in ("comm", "wchan", "syscall"))
        lines.append(f"thread {os.path.basename(task)} ({name}): waits in {channel or '?'}; system call {call or '?'}")
    return "\n".join(lines)


def stacks_of(process):
    head = f"-- process {process.pid}: {' '.join(process.command())}\n"
    if not shutil.which("gdb"):
        return head + seen_by_kernel(process) + "\n"
    try:
        gdb = subprocess.run(["gdb", "-nx", "-batch", "-p", str(process.pid), "-ex", "thread apply all bt 40"], timeout=GDB_LIMIT,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace")
        stacks = gdb.stdout[gdb.stdout.find("\nThread "):] if "\nThread " in gdb.stdout else ""
    except subprocess.TimeoutExpired:
        stacks = ""
    return head + (stacks.strip() or seen_by_kernel(process)) + "\n"


# ---- both together


def tell(test, limit, everything):
    text = f"\n== LATE: {test.age():.0f} of {limit} s are over. Where its processes stand:\n"
    text += "".join(map(stacks_of, processes_of(test, everything))) + "== END OF LATE\n"
    try:
        with open(f"/proc/{test.pid}/fd/1", "a", encoding="utf-8") as output:
            output.write(text)
    except OSError:
        pass  # it has just ended


class Watch:
    """What has been told of the tests of one ctest."""

    def __init__(self, ctest, tests):
        self.ctest = Process(ctest)
        self.tests = tests
        self.told = set()

    def look(self):
        """Tells of the tests that are late by now. False when ctest has ended."""
        everything = all_processes()
        if (self.ctest.pid, self.ctest.started) not in {(process.pid, process.started) for process in everything}:
            return False
        for process in everything:
            if process.parent == self.ctest.pid and (process.pid, process.started) not in self.told:
                self.look_at(process, everything)
        return True

    def look_at(self, process, everything):
        test = find_test(self.tests, process.command(), process.environment())
        if test is None or process.age() < test[3] - TOLD_BEFORE:
            return
        self.told.add((process.pid, process.started))
        tell(process, test[3], everything)


def main(arguments):
    if arguments[0] == "--watch":
        watch = Watch(int(arguments[1]), all_limits(arguments[2]))
        while watch.look():
            time.sleep(BETWEEN_LOOKS)
        return
    # In the background: ctest waits for who has its pipes. Without its environment: tests look for that.
    subprocess.Popen([sys.executable, "-B", os.path.abspath(__file__), "--watch", str(os.getppid()), arguments[0]],
                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                     cwd="/", env={"PATH": os.environ.get("PATH", os.defpath)})


if __name__ == "__main__":
    main(sys.argv[1:])
