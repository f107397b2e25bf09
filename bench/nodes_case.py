"""The cases of `bench.py --nodes`: the same programs on two nodes, which are network namespaces of this machine that a bridge
joins (tests/support/nodes), under our links and under the other MPIs over TCP. nodes.md and nodes.json have medians by the
machine's state, and ratios to the better of the other MPIs.
"""
import contextlib
import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from aims import as_table, cells
from case import HIGHER_IS_BETTER, PEERS, Case
from report import Figures, by_state, quartiles, shown, title_of

# Ours, by the link between the nodes: options of mpirun.
LINKS = {"udp": ["--link", "udp"], "ethernet": ["--link", "ethernet"]}
EXIT_SKIPPED = 77
# figure, bound, and of which links.
AIMS = (("pingpong 8", 1.0, ("udp",)), ("pingpong 8", 0.8, ("ethernet",)),
        ("changed_stream 1048576", 1.0, ("udp", "ethernet")),
        *((f"Allreduce_{ranks} {size}", 1.0, ("udp", "ethernet")) for ranks in (2, 4) for size in (8, 65536)))


class Refused(Exception):
    """This machine makes no nodes: why."""


class Bed:
    """Two nodes while it is entered, and a server by which a program in one starts programs in the other, as by ssh."""

    def __init__(self, build, environment):
        self.nodes, self.environment = build / "tests/nodes", environment

    def __enter__(self):
        made = subprocess.run([str(self.nodes), "up", "2"], capture_output=True, text=True)
        if made.returncode == EXIT_SKIPPED:
            raise Refused(made.stdout.strip().removeprefix("SKIPPED: "))
        if made.returncode != 0:
            raise OSError(f"no nodes could be made: {made.stderr.strip()}")
        self.id = made.stdout.strip()
        self.folder = Path(tempfile.mkdtemp(prefix="llamada-bench-"))
        socket = self.folder / "agents"
        self.server = subprocess.Popen(self.command("agents", str(socket)), env=self.environment)
        # hydra_pmi_proxy and orted come with quotes for the shell that sshd would start.
        self.agent = self.folder / "agent"
        self.agent.write_text(f'#!/bin/sh\nhost=$1\nshift\nexec {self.nodes} --bed {self.id} agent {socket} "$host" /bin/sh -c "$*"\n')
        self.agent.chmod(0o755)
        while not socket.exists() and self.server.poll() is None:
            time.sleep(0.01)
        return self

    def command(self, *words):
        return [str(self.nodes), "--bed", self.id, *words]

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait()
        subprocess.run(self.command("down"))
        shutil.rmtree(self.folder)


class NodesCase(Case):
    """On two nodes, with so many ranks on each."""

    def __init__(self, name, program, ranks_of_node=1, arguments=(), turns=1):
        super().__init__(name, program, 2 * ranks_of_node, arguments, configurations=(*LINKS, *PEERS), turns=turns)
        self.ranks_of_node = ranks_of_node
        self.bed = None

    def launcher(self, configuration, build):
        hosts = ",".join(f"{host}:{self.ranks_of_node}" for host in ("node0", "node1"))
        if configuration == "mpich":
            words = ["env", "UCX_TLS=tcp,sm,self", "UCX_NET_DEVICES=eth0", "mpiexec.mpich", "-launcher", "rsh", "-launcher-exec",
                     str(self.bed.agent), "-hosts", hosts, "-n", str(self.ranks)]
        elif configuration == "openmpi":
            words = ["mpiexec.openmpi", "--bind-to", "none", "--mca", "plm_rsh_agent", str(self.bed.agent), "--mca", "pml", "ob1",
                     "--mca", "btl", "tcp,vader,self", "--mca", "btl_tcp_if_include", "eth0", "--mca", "oob_tcp_if_include", "eth0",
                     "-H", hosts, "-n", str(self.ranks)]
            if self.ranks_of_node > 1:
                # Its nodes do not know that they share their cores.
                words += ["--mca", "mpi_yield_when_idle", "1"]
        else:
            words = [str(build / "bin/mpirun"), "--launcher-exec", str(self.bed.agent), "-H", hosts.replace("node0", "localhost"), "-n",
                     str(self.ranks), "--qos", "default", *LINKS[configuration]]
        return self.bed.command("exec", "0", *words)


def nodes_cases():
    return [NodesCase("nodes pingpong", "pingpong", turns=4), NodesCase("nodes rate", "stream", arguments=["rate"], turns=4),
            NodesCase("nodes bandwidth", "stream", arguments=["changed"], turns=4),
            NodesCase("nodes Allreduce 2x1", "collectives", 1, ["8,1024,65536,1048576", "Allreduce"], turns=4),
            NodesCase("nodes Allreduce 2x2", "collectives", 2, ["8,1024,65536,1048576", "Allreduce"], turns=4)]


@contextlib.contextmanager
def bed_for(cases, build, environment):
    """The nodes that `cases` run on. Refused: see there."""
    with Bed(build, environment) as bed:
        for case in cases:
            case.bed = bed
        yield


def aims_of(figures):
    rows = []
    for name, bound, links in AIMS:
        peer = figures.better_peer(name) if name in figures.values else None
        for link in links:
            ratios = figures.ratios(name, link, peer) if peer else []
            if ratios:
                rows.append(cells(f"{link}: {title_of(name)}, beside the better MPI's TCP", bound, ratios, f"of {len(ratios)}",
                                  figures.units[name] in HIGHER_IS_BETTER))
    return as_table(rows)


def table(figures):
    """Lines of Markdown, and the same as JSON has it."""
    links = [link for link in LINKS if any(link in by for by in figures.values.values())]
    names = [*links, *PEERS]
    lines = ["| what | unit | " + " | ".join(names) + " | " + " | ".join(f"{link}/p" for link in links) + " |",
             "| --- | --- |" + " ---: |" * (len(names) + len(links))]
    rows = {}
    for figure in figures.names():
        peer = figures.better_peer(figure)
        row = {"unit": figures.units[figure], "quartiles": {name: figures.median(figure, name) for name in names},
               "better_peer": peer, "ratio_to_better_peer": {link: figures.ratio(figure, link, peer) for link in links if peer}}
        medians = [shown(row["quartiles"][name][1]) for name in names]
        ratios = [shown(row["ratio_to_better_peer"].get(link, [None] * 3)[1]) for link in links]
        lines.append(f"| {title_of(figure)} | {figures.units[figure]} | " + " | ".join(medians + ratios) + " |")
        rows[figure] = row
    return lines, rows


def write_nodes_report(place, about, samples):
    """Writes nodes.json and nodes.md into `place`; the Markdown is given back, too."""
    machine = about["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items() if version)
    lines = [f"# Two nodes: {about['commit']}, {about['date']}", "",
             f"{machine['processor']}, {machine['cores']} cores, Linux {machine['kernel']}; beside {versions} over TCP. Two namespaces "
             f"joined by veth and a bridge, {about['rounds']} interleaved rounds.", "",
             "Medians. *udp/p*, *ethernet/p*: the default profile over that link beside the better of the other MPIs, the median "
             "of the ratios of samples of one round and state (for times below 1 is better, for rates above).", ""]
    states = []
    for state, part in by_state(samples):
        figures = Figures(part)
        line = quartiles([sample["before"]["line_ns"] for sample in part])[1]
        rows_as_text, rows = table(figures)
        lines += [f"## The machine's {state} state", "", f"A cache line there and one back, half of it: {shown(line)} ns.", "",
                  *aims_of(figures), *rows_as_text, ""]
        states.append({"state": state, "line_ns": line, "figures": rows})
    text = "\n".join(lines)
    (place / "nodes.json").write_text(json.dumps(dict(about, states=states), indent=1) + "\n")
    (place / "nodes.md").write_text(text + "\n")
    return text
