"""A persistence service and programs on topics, in a namespace of drivers of their own, for the scripts here."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from outlive import is_alive, send

ROOT = pathlib.Path(__file__).resolve().parents[2]
QOS = ROOT / "samples/qos/kept-topics.xml"
PATIENCE_S = 90


class Program:
    """A process whose output is read line by line, each with the time at which it came."""

    def __init__(self, words, environment, folder, pass_fds=(), limit=None):
        self.lines, self.began = [], time.monotonic()
        self.process = subprocess.Popen([str(word) for word in words], env=environment, cwd=folder, text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        pass_fds=pass_fds, preexec_fn=limit)
        self.pid = self.process.pid
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append((time.monotonic(), line.rstrip()))

    def said(self):
        """What it has said. The workers of a killed master may still hold its output open."""
        self.reader.join(0.2)
        return "\n".join(line for _, line in self.lines)

    def moment(self, text):
        """When it said this first; nothing: it has not."""
        return next((at for at, line in list(self.lines) if text in line), None)

    def await_line(self, text, patience_s=PATIENCE_S):
        until = time.monotonic() + patience_s
        while self.moment(text) is None and time.monotonic() < until and self.reader.is_alive():
            time.sleep(0.002)
        return self.moment(text)

    def wait(self, patience_s=PATIENCE_S):
        """Its exit code; nothing: it hangs."""
        try:
            return self.process.wait(patience_s)
        except subprocess.TimeoutExpired:
            return None

    def kill(self):
        self.process.kill()
        self.process.wait()


class Bed:
    """The place of one run. Nothing of it may be left afterwards: end() says what was."""

    count = 0

    def __init__(self, build):
        Bed.count += 1
        self.build = build
        self.name = f"kept-{os.getpid()}-{Bed.count}"
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kept."))
        self.store = self.folder / "store"
        self.environment = dict(os.environ, LLAMADA_NAMESPACE=self.name, LLAMADA_STORE=str(self.folder / "jobs"))
        self.service, self.services = None, []
        self.shared = set(os.listdir("/dev/shm"))

    # The service.

    def start_service(self, before=(), environment=None, limit=None, patience_s=PATIENCE_S):
        """Returns when topics are kept: the seconds that took. Nothing: it has ended instead. `before` are words in front
        of the command."""
        ready, tell = os.pipe()
        os.set_inheritable(tell, True)
        begun = time.monotonic()
        words = [*before, self.build / "bin/llamada-persistd", "--store", self.store, "--ready-descriptor", tell]
        self.service = Program(words, {**self.environment, **(environment or {})}, self.folder, (tell,), limit)
        self.services.append(self.service)
        os.close(tell)
        os.set_blocking(ready, True)
        with os.fdopen(ready, "rb") as end:
            is_ready = end.read(1) == b"r"
        return time.monotonic() - begun if is_ready else None

    def service_pid(self):
        """That of the service itself, also where a command stands before it."""
        found = [pid for pid in self.processes() if "llamada-persistd" in command(pid)[:1]]
        return found[0] if found else self.service.pid

    def end_service(self):
        """In good order; what was wrong with its end, or nothing."""
        if self.service is None:
            return None
        send([self.service_pid()], signal.SIGTERM)
        code = self.service.wait()
        return None if code == 0 else f"the service ended with {code}: {self.service.said()[-500:]}"

    def all_said(self):
        return "\n".join(each.said() for each in self.services)

    def persist(self, what, *words):
        """`llamada persist`: its exit code and what it said."""
        ran = subprocess.run([str(self.build / "bin/llamada"), "persist", what, str(self.store), *words],
                             env=self.environment, capture_output=True, text=True)
        return ran.returncode, ran.stdout + ran.stderr

    # Programs.

    def start(self, words, environment=None, limit=None):
        return Program(words, {**self.environment, **(environment or {})}, self.folder, limit=limit)

    def processes(self):
        """All processes of this namespace."""
        wanted = f"LLAMADA_NAMESPACE={self.name}".encode()
        found = []
        for entry in os.listdir("/proc"):
            try:
                if entry.isdigit() and wanted in pathlib.Path(f"/proc/{entry}/environ").read_bytes().split(b"\0"):
                    found.append(int(entry))
            except OSError:
                pass
        return [pid for pid in found if is_alive(pid)]

    def end(self, patience_s=20):
        """What is left on the machine, or nothing. It is removed."""
        until = time.monotonic() + patience_s
        while (left := self.processes()) and time.monotonic() < until:
            time.sleep(0.01)
        texts = [" ".join(command(pid)) for pid in left]
        send(left, signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)
        texts += sorted(name for name in set(os.listdir("/dev/shm")) - self.shared if "llamada" in name)
        texts += [line for line in pathlib.Path("/proc/self/mounts").read_text().splitlines() if str(self.folder) in line]
        return f"left behind: {texts}" if texts else None


def command(pid):
    """The words of a process's command line, the first one without its folder."""
    try:
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:-1]
    except OSError:
        return []
    return [pathlib.Path(words[0]).name, *words[1:]] if words else []


def kill_together(pids):
    """Stopped first, so that no death causes another."""
    send(pids, signal.SIGSTOP)
    send(pids, signal.SIGKILL)
    while any(is_alive(pid) for pid in pids):
        time.sleep(0.001)
