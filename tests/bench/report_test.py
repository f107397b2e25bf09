"""What the report of ./dev bench makes of samples."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

import case
import report
import topics_case

ABOUT = {"machine": {"processor": "one", "cores": 2, "kernel": "6", "versions": {"mpich": "4"}}, "commit": "c",
         "rounds": 1, "date": "2026-11-25", "only": ""}


def sample(configuration, figures, before=60.0, after=60.0, turn=1, stolen=0.0, long=False, pace=10.0):
    figures = [[name, *rest] for name, rest in figures.items()] if isinstance(figures, dict) else figures
    return {"round": 1, "turn": turn, "case": "pingpong", "configuration": configuration, "long": long,
            "before": {"line_ns": before, "copy_gbs": 40.0}, "after": {"line_ns": after, "copy_gbs": 40.0},
            "stolen": stolen, "pace": pace, "figures": figures}


def written(samples):
    with tempfile.TemporaryDirectory() as name:
        report.write_report(Path(name), ABOUT, samples)
        return (Path(name) / "report.md").read_text()


def states(samples):
    return dict(report.by_state(list(report.with_own_probes(samples))))


class ReportTest(unittest.TestCase):
    def test_a_program_says_the_state_beside_its_figure(self):
        text = "pingpong 8 0.11 us 61.5 whole\npingpong 8 0.14 us 62 shared\nrate 0 30 M/s\nsomething else 1 2 3 4\n"
        text += "farm: 2000 tasks, sum 3a3f\noverlap 4 -1.5 %\nbig 1 1e+06 us 2.5e+02 whole\n"
        self.assertEqual(case.Case("pingpong", "pingpong").figures(text, 1.0, None),
                         [["pingpong 8", 0.11, "us", 61.5, "whole"], ["pingpong 8", 0.14, "us", 62.0, "shared"],
                          ["rate 0", 30.0, "M/s"], ["overlap 4", -1.5, "%"], ["big 1", 1e6, "us", 250.0, "whole"]])

    def test_those_of_whom_fewer_samples_do_take_part_in_some_turns(self):
        one = case.Case("lu", "lu", configurations=("default", "fault-tolerant", "mpich"), turns=3, rarely=("mpich",))
        self.assertEqual(one.runs(), [(1, "default"), (1, "fault-tolerant"), (2, "mpich"), (2, "fault-tolerant"), (2, "default"),
                                      (3, "default"), (3, "fault-tolerant")])
        one = case.Case("cg", "cg", configurations=("default", "mpich"), turns=4, rarely=("mpich",), rare_turns=4)
        self.assertEqual([turn for turn, configuration in one.runs() if configuration == "mpich"], [4])

    def test_a_figure_with_a_line_of_its_own_counts_though_the_state_flipped_around_the_sample(self):
        one = sample("default", {"pingpong 0": [0.05, "us", 60.0, "whole"], "pingpong 8": [0.3, "us", 250.0, "whole"],
                                 "pingpong 64": [0.04, "us", 28.0, "shared"], "pingpong 256": [0.2, "us", 61.0, "shared"],
                                 "derived 8": [1.0, "us"]}, after=250.0)
        found = {state: [name for each in samples for name, *_ in each["figures"]] for state, samples in states([one]).items()}
        self.assertEqual(found, {"fast": ["pingpong 0"], "slow": ["pingpong 8"], "hyperthread": ["pingpong 64"],
                                 "fast-shared": ["pingpong 256"]})

    def test_one_core_is_a_state_of_its_own(self):
        self.assertEqual(list(states([sample("default", {"pingpong 8": [0.09, "us"]}, before=0.0, after=0.0)])), ["one-core"])

    def test_one_figure_of_two_states_is_shown_in_both(self):
        text = written([sample("default", [["pingpong 8", 0.09, "us", 60.0, "whole"], ["pingpong 8", 0.12, "us", 60.0, "shared"]])])
        self.assertRegex(text, r"fast state\n(.*\n)*\| half a round trip, 8 B \| us \| 0.09 (.*\n)*.*fast-shared state\n"
                               r"(.*\n)*\| half a round trip, 8 B \| us \| 0.12 ")

    def test_ratios_are_of_the_nearest_turns_in_one_state(self):
        samples = [sample("default", {"pingpong 8": [0.1, "us", 60.0, "whole"]}),
                   sample("mpich", {"pingpong 8": [0.2, "us", 64.0, "whole"]}),
                   sample("default", {"pingpong 8": [0.1, "us", 60.0, "whole"]}, turn=2),
                   sample("mpich", {"pingpong 8": [0.9, "us", 90.0 * 1.2, "whole"]}, turn=2),
                   sample("default", {"pingpong 8": [0.1, "us", 60.0, "whole"]}, turn=3, stolen=0.2),
                   sample("mpich", {"pingpong 8": [0.3, "us", 60.0, "whole"]}, turn=3)]
        figures = report.Figures(list(report.with_own_probes(samples)))
        self.assertEqual(figures.ratios("pingpong 8", "default", "mpich"), [0.5, 0.1 / 0.3])

    def test_ratios_of_long_programs_are_of_the_work_that_the_cores_could_do(self):
        def lu(configuration, turn, rate, pace, stolen=0.0):
            seconds = 1000.0 / rate
            return sample(configuration, {"lu.A 2": [rate, "Mop/s"], "whole-lu.A 2": [seconds, "s"]}, turn=turn, pace=pace,
                          stolen=stolen, long=True)
        figures = report.Figures([lu("default", 1, 100.0, 6.0), lu("mpich", 1, 50.0, 4.0), lu("default", 2, 90.0, None),
                                  lu("mpich", 2, 80.0, 8.0), lu("default", 3, 99.0, 6.0, 0.01), lu("mpich", 3, 50.0, 3.0),
                                  lu("default", 4, 100.0, 6.0), lu("mpich", 4, 50.0, 6.0, 0.04)], are_long=True)
        rates, times = (figures.ratios(name, "default", "mpich") for name in ("lu.A 2", "whole-lu.A 2"))
        # The last one is compared with the nearest that the host left as much.
        for found, expected in zip(rates, (2 * 4 / 6, 90 / 80, 2 * 3 / 6, 2 * 3 / 6)):
            self.assertAlmostEqual(found, expected)
        for found, rate in zip(times, rates):
            self.assertAlmostEqual(found, 1 / rate)

    def test_what_is_aimed_at_is_told_from_what_is_met(self):
        def of(half_us):
            return written([sample("default", {"pingpong 8": [half_us, "us", 60.0, "whole"]}, turn=turn) for turn in range(1, 8)])
        self.assertRegex(of(0.09), r"beside the cache line \| ≤ 1.6 \| 1.5 .* \| met \|")
        self.assertRegex(of(0.12), r"beside the cache line \| ≤ 1.6 \| 2 .* \| \*\*not met\*\* \|")

    def test_nothing_is_aimed_at_beside_the_line_of_two_hyperthreads_or_on_shared_cores(self):
        for line_ns, cores in ((28.0, "whole"), (60.0, "shared")):
            text = written([sample("default", {"pingpong 8": [0.09, "us", line_ns, cores]})])
            self.assertIn("half a round trip, 8 B", text)
            self.assertNotIn("beside the cache line |", text)

    def test_long_programs_are_shown_in_whichever_state(self):
        text = written([sample(who, {"lu.A 2": [100.0, "Mop/s"]}, before=60.0, after=250.0, long=True)
                        for who in ("default", "mpich")])
        self.assertIn("LU.A, 2 ranks", text)

    def test_topics_are_compared_in_the_state_that_their_programs_saw(self):
        samples = [sample("llamada", [["loan_1 16", 0.4, "µs", 60.0, "whole"], ["loan_1 16", 0.9, "µs", 61.0, "shared"]], after=250.0),
                   sample("iceoryx", [["loan_1 16", 1.0, "µs", 62.0, "whole"]], before=250.0),
                   sample("cyclone", [["wait_1 16", 20.0, "µs"]]), sample("llamada", [["copies_8 1048576", 0.5, "n"]])]
        found = {state: report.Figures(part) for state, part in report.by_state(report.with_own_probes(samples))}
        self.assertRegex("\n".join(topics_case.aims(found["fast"], "fast")), r"beside iceoryx \| ≤ 0.5 \| 0.4 \| 16 B \| met \|\n.*0.5 \| 1 MiB \| met")
        lines, rows = topics_case.table(found["fast"], ["llamada", "iceoryx", "cyclone"])
        self.assertIn("| half a round trip, asking, written in place, 1 reader, 16 B | µs | 0.4 | 1 (2.5) | - |", lines)
        self.assertEqual(rows["wait_1 16"]["quartiles"]["cyclone"], [20.0] * 3)
        self.assertEqual(topics_case.aims(found["fast-shared"], "fast-shared"), [])


if __name__ == "__main__":
    unittest.main()
