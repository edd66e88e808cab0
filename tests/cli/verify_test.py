#!/usr/bin/env python3
"""verify, diff and sweep: what they find, print and return."""
import json
import unittest

from program import RUN_FILES, ProgramTest


class VerifyTest(ProgramTest):
    def verify(self, *arguments):
        return self.run_program("verify", "mlp", "--data", self.data, "--steps", 5, *arguments)

    def test_equal_settings_give_a_row_each_and_exit_0(self):
        done = self.verify("--devices", "1,2,3xcpu,cpu:0+cpu:7", "--threads", "1,2", "--order", "pack,layer")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("  equal  "), 28)
        self.assertIn("all 28 runs have equal weights", done.stdout)

    def test_json_has_every_hash(self):
        result = json.loads(self.verify("--devices", "1,2", "--exchange", "sharded", "--json").stdout)
        self.assertEqual((result["equal"], len(result["settings"]), len(result["tensors"])), (True, 2, 4))
        for setting in result["settings"]:
            self.assertEqual([len(step) for step in setting["hashes"]], [4] * 5)
        self.assertEqual(result["settings"][0]["hashes"], result["settings"][1]["hashes"])

    def test_one_flipped_bit_in_replica_two_is_exit_6_and_named(self):
        done = self.verify("--devices", "1,3", "--exchange", "sharded", "--drill", "flip@4:cpu:2")
        self.assertEqual(done.returncode, 6)
        self.assertRegex(done.stdout, r"3xcpu, sharded: step 4, cpu:2: layer linear2, tensor linear2\.bias, element \[0\]: "
                                      r"0x[0-9a-f]{8} \(.*\) where 0x[0-9a-f]{8} \(.*\) is expected\n\Z")
        self.assertIn("DIFFERS", done.stdout)

    def test_a_drill_that_never_happens_is_refused(self):
        for drill, word in (("flip@2:cpu:7", "cpu:7 is not among the devices"),
                            ("flip@2:opencl:5", "opencl:5 is not among the devices"),
                            ("flip@6:cpu:1", "step 6 never comes: 5 steps are to run")):
            done = self.verify("--devices", "1,2", "--drill", drill)
            self.assert_refused_before_start(done, 2, "--drill", word)
        self.assertEqual(self.verify("--devices", "1,2", "--drill", "flip@5:cpu:1").returncode, 6)

    def test_bad_lists_are_refused(self):
        for arguments in (("--devices", "1,0"), ("--devices", "1,,2"), ("--threads", "1,x"), ("--steps", "0"),
                          ("--exchange", "sharded,"), ("--order", "pak")):
            self.assert_refused_before_start(self.verify(*arguments), 2)


class DiffTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.train("mlp", "--epochs", 3, "--out", "a")

    def diff(self, other):
        return self.run_program("diff", "a", other)

    def test_equal_runs(self):
        self.train("mlp", "--epochs", 3, "--devices", 2, "--out", "b")
        done = self.diff("b")
        self.assertEqual((done.returncode, done.stdout), (0, "equal: 6 steps, 4 tensors, every hash\n"))

    def test_other_jobs_part_and_the_element_is_shown(self):
        self.train("mlp", "--epochs", 3, "--lr", "0.1", "--out", "b")
        done = self.diff("b")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("the jobs differ: lr = 0.2 and lr = 0.1\n", done.stdout)
        self.assertIn("a and b part at step 1, tensor linear1.weight\n", done.stdout)
        self.assertRegex(done.stdout, r"element \[\d+, \d+\]: 0x[0-9a-f]{8} \(.*\) in a, 0x[0-9a-f]{8} \(.*\) in b\n")

    def test_a_run_that_does_not_reproduce_its_record_is_named(self):
        self.train("mlp", "--epochs", 3, "--drill", "flip@3:cpu:0", "--out", "b")
        done = self.diff("b")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("a and b part at step 3, tensor linear2.bias\n", done.stdout)
        self.assertIn("b does not reproduce its own record", done.stdout)

    def test_what_is_no_run_is_refused(self):
        self.assert_refused(self.diff("nowhere"), 3, "nowhere")
        (self.folder / "a/hashes.csv").write_text("step,linear1.weight\n1,xyz\n")
        self.assert_refused(self.diff("a"), 3, "hashes.csv:2")


class SweepTest(ProgramTest):
    def test_a_sweep_prints_saves_and_draws(self):
        done = self.run_program("sweep", "mlp", "--data", self.data, "--epochs", 2, "--lr", "0.1,0.2",
                                "--devices", "1,2", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = json.loads(done.stdout)
        self.assertEqual([(row["lr"], row["devices"]) for row in rows], [(0.1, 1), (0.1, 2), (0.2, 1), (0.2, 2)])
        self.assertEqual(rows[0]["weights"], rows[1]["weights"])
        self.assertNotEqual(rows[0]["weights"], rows[2]["weights"])
        folder = self.folder / "runs/sweep-1"
        names = [f"lr-{lr}_batch-256_{devices}xcpu" for lr in ("0.1", "0.2") for devices in (1, 2)]
        self.assertEqual({file.name for file in folder.iterdir()}, {"sweep.csv", "sweep.svg", *names})
        self.assertEqual(len((folder / "sweep.csv").read_text().splitlines()), 5)
        self.assertEqual([row["run"] for row in rows], names)
        best = max(row["test_accuracy"] for row in rows)
        self.assertEqual([row["best"] for row in rows], [row["test_accuracy"] == best for row in rows])
        progress = done.stderr.splitlines()
        self.assertEqual(len(progress), 6, done.stderr)
        self.assertRegex(progress[0], r"\Atraining mlp \(203,530 parameters\) on .* \(512 examples, 128 to test\), 4 runs\Z")
        for line, name in zip(progress[1:4], names):
            self.assertRegex(line, rf"\Arun \d of 4  {name}  test acc \d\.\d{{4}}  \d+\.\d\d s/epoch  \d+:\d\d left\Z")
        self.assertEqual(progress[-1], "kept in runs/sweep-1")

    def test_each_run_of_a_sweep_is_a_run(self):
        done = self.run_program("sweep", "mlp", "--data", self.data, "--epochs", 2, "--lr", "0.1", "--devices", "1,2",
                                "--out", "swept", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = json.loads(done.stdout)
        alone = self.train("mlp", "--epochs", 2, "--lr", "0.1", "--out", "alone")
        for row in rows:
            run = self.folder / "swept" / row["run"]
            self.assertEqual({file.name for file in run.iterdir()}, RUN_FILES)
            self.assertEqual(row["weights"], alone["weights"])
            evaluated = json.loads(self.run_program("eval", run, "--json").stdout)
            self.assertEqual((evaluated["weights"], evaluated["accuracy"]), (row["weights"], row["test_accuracy"]))
            compared = self.run_program("diff", "alone", run)
            self.assertEqual((compared.returncode, compared.stdout), (0, "equal: 4 steps, 4 tensors, every hash\n"))
        further = self.train("--resume", run, "--epochs", 3)
        self.assertEqual(further["weights"], self.train("mlp", "--epochs", 3, "--lr", "0.1")["weights"])

    def test_settings_that_are_there_twice_are_kept_twice(self):
        done = self.run_program("sweep", "mlp", "--data", self.data, "--epochs", 1, "--lr", "0.1,0.1", "--devices", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({file.name for file in (self.folder / "runs/sweep-1").iterdir() if file.is_dir()},
                         {"lr-0.1_batch-256_1xcpu", "lr-0.1_batch-256_1xcpu_2"})

    def test_a_device_that_is_not_there_is_refused_before_the_first_run(self):
        for devices in ("1,cuda:999", "cuda:999", "1,1000xgpu"):
            done = self.run_program("sweep", "mlp", "--data", self.data, "--epochs", 1, "--devices", devices)
            self.assert_refused_before_start(done, 4, devices.rpartition(",")[2])

    def test_a_rate_that_learns_nothing_gets_a_warning(self):
        done = self.run_program("sweep", "mlp", "--data", self.data, "--epochs", 1, "--batch", 4, "--lr", "0.1,1e-9",
                                "--devices", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        warnings = [line for line in done.stderr.splitlines() if "warning" in line]
        self.assertEqual(len(warnings), 1, done.stderr)
        self.assertRegex(warnings[0], r"\Arun 2 of 2  warning: epoch 1: the loss stayed at 2\.30\d, about ln\(10\): ")

    def test_a_rate_that_diverges_is_a_row(self):
        done = self.run_program("sweep", "mlp", "--data", self.data, "--epochs", 3, "--lr", "0.1,1e30",
                                "--devices", "2", "--scale-batch", "--scale-lr")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("diverged", done.stdout)
        self.assertIn("512", done.stdout)
        self.assertRegex(done.stderr, r"\nrun 2 of 2  lr-2e\+30_batch-512_2xcpu  diverged: .* is not finite")


if __name__ == "__main__":
    unittest.main()
