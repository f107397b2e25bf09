"""A case of bench.py: a program with arguments on so many ranks, and how its figures are read."""
import re

PEERS = ("mpich", "openmpi")
OURS = ("default", "fault-tolerant")
MADE_BEFORE = ("fault-tolerant-long",)
# The units of figures of which more is better.
HIGHER_IS_BETTER = ("M/s", "GB/s", "%", "Mop/s")

NUMBER = r"-?[\d.]+(?:e[-+]\d+)?"
# "NAME X VALUE UNIT [LINE CORES]" (bench.h). Programs print other lines, too.
FIGURE = re.compile(rf"(\S+) (\d+) ({NUMBER}) (\S+)(?: ({NUMBER}) (whole|shared))?")


def figures_in(text):
    """Of each its name, value and unit, and if the program probed them meanwhile the cache line's ns and whether the cores were "whole"
    or "shared"."""
    found = (FIGURE.fullmatch(line) for line in text.splitlines())
    return [[f"{each[1]} {each[2]}", float(each[3]), each[4]] + ([float(each[5]), each[6]] if each[5] else []) for each in found if each]


class Case:
    """In a round it has so many `turns`, of each configuration in each, but those of `rarely` in one of `rare_turns`. `figure`: its whole
    time is the figure of that name. A program prints others as lines."""

    def __init__(self, name, program, ranks=2, arguments=(), figure=None, configurations=OURS + PEERS, turns=1, rarely=(), rare_turns=2):
        self.name, self.program, self.ranks, self.arguments = name, program, ranks, list(arguments)
        self.figure, self.configurations, self.turns, self.rarely, self.rare_turns = figure, configurations, turns, rarely, rare_turns

    def runs(self):
        """Of one round, each a turn and a configuration, in order."""
        return [(turn, configuration) for turn in range(1, self.turns + 1) for configuration in self.configurations[::1 if turn % 2 else -1]
                if turn % self.rare_turns == 0 or configuration not in self.rarely]

    # Whether it takes so long that the machine goes to and fro between its states meanwhile.
    is_long = False

    def prepare(self, folder):
        """Writes what the program reads into the folder in which it will run."""

    def launcher(self, configuration, build):
        """The words before the program's."""
        if configuration == "mpich":
            return ["mpiexec.mpich", "-n", str(self.ranks)]
        if configuration == "openmpi":
            return ["mpiexec.openmpi", "--oversubscribe", "--bind-to", "none", "-n", str(self.ranks)]
        return [str(build / "bin/mpirun"), "-n", str(self.ranks), "--qos", configuration]

    def figures(self, text, seconds, folder):
        """As figures_in gives them. ValueError: the program's result is wrong."""
        figures = figures_in(text)
        if self.figure:
            figures.append([self.figure, seconds * 1e3, "ms"])
        return figures
