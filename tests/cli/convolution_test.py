#!/usr/bin/env python3
"""--convolution: the bits depend on it, a run keeps it, goes on with it, and is compared and evaluated by it."""
import array
import json
import unittest

import tensors
from program import ProgramTest

RULES = ("fast", "direct")
BOTH_WAYS = (RULES, RULES[::-1])


class ConvolutionTest(ProgramTest):
    def train_by(self, rule, *arguments):
        return self.train("--epochs", 2, "--convolution", rule, "--out", rule, *arguments)

    def config(self, run):
        return (self.folder / run / "config.toml").read_text()

    def weights_metadata(self, run):
        return tensors.read(self.folder / run / "weights.safetensors")[0]["__metadata__"]

    def json_of(self, *arguments):
        done = self.run_program(*arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def assert_rule(self, run, rule):
        """In config.toml, in every checkpoint and with the weights."""
        self.assertIn(f'\nconvolution = "{rule}"\n', self.config(run))
        checkpoints = list((self.folder / run / "checkpoints").iterdir())
        self.assertTrue(checkpoints)
        for checkpoint in checkpoints:
            self.assertIn(f'\nconvolution = "{rule}"\n', tensors.read(checkpoint)[0]["__metadata__"]["config"])
        self.assertEqual(self.weights_metadata(run)["convolution"], rule)

    def test_a_run_keeps_its_rule(self):
        runs = [self.train_by(rule) for rule in RULES]
        for rule in RULES:
            self.assert_rule(rule, rule)
        self.assertNotEqual(runs[0]["weights"], runs[1]["weights"])
        self.assertNotEqual(*(self.weights_metadata(rule)["job"] for rule in RULES))

    def test_a_model_without_convolutions_has_the_same_bits(self):
        hashes = {self.train("mlp", "--epochs", 1, "--convolution", rule)["weights"] for rule in RULES}
        self.assertEqual(len(hashes), 1)

    def test_a_run_goes_on_by_its_rule(self):
        for rule in RULES:
            whole = self.train_by(rule)
            self.train("--epochs", 1, "--convolution", rule, "--out", f"{rule}-part")
            resumed = self.train("--resume", f"{rule}-part", "--epochs", 2)
            self.assertEqual(resumed["weights"], whole["weights"])
            self.assert_rule(f"{rule}-part", rule)
            self.train("--resume", rule, "--epochs", 3, "--convolution", rule)

    def test_a_run_does_not_go_on_by_another_rule(self):
        for rule, other in BOTH_WAYS:
            self.train_by(rule)
            before = self.config(rule)
            done = self.run_program("train", "--resume", rule, "--epochs", 4, "--convolution", other)
            self.assert_refused(done, 2, "--resume", rule, f"convolution '{rule}'", f"found '{other}'")
            self.assertEqual(self.config(rule), before)

    def test_a_config_gives_its_rule_and_the_flag_goes_over_it(self):
        for rule, other in BOTH_WAYS:
            first = self.train_by(rule)
            again = self.train("--config", rule, "--out", f"{rule}-again")
            self.assertEqual(again["weights"], first["weights"])
            self.assert_rule(f"{rule}-again", rule)
            self.train("--config", rule, "--convolution", other, "--out", f"{rule}-other")
            self.assert_rule(f"{rule}-other", other)

    def test_the_printed_program_is_the_rules(self):
        programs = [self.run_program("train", "--print-program", "--convolution", rule).stdout for rule in RULES]
        self.assertNotEqual(programs[0], programs[1])
        for rule, program in zip(RULES, programs):
            self.train_by(rule)
            for source in ("--config", "--resume"):
                self.assertEqual(self.run_program("train", "--print-program", source, rule).stdout, program)

    def test_diff_says_that_the_rules_differ_and_replays_each_by_its_own(self):
        for rule in RULES:
            self.train_by(rule)
        done = self.run_program("diff", "direct", "fast")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn('the jobs differ: convolution = "direct" and convolution = "fast"\n', done.stdout)
        self.assertIn("direct and fast part at step 1, ", done.stdout)
        self.assertNotIn("does not reproduce", done.stdout)

    def loud_weights(self):
        """Header and values of weights so large that the loss shows the last bits of a convolution."""
        header, values = tensors.read(self.folder / self.train_by("direct")["run"] / "weights.safetensors")
        return header, array.array("f", (20 * value for value in array.array("f", values))).tobytes()

    def write_weights(self, path, header, values, **metadata):
        tensors.write(path, {**header, "__metadata__": metadata}, values)
        return path

    def loss(self, source, *arguments):
        return self.json_of("eval", source, "--data", self.data, *arguments)["loss"]

    def test_weights_are_evaluated_by_their_rule(self):
        loud = self.loud_weights()
        bare = self.write_weights(self.folder / "bare", *loud)
        losses = {rule: self.loss(bare, "--convolution", rule) for rule in RULES}
        self.assertNotEqual(losses["fast"], losses["direct"])
        self.assertIn(self.loss(bare), losses.values())
        self.train_by("fast")
        for rule, other in BOTH_WAYS:
            self.write_weights(self.folder / rule / "weights.safetensors", *loud)
            for source in (rule, self.write_weights(self.folder / "said", *loud, convolution=rule)):
                self.assertEqual([self.loss(source), self.loss(source, "--convolution", rule)], [losses[rule]] * 2)
                done = self.run_program("eval", source, "--data", self.data, "--convolution", other)
                self.assert_refused(done, 2, "--convolution", f"'{rule}'", f"found '{other}'")

    def test_weights_of_an_unknown_rule_are_refused(self):
        path = self.write_weights(self.folder / "said", *self.loud_weights(), convolution="dirct")
        done = self.run_program("eval", path, "--data", self.data)
        self.assert_refused(done, 3, path, "convolution", "did you mean 'direct'?")

    def test_verify_and_sweep_give_the_bits_of_a_training(self):
        for rule in RULES:
            weights = self.train_by(rule)["weights"]
            options = ("--data", self.data, "--convolution", rule)
            verified = self.json_of("verify", "--steps", 4, "--devices", "1,3", *options)
            self.assertEqual({setting["weights"] for setting in verified["settings"]}, {weights})
            (row,) = self.json_of("sweep", "--epochs", 2, "--devices", "1", *options)
            self.assertEqual(row["weights"], weights)

    def test_bench_says_what_it_measured(self):
        for rule in RULES:
            found = self.json_of("bench", "--step-only", "--seconds", "0.01", "--convolution", rule)
            self.assertEqual(found["convolution"], rule)


if __name__ == "__main__":
    unittest.main()
