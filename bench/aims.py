"""What is aimed at, and how far the figures of a run are from it: the first table of report.md."""
import math
import statistics

from case import HIGHER_IS_BETTER

KIB, MIB = 1 << 10, 1 << 20


def beside_peer(ours):
    def measure(figures, name):
        peer = figures.better_peer(name)
        return figures.ratios(name, ours, peer) if peer else []
    return measure


def beside_default(figures, name):
    return figures.ratios(name, "fault-tolerant", "default")


def beside_line(figures, name):
    return figures.line_ratios(name, "default")


def itself(figures, name):
    return figures.all(name, "default")


def sizes(heads, low, high):
    def selects(name):
        head, _, size = name.rpartition(" ")
        return head in heads and low <= int(size) <= high
    return selects


def is_collective(name):
    """"Bcast_4 8": of unchanged content."""
    head = name.split(" ")[0]
    return head[0].isupper() and "_" in head


def is_whole_program(name):
    return name.startswith(("hpcc ", "whole-"))


NOT_MET = "**not met**"
# How surely an interval holds the median of which some samples were taken.
SURE = 0.9


def interval(values):
    """Of the median, by order statistics, which ask nothing of the distribution; of fewer than five values all there are."""
    values, count = sorted(values), len(values)
    outside, beyond = 0, 0
    while 2 * (beyond + math.comb(count, outside)) <= (1 - SURE) * 2 ** count:
        beyond += math.comb(count, outside)
        outside += 1
    outside = max(0, outside - 1)
    return values[outside], values[count - 1 - outside]


def cells(text, bound, values, where, is_least=False):
    """A row of a table of aims."""
    def is_within(value):
        return value >= bound if is_least else value <= bound
    value, ends = statistics.median(values), interval(values)
    met = "met" if is_within(value) else "within the noise" if any(map(is_within, ends)) else NOT_MET
    spread = f" ({ends[0]:.3g} to {ends[1]:.3g})" if len(values) > 1 else ""
    return [text, f"{'≥' if is_least else '≤'} {bound:g}", f"{value:.3g}{spread}", where, met]


def as_table(rows):
    """Lines of Markdown; none if nothing was measured that something is aimed at for."""
    if not rows:
        return []
    return ["| aim | bound | worst | where | |", "| --- | ---: | ---: | --- | --- |",
            *("| " + " | ".join(row) + " |" for row in rows), ""]


class Aim:
    """`bound` is the most, of ratios of rates the least, that the median of what `measure` gives of each figure that `selects`
    takes may be; with `of_all` the median of these. `bound` may be a function of the machine's state (report.STATES); None: nothing is
    aimed at."""

    def __init__(self, text, selects, measure, bound, of_all=False):
        self.text, self.selects, self.measure, self.bound, self.of_all = text, selects, measure, bound, of_all

    def row(self, figures, state, title_of):
        """Cells of the table, or none where nothing of it was measured."""
        measured = {name: self.measure(figures, name) for name in figures.names() if self.selects(name)}
        if not measured:
            return None
        bound = self.bound(state) if callable(self.bound) else self.bound
        if bound is None:
            return None
        is_least = figures.units[next(iter(measured))] in HIGHER_IS_BETTER
        values = {name: of_name for name, of_name in measured.items() if of_name}
        lacking = f"; {len(measured) - len(values)} not compared" if len(values) < len(measured) else ""
        if not values:
            return [self.text, f"{'≥' if is_least else '≤'} {bound:g}", "-", lacking[2:], "-"]
        if self.of_all:
            middle = statistics.median(map(statistics.median, values.values()))
            return cells(self.text, bound, [middle], f"median of {len(values)}{lacking}", is_least)
        rows = [cells(self.text, bound, values[name], f"{title_of(name)} (of {len(values)}){lacking}", is_least)
                for name in sorted(values, key=lambda name: statistics.median(values[name]), reverse=not is_least)]
        return next((row for row in rows if row[-1] == NOT_MET), rows[0])


def messages(ours, small, medium, large, stream, rate):
    """Of messages beside the better of the other MPIs."""
    measure = beside_peer(ours)
    both = ("pingpong", "anysource")
    return [Aim(f"{ours}: 0 to 64 B there and back, beside the better MPI", sizes(both, 0, 64), measure, small),
            Aim(f"{ours}: 1 to 4 KiB", sizes(both, KIB, 4 * KIB), measure, medium),
            Aim(f"{ours}: 16 KiB to 4 MiB", sizes(both, 16 * KIB, 4 * MIB), measure, large),
            Aim(f"{ours}: streams of 64 KiB to 4 MiB", sizes(("bandwidth",), 64 * KIB, 4 * MIB), measure, stream),
            Aim(f"{ours}: small messages a second", sizes(("rate",), 0, 64), measure, rate)]


AIMS = [
    Aim("default: 0 to 64 B there and back, beside the cache line", sizes(("pingpong",), 0, 64), beside_line,
        # Where half of a core is somebody else's, what is done beside the line takes as long as the line.
        lambda state: 1.6 if state in ("fast", "slow") else None),
    *messages("default", lambda state: 1 if state.startswith("slow") else 0.8, 0.75, 0.5, 2, 2.5),
    *messages("fault-tolerant", 1, 1, 1, 1, 1),
    Aim("default: each collective, beside the better MPI", is_collective, beside_peer("default"), 1),
    Aim("default: all collectives", is_collective, beside_peer("default"), 0.6, of_all=True),
    Aim("start and end of 16 ranks, ms", lambda name: name == "launch 16", itself, 100),
    Aim("start and end of 64 ranks, ms", lambda name: name == "launch 64", itself, 300),
    Aim("processor time of a rank that waits for 2 s, ms", lambda name: name == "idle 2", itself, 20),
    Aim("default: whole programs, beside the better MPI", is_whole_program, beside_peer("default"), 1),
    Aim("fault-tolerant: whole programs, beside default", is_whole_program, beside_default, 1.05),
]


def table(figures, state, title_of):
    """`state`: one of report.STATES; of long programs none."""
    return as_table([row for row in (aim.row(figures, state, title_of) for aim in AIMS) if row])
