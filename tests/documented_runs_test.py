#!/usr/bin/env python3
"""Trains as README.md and docs/accuracy.md say, for ten epochs of Fashion-MNIST, and holds accuracy and weights against
what these pages print. The pages are the only place where the hashes stand.
"""
import argparse
import json
import pathlib
import re
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parent.parent
TIMEOUT = 600
README_RUN = re.compile(r"(?m)^test acc: (0\.\d\d), \d+\.\d sec/epoch on \[([^]]+)\]\nweights ([0-9a-f]{32})$")
ACCURACY_ROW = re.compile(r"(?m)^\| (\d+) \| (0\.\d{4}) \| `([0-9a-f]{32})` \| (0\.\d{4}) \| `([0-9a-f]{32})` \|$")

RESIDUAL_RUN = re.compile(r"(?m)^`lockstep train (resnet8 --epochs 3 .*)`,.*\n\n.*\n.*\n\| seed 0 \|.* (0\.\d{4}) \| `([0-9a-f]{32})` \|$")


def documented():
    """docs/accuracy.md: (seed, rule) -> (accuracy, weights)."""
    runs = {}
    for seed, fast, fast_weights, direct, direct_weights in ACCURACY_ROW.findall((SOURCE / "docs/accuracy.md").read_text()):
        runs[int(seed), "fast"] = (float(fast), fast_weights)
        runs[int(seed), "direct"] = (float(direct), direct_weights)
    return runs


class DocumentedRunsTest(unittest.TestCase):
    binary = None

    def train(self, *arguments):
        with tempfile.TemporaryDirectory(prefix="lockstep-documented-") as folder:
            done = subprocess.run([self.binary, "train", "--json", "--no-record", *arguments], cwd=folder, text=True,
                                  check=False, timeout=TIMEOUT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        return result["accuracy"], result["weights"]

    def test_the_readme_s_run(self):
        shown = README_RUN.findall((SOURCE / "README.md").read_text())
        self.assertEqual([devices for _, devices, _ in shown], ["cpu:0", "cpu:0, cpu:1"])
        accuracy, weights = self.train("--devices", "2")
        self.assertEqual({(f"{accuracy:.2f}", weights)}, {(text, hash_) for text, _, hash_ in shown})
        self.assertEqual((accuracy, weights), documented()[0, "fast"])

    def test_the_residual_network(self):
        (job, accuracy, weights), = RESIDUAL_RUN.findall((SOURCE / "docs/accuracy.md").read_text())
        self.assertGreaterEqual(float(accuracy), 0.88)
        self.assertEqual(self.train(*job.split(), "--devices", "2"), (float(accuracy), weights))

    def test_other_seeds(self):
        runs = documented()
        self.assertEqual(len(runs), 60)
        for seed in (10, 25):  # of the thirty the least and the most accurate
            with self.subTest(seed=seed):
                self.assertEqual(self.train("--seed", str(seed), "--threads", "1"), runs[seed, "fast"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    arguments, rest = parser.parse_known_args()
    DocumentedRunsTest.binary = arguments.binary.resolve(strict=True)
    unittest.main(argv=[parser.prog, *rest])


if __name__ == "__main__":
    main()
