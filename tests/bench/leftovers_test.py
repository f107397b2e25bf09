"""What ./dev bench removes of what others leave in shared memory."""
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

import bench


class Leftovers(unittest.TestCase):
    def test_what_others_left_meanwhile_goes_unless_it_is_in_use(self):
        with tempfile.TemporaryDirectory() as name, mock.patch.object(bench, "SHARED_MEMORY", Path(name).resolve()):
            place = Path(name).resolve()
            (place / "fastrtps_before").touch()
            with bench.leftovers_removed():
                for left in ("fastrtps_left_el", "sem.fastrtps_left", "vader_segment.left", "somebody_elses"):
                    (place / left).touch()
                used = (place / "fastrtps_used").open("w")
            with used:
                self.assertEqual({path.name for path in place.iterdir()}, {"fastrtps_before", "somebody_elses", "fastrtps_used"})

    def test_it_goes_after_an_interruption_too(self):
        with tempfile.TemporaryDirectory() as name, mock.patch.object(bench, "SHARED_MEMORY", Path(name).resolve()):
            with self.assertRaises(KeyboardInterrupt), bench.leftovers_removed():
                (Path(name) / "vader_segment.left").touch()
                raise KeyboardInterrupt
            self.assertEqual(list(Path(name).iterdir()), [])


if __name__ == "__main__":
    unittest.main()
