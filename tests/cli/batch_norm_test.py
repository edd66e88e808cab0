#!/usr/bin/env python3
"""--batch-norm: the bits depend on the form, a run keeps it as examples and not as devices, goes on with it, and refuses
what no group can be."""
import json
import unittest

from program import ProgramTest

JOB = ("resnet8", "--batch", 64, "--epochs", 1, "--lr", "0.05")  # eight steps


class BatchNormTest(ProgramTest):
    def config(self, run):
        return (self.folder / run / "config.toml").read_text()

    def json_of(self, *arguments):
        done = self.run_program(*arguments, "--data", self.data, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_a_devices_part_is_said_recorded_and_repeated_on_other_devices(self):
        done = self.run_program("train", "--data", self.data, *JOB, "--devices", 3, "--batch-norm", "device",
                                "--out", "first", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"\Atraining resnet8 \(77,658 parameters\) on .*, batch norm ghost:32\n")
        self.assertIn('\nghost = 32\n', self.config("first"))
        weights = json.loads(done.stdout)["weights"]
        self.assertEqual(self.train("--config", "first", "--devices", 1, "--out", "again")["weights"], weights)
        self.assertIn('\nghost = 32\n', self.config("again"))
        self.assertEqual(self.train(*JOB, "--devices", 2, "--batch-norm", "ghost:32")["weights"], weights)

    def test_sync_is_the_default_and_another_job_than_a_ghost(self):
        runs = {form: self.train(*JOB, "--batch-norm", form, "--out", form.replace(":", ""))["weights"]
                for form in ("sync", "device", "ghost:32")}  # of one device, which has the whole minibatch
        self.assertEqual(self.train(*JOB, "--devices", 2)["weights"], runs["sync"])
        self.assertEqual(runs["device"], runs["sync"])
        self.assertNotEqual(runs["ghost:32"], runs["sync"])
        for run in ("sync", "device"):
            self.assertNotIn("\nghost = ", self.config(run))
        done = self.run_program("diff", "ghost32", "sync")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("the jobs differ: ghost = 32 and no ghost\n", done.stdout)

    def test_a_run_goes_on_in_mid_epoch_on_other_devices(self):
        for form, other in (("sync", "ghost:16"), ("ghost:16", "sync")):
            job, run = (*JOB, "--batch-norm", form), form.replace(":", "")
            whole = self.train(*job, "--out", f"{run}-whole")
            done = self.run_program("train", "--data", self.data, *job, "--out", run, "--devices", 2,
                                    "--checkpoint-every", 1, "--drill", "fail@5:cpu:0")
            self.assertEqual(done.returncode, 4, done.stderr)
            before = self.config(run)
            refused = self.run_program("train", "--resume", run, "--batch-norm", other)
            self.assert_refused(refused, 2, "--resume", run, f"batch norm '{form}'", f"found '{other}'")
            self.assertEqual(self.config(run), before)
            resumed = self.train("--resume", run, "--devices", 3, "--batch-norm", form)
            self.assertEqual(resumed["weights"], whole["weights"])
            self.assertEqual(resumed["loss"], whole["loss"])
            compared = self.run_program("diff", f"{run}-whole", run)
            self.assertEqual(compared.returncode, 0, compared.stdout)

    def test_weights_are_evaluated_by_their_running_statistics(self):
        run = self.train(*JOB, "--batch-norm", "ghost:16", "--out", "run")
        for devices in (1, 3):
            self.assertEqual(self.json_of("eval", "run", "--devices", devices)["loss"], run["loss"])

    def test_verify_and_sweep_give_the_bits_of_a_training(self):
        options = ("resnet8", "--batch", 64, "--lr", "0.05", "--batch-norm", "device")
        ghost = self.train(*JOB, "--batch-norm", "ghost:32")["weights"]
        verified = self.json_of("verify", *options, "--steps", 8, "--devices", "1,3", "--exchange", "sharded")
        self.assertEqual({setting["weights"] for setting in verified["settings"]}, {ghost})
        rows = self.json_of("sweep", *options, "--epochs", 1, "--devices", "1,2", "--out", "sweep")
        self.assertEqual(rows[1]["weights"], ghost)
        self.assertNotEqual(rows[0]["weights"], ghost)
        ghosts = ["\nghost = 32\n" in self.config(f"sweep/{row['run']}") for row in rows]
        self.assertEqual(ghosts, [False, True])

    def test_groups_that_cannot_be_are_refused_before_anything_is_made(self):
        for command in ("train", "verify", "sweep", "plan"):
            data = () if command == "plan" else ("--data", self.data)
            for arguments, *words in (
                    (("resnet8", "--batch-norm", "ghost:10"), "--batch-norm ghost", "'10'"),
                    (("resnet8", "--batch-norm", "ghost:24"), "--batch-norm ghost", "multiple of 16", "'24'"),
                    (("resnet8", "--batch-norm", "gost:16"), "--batch-norm", "'gost:16'"),
                    (("resnet8", "--batch-norm", "snyc"), "did you mean 'sync'?"),
                    (("resnet8", "--batch", 64, "--batch-norm", "ghost:80"), "ghost 80", "minibatch of 64")):
                with self.subTest(command=command, arguments=arguments):
                    self.assert_refused_before_start(self.run_program(command, *arguments, *data), 2, *words)
            for form in ("sync", "ghost:16", "device"):
                with self.subTest(command=command, form=form):
                    done = self.run_program(command, "mlp", "--batch-norm", form, *data)
                    self.assert_refused_before_start(done, 2, "--batch-norm", "model mlp has no batch norm")
        (self.folder / "job.toml").write_text('[job]\nmodel = "mlp"\nghost = 16\n')
        done = self.run_program("train", "--config", "job.toml", "--data", self.data)
        self.assert_refused_before_start(done, 2, "model mlp has no batch norm")


if __name__ == "__main__":
    unittest.main()
