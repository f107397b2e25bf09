"""What the report of ./dev bench makes of samples."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

import case
import report

ABOUT = {"machine": {"processor": "one", "cores": 2, "kernel": "6", "versions": {"mpich": "4"}}, "commit": "c",
         "rounds": 1, "date": "2026-11-25", "only": ""}


def sample(configuration, figures, before=60.0, after=60.0, turn=1, stolen=0.0, long=False):
    return {"round": 1, "turn": turn, "case": "pingpong", "configuration": configuration, "long": long,
            "before": {"line_ns": before, "copy_gbs": 40.0}, "after": {"line_ns": after, "copy_gbs": 40.0},
            "stolen": stolen, "figures": figures}


def written(samples):
    with tempfile.TemporaryDirectory() as name:
        report.write_report(Path(name), ABOUT, samples)
        return (Path(name) / "report.md").read_text()


def states(samples):
    return dict(report.by_state(list(report.with_own_probes(samples))))


class ReportTest(unittest.TestCase):
    def test_a_program_says_the_line_beside_its_figure(self):
        text = "pingpong 8 0.11 us 61.5\nrate 0 30 M/s\nsomething else 1 2 3 4\nfarm: 2000 tasks, sum 3a3f\n"
        text += "overlap 4 -1.5 %\nbig 1 1e+06 us 2.5e+02\n"
        self.assertEqual(case.Case("pingpong", "pingpong").figures(text, 1.0, None),
                         {"pingpong 8": [0.11, "us", 61.5], "rate 0": [30.0, "M/s"],
                          "overlap 4": [-1.5, "%"], "big 1": [1e6, "us", 250.0]})

    def test_a_figure_with_a_line_of_its_own_counts_though_the_state_flipped_around_the_sample(self):
        one = sample("default", {"pingpong 0": [0.05, "us", 60.0], "pingpong 8": [0.3, "us", 250.0],
                                 "pingpong 64": [0.04, "us", 28.0], "derived 8": [1.0, "us"]}, after=250.0)
        found = states([one])
        self.assertEqual([list(each["figures"]) for each in found["fast"]], [["pingpong 0"]])
        self.assertEqual([list(each["figures"]) for each in found["slow"]], [["pingpong 8"]])
        self.assertEqual([list(each["figures"]) for each in found["hyperthread"]], [["pingpong 64"]])

    def test_ratios_are_of_one_turn_in_one_state(self):
        samples = [sample("default", {"pingpong 8": [0.1, "us", 60.0]}),
                   sample("mpich", {"pingpong 8": [0.2, "us", 64.0]}),
                   sample("default", {"pingpong 8": [0.1, "us", 60.0]}, turn=2),
                   sample("mpich", {"pingpong 8": [0.9, "us", 90.0 * 1.2]}, turn=2),
                   sample("default", {"pingpong 8": [0.1, "us", 60.0]}, turn=3, stolen=0.2),
                   sample("mpich", {"pingpong 8": [0.3, "us", 60.0]}, turn=3)]
        figures = report.Figures(list(report.with_own_probes(samples)))
        self.assertEqual(figures.ratios("pingpong 8", "default", "mpich"), [0.5])

    def test_what_is_aimed_at_is_told_from_what_is_met(self):
        def of(half_us):
            return written([sample("default", {"pingpong 8": [half_us, "us", 60.0]}, turn=turn) for turn in range(1, 8)])
        self.assertRegex(of(0.09), r"beside the cache line \| ≤ 1.6 \| 1.5 .* \| met \|")
        self.assertRegex(of(0.12), r"beside the cache line \| ≤ 1.6 \| 2 .* \| \*\*not met\*\* \|")

    def test_nothing_is_aimed_at_beside_the_line_of_two_hyperthreads(self):
        text = written([sample("default", {"pingpong 8": [0.09, "us", 28.0]})])
        self.assertIn("half a round trip, 8 B", text)
        self.assertNotIn("beside the cache line |", text)

    def test_long_programs_are_shown_in_whichever_state(self):
        text = written([sample(who, {"lu.A 2": [100.0, "Mop/s"]}, before=60.0, after=250.0, long=True)
                        for who in ("default", "mpich")])
        self.assertIn("LU.A, 2 ranks", text)


if __name__ == "__main__":
    unittest.main()
