#!/usr/bin/env python3
"""Optimizers and learning-rate schedules: every one trains, is kept, goes on in the middle of an epoch, and refuses what
does not go together."""
import json
import math
import unittest

from program import ProgramTest

OPTIMIZERS = ("sgd", "momentum", "nesterov", "adam", "adamw")
JOB = ("mlp", "--batch", 100, "--epochs", 3)  # six steps an epoch, the last one smaller
COSINE = ("--schedule", "cosine", "--warmup", 4, "--lr-min", "0.0001")


class OptimizerTest(ProgramTest):
    def weights(self, run):
        return (self.folder / run / "weights.safetensors").read_bytes()

    def rates(self, run):
        lines = (self.folder / run / "metrics.jsonl").read_text().splitlines()
        return [row["lr"] for row in map(json.loads, lines) if "global_step" in row]

    def config(self, run):
        return (self.folder / run / "config.toml").read_text()

    def test_every_optimizer_goes_on_in_mid_epoch_on_other_devices_whole_or_sharded(self):
        hashes = set()
        for optimizer in OPTIMIZERS:
            job = (*JOB, "--optimizer", optimizer, "--weight-decay", "0.02", "--lr", "0.01", *COSINE)
            whole, run = f"{optimizer}-whole", f"{optimizer}-run"
            hashes.add(self.train(*job, "--out", whole)["weights"])
            done = self.run_program("train", "--data", self.data, *job, "--out", run, "--devices", 2, "--shard-optimizer",
                                    "--checkpoint-every", 1, "--drill", "fail@9:cpu:0")
            self.assertEqual(done.returncode, 4, done.stderr)
            newest = max((self.folder / run / "checkpoints").iterdir()).name
            self.assertEqual(newest, "step-00000008.safetensors")
            self.train("--resume", run, "--devices", 3)
            self.assertEqual(self.weights(run), self.weights(whole), optimizer)
            self.assertEqual(self.rates(run), self.rates(whole))
            compared = self.run_program("diff", whole, run)
            self.assertEqual(compared.stdout, "equal: 18 steps, 4 tensors, every hash\n", compared.stderr)
        self.assertEqual(len(hashes), len(OPTIMIZERS))

    def test_a_momentum_alone_is_what_it_was(self):
        alone = self.train("mlp", "--epochs", 1, "--momentum", "0.9", "--out", "alone")
        named = self.train("mlp", "--epochs", 1, "--optimizer", "momentum", "--out", "named")
        self.assertEqual(self.weights("alone"), self.weights("named"))
        self.assertEqual(self.config("alone"), self.config("named"))
        self.assertNotIn("optimizer = ", self.config("alone").split("[machine]")[0])
        self.assertNotEqual(alone["weights"], self.train("mlp", "--epochs", 1)["weights"])
        self.assertEqual(named["weights"], alone["weights"])

    def test_the_config_says_it_all_and_runs_again(self):
        self.train(*JOB, "--optimizer", "adamw", "--beta2", "0.99", *COSINE, "--out", "first")
        for line in ('lr = 0.001', 'optimizer = "adamw"', "beta1 = 0.9", "beta2 = 0.99", "eps = 1e-08",
                     "weight_decay = 0.01", 'schedule = "cosine"', "lr_min = 1e-04", "warmup = 4"):
            self.assertIn(f"\n{line}\n", self.config("first"))
        self.train("--config", "first", "--out", "again")
        self.assertEqual(self.weights("again"), self.weights("first"))
        self.assertEqual(self.config("again"), self.config("first"))
        # another optimizer begins with its own numbers, the learning rate is the config's
        self.train("--config", "first", "--optimizer", "nesterov", "--out", "other")
        self.assertIn('momentum = 0.9\noptimizer = "nesterov"\nschedule', self.config("other"))

    def test_a_schedule_changes_the_rate_from_step_to_step(self):
        self.train(*JOB, "--lr", "0.5", "--schedule", "step", "--step-epochs", 2, "--warmup", 2, "--out", "step")
        self.assertEqual(self.rates("step"), [0.25] + [0.5] * 11 + [0.05] * 6)
        self.train(*JOB, "--lr", "0.5", "--schedule", "cosine", "--out", "cosine")
        expected = [0.25 * (1 + math.cos(math.pi * step / 18)) for step in range(18)]
        for found, wanted in zip(self.rates("cosine"), expected, strict=True):
            self.assertAlmostEqual(found, wanted, places=7)

    def test_a_longer_run_keeps_a_step_schedule_and_a_cosine_refuses_it(self):
        step = ("--schedule", "step", "--step-epochs", 1, "--step-factor", "0.5")
        self.train("mlp", "--epochs", 3, *step, "--out", "long")
        self.train("mlp", "--epochs", 2, *step, "--out", "run")
        self.train("--resume", "run", "--epochs", 3)
        self.assertEqual(self.weights("run"), self.weights("long"))
        self.train("mlp", "--epochs", 2, "--schedule", "cosine", "--out", "cosine")
        self.assert_refused(self.run_program("train", "--resume", "cosine", "--epochs", 3), 2, "--epochs",
                            "schedule cosine", "ends with epoch 2")
        self.train("--resume", "cosine", "--epochs", 2)

    def test_a_run_that_goes_on_keeps_its_optimizer(self):
        self.train("mlp", "--epochs", 1, "--out", "run")
        for arguments in (("--optimizer", "adam"), ("--weight-decay", "0.1"), ("--beta1", "0.5"), ("--schedule", "cosine"),
                          ("--warmup", 3)):
            self.assert_refused(self.run_program("train", "--resume", "run", *arguments), 2, arguments[0])

    def test_verify_and_sweep_take_them(self):
        for optimizer in OPTIMIZERS:
            done = self.run_program("verify", "mlp", "--data", self.data, "--batch", 100, "--steps", 8, "--devices",
                                    "1xcpu,2xcpu,3xcpu", "--optimizer", optimizer, "--weight-decay", "0.1", "--shard-optimizer",
                                    *COSINE, "--epochs", 2)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = self.run_program("sweep", "mlp", "--data", self.data, "--epochs", 1, "--devices", "1", "--optimizer", "adam",
                                "--out", "sweep", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        row = json.loads(done.stdout)[0]
        self.assertEqual(row["lr"], 0.001)
        self.assertEqual(row["weights"], self.train("mlp", "--epochs", 1, "--optimizer", "adam")["weights"])

    def test_two_jobs_with_other_optimizers_part(self):
        self.train("mlp", "--epochs", 1, "--lr", "0.001", "--out", "a")
        self.train("mlp", "--epochs", 1, "--optimizer", "adam", "--out", "b")
        done = self.run_program("diff", "a", "b")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn('the jobs differ: no optimizer and optimizer = "adam"\n', done.stdout)
        self.assertIn("a and b part at step 1, tensor linear1.weight\n", done.stdout)

    def test_what_cannot_be_is_refused(self):
        for command in ("train", "verify", "sweep"):
            for arguments, words in (
                    (("--optimizer", "adem"), ("--optimizer", "'adem'", "did you mean 'adam'?")),
                    (("--schedule", "cosin"), ("--schedule", "did you mean 'cosine'?")),
                    (("--optimizer", "adam", "--beta1", "1"), ("--beta1", "from 0 to below 1", "found 1")),
                    (("--optimizer", "adam", "--beta2", "-0.1"), ("--beta2", "from 0 to below 1")),
                    (("--optimizer", "adam", "--beta2", "nan"), ("--beta2", "from 0 to below 1")),
                    (("--optimizer", "adam", "--beta1", "x"), ("--beta1", "a number", "'x'")),
                    (("--optimizer", "adam", "--eps", "0"), ("--eps", "above 0", "found 0")),
                    (("--optimizer", "adam", "--eps", "-1e-8"), ("--eps", "above 0")),
                    (("--weight-decay", "-0.1"), ("--weight-decay", "from 0", "found -0.1")),
                    (("--weight-decay", "inf"), ("--weight-decay", "finite")),
                    (("--optimizer", "adam", "--momentum", "0.9"), ("--momentum", "the optimizer adam takes none")),
                    (("--optimizer", "sgd", "--momentum", "0.9"), ("--momentum", "choose momentum or nesterov")),
                    (("--optimizer", "nesterov", "--momentum", "0"), ("--momentum", "above 0")),
                    (("--momentum", "1"), ("--momentum", "from 0 to below 1")),
                    (("--beta1", "0.9"), ("--beta1", "the optimizer sgd takes none", "adam or adamw")),
                    (("--schedule", "step"), ("--step-epochs", "needs it")),
                    (("--schedule", "step", "--step-epochs", "0"), ("--step-epochs",)),
                    (("--schedule", "step", "--step-epochs", "1", "--step-factor", "2"), ("--step-factor", "at most 1")),
                    (("--step-epochs", "2"), ("--step-epochs", "choose step")),
                    (("--lr-min", "0.1"), ("--lr-min", "choose cosine")),
                    (("--schedule", "cosine", "--lr-min", "0.5"), ("schedule cosine", "least rate", "0.5")),
                    (("--warmup", "-1"), ("--warmup",)),
                    (("--schedule", "cosine", "--warmup", "20"), ("schedule cosine", "20 steps"))):
                with self.subTest(command=command, arguments=arguments):
                    done = self.run_program(command, "mlp", "--data", self.data, *arguments)
                    self.assertEqual(done.returncode, 2, done.stderr)
                    line = self.messages(done.stderr)[-1]
                    for word in words:
                        self.assertIn(word, line)
                    if command == "train":
                        self.assert_refused_before_start(done, 2, *words)


if __name__ == "__main__":
    unittest.main()
