#!/usr/bin/env python3
"""What `lockstep plan` says of a step's memory, before anything is allocated."""
import os
import re
import unittest

from program import ProgramTest


def rounded(floats):
    """Bytes of a tensor: whole cache lines."""
    return (floats * 4 + 63) // 64 * 64


MLP = [256 * 784, 256, 10 * 256, 10]


class PlanTest(ProgramTest):
    def plan(self, *arguments):
        """By rank: bytes by class, and the lines that say what shares a place."""
        done = self.run_program("plan", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        ranks = []
        for line in done.stdout.splitlines():
            if line.startswith("rank "):
                ranks.append(({}, []))
            elif line.startswith("  share "):
                ranks[-1][1].append(line)
            elif found := re.match(r"  (\S.*?)  +([\d,]+)(  (pack|step|run))?$", line):
                ranks[-1][0][found[1]] = int(found[2].replace(",", ""))
        return ranks

    def test_the_tensors_of_a_perceptron(self):
        [(classes, _)] = self.plan("mlp", "--devices", "cpu:0", "--threads", 1, "--optimizer", "adam")
        self.assertEqual(classes["parameters"], sum(map(rounded, MLP)))
        self.assertEqual(classes["gradients"], sum(map(rounded, MLP)) + 64)  # and the loss
        self.assertEqual(classes["optimizer states"], 2 * sum(map(rounded, MLP)))
        self.assertEqual(sum(classes.values()), 2 * classes["peak"])

    def test_a_sharded_optimizer_divides_the_states(self):
        whole = self.plan("mlp", "--devices", 2, "--momentum", "0.9")
        parts = self.plan("mlp", "--devices", 2, "--momentum", "0.9", "--shard-optimizer")
        self.assertEqual(len(whole), 2)
        for rank in range(2):
            self.assertLess(parts[rank][0]["optimizer states"], 0.6 * whole[rank][0]["optimizer states"])

    def test_says_what_shares_a_place(self):
        [(_, shares)] = self.plan("lenet", "--devices", "cpu:0", "--convolution", "direct")
        self.assertTrue(shares)
        for line in shares:
            self.assertRegex(line, r"^  share [\d,]+ bytes( in each of \d+ threads)?: \S+(, \S+)+$")

    def test_leaves_nothing_behind(self):
        self.plan("lenet")
        self.assertEqual([path.name for path in self.folder.iterdir()], ["data"])

    def test_a_training_that_does_not_fit_is_refused(self):
        few = dict(os.environ, LOCKSTEP_MEMORY="1")
        for devices in ("1", "2"):
            done = self.run_program("train", "mlp", "--devices", devices, env=few)
            self.assert_refused(done, 4, "lockstep: the host has 1.0 MB of memory free, the training needs ",
                                "(parameters ", ", activations ", "use a smaller --batch or fewer devices or threads")
        self.assert_refused(self.run_program("train", env=dict(os.environ, LOCKSTEP_MEMORY="little")), 2,
                            "LOCKSTEP_MEMORY")

    def test_refuses_what_train_refuses(self):
        self.assert_refused(self.run_program("plan", "--batch", "0"), 2, "--batch")
        self.assert_refused(self.run_program("plan", "lenet9"), 2, "lenet9")


if __name__ == "__main__":
    unittest.main()
