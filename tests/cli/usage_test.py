#!/usr/bin/env python3
"""What a user may type wrong, and that each is refused before anything is made."""
import os
import unittest

from program import ProgramTest


class UsageTest(ProgramTest):
    def assert_usage(self, arguments, *words):
        with self.subTest(arguments=arguments):
            self.assert_refused_before_start(self.run_program(*arguments), 2, *words)

    def assert_config(self, text, *words):
        (self.folder / "job.toml").write_text(text)
        self.assert_usage(("train", "--config", "job.toml"), *words)

    def test_help_and_version(self):
        bare, asked = self.run_program(), self.run_program("--help")
        self.assertEqual((bare.returncode, bare.stdout), (0, asked.stdout))
        for command in ("train", "models", "plan", "eval", "verify", "diff", "sweep", "bench", "devices"):
            self.assertIn(f"\n  {command} ", bare.stdout)
            done = self.run_program(command, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn(f"Usage: lockstep {command}", done.stdout)
        self.assertEqual(self.run_program("--version").stdout, "lockstep 0.1.0\n")

    def test_help_is_a_command_too(self):
        for words in ((), ("train",), ("devices",), ("bench",), ("bench", "layers")):
            done, asked = self.run_program("help", *words), self.run_program(*words, "--help")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, asked.stdout, ""))
        self.assertIn("\n  help ", self.run_program("help").stdout)
        for words in (("help",), ("--help",), ("-h",)):
            self.assertEqual(self.run_program("help", *words).stdout, self.run_program("help").stdout)
        self.assertEqual(self.run_program("help", "train", "--help").stdout, self.run_program("help", "train").stdout)
        self.assert_usage(("help", "trian"), "unknown command 'trian'", "did you mean 'train'?")
        self.assert_usage(("help", "bench", "layer"), "unknown command 'layer'", "did you mean 'layers'?")

    def test_unknown_names_get_the_nearest(self):
        self.assert_usage(("trian",), "unknown command 'trian'", "did you mean 'train'?")
        self.assert_usage(("--verson",), "unknown option '--verson'", "did you mean '--version'?")
        self.assert_usage(("train", "--bacth", "64"), "'--bacth'", "did you mean '--batch'?")
        self.assert_usage(("train", "--bacth=64"), "'--bacth'", "did you mean '--batch'?")
        self.assert_usage(("eval", "--jsn"), "'--jsn'", "did you mean '--json'?")
        self.assert_usage(("train", "lnet"), "'lnet'", "did you mean 'lenet'?")
        self.assert_usage(("train", "--order", "pak"), "--order", "did you mean 'pack'?")
        for command in (("train",), ("eval", "run"), ("verify",), ("sweep",), ("bench",)):
            self.assert_usage((*command, "--convolution", "dirct"), "--convolution", "did you mean 'direct'?")
        self.assert_usage(("train", "lenet", "mlp"), "unexpected argument 'mlp'")

    def test_an_unknown_target_gets_the_nearest(self):
        done = self.run_program("train", "--data", self.data, env={"LOCKSTEP_TARGET": "axv2"})
        self.assert_refused_before_start(done, 2, "'axv2'", "did you mean 'avx2'?")

    def test_limits_are_named(self):
        for value in ("0", "-1", "1000001", "many", "1.5", ""):
            self.assert_usage(("train", "--batch", value), "--batch", "from 1 to 1,000,000", f"'{value}'")
        for value in ("nan", "0", "-0.1", "inf", "1e39", "fast"):
            self.assert_usage(("train", "--lr", value), "--lr", "finite", "above 0", f"'{value}'")
        for value in ("0", "-1", "3000000000"):
            self.assert_usage(("train", "--epochs", value), "--epochs", "from 1 to", f"'{value}'")
        for value in ("0", "1025"):
            self.assert_usage(("train", "--threads", value), "--threads", "from 1 to 1,024", f"'{value}'")
        for value in ("-1", "18446744073709551616"):
            self.assert_usage(("train", "--seed", value), "--seed", "from 0 to 2^64 - 1", f"'{value}'")

    def test_values_must_be_there_once(self):
        self.assert_usage(("train", "--batch"), "--batch")
        self.assert_usage(("train", "--batch", "1", "--batch", "2"), "--batch")
        self.assert_usage(("train", "--out", ""), "--out", "expected a path")
        self.assert_usage(("eval", "x", "--data", ""), "--data", "expected a path")
        self.assert_usage(("train", "--data", b"\xff"), "--data", "UTF-8", r"\xff")

    def test_a_directory_that_exists_is_not_taken(self):
        (self.folder / "mine").mkdir()
        (self.folder / "mine/note").write_text("keep")
        for name in ("mine", "mine/", "mine/note"):
            self.assert_usage(("train", "--data", self.data, "--out", name), name, "exists")
        self.assertEqual((self.folder / "mine/note").read_text(), "keep")
        self.assertEqual(len(list((self.folder / "mine").iterdir())), 1)

    def test_a_config_is_checked(self):
        self.assert_config("[job]\nbacth = 1\n", "job.toml:2", '"bacth"', "did you mean 'batch'?")
        self.assert_config("[jub]\n", '"jub"', "did you mean 'job'?")
        self.assert_config("[job]\nmodel = 'lnet'\n", "'lnet'", "did you mean 'lenet'?")
        self.assert_config("[job]\nbatch = 0\n", "job.toml:2", "job.batch", "from 1")
        self.assert_config("[job]\nbatch = 1000001\n", "job.batch", "from 1 to 1,000,000")
        self.assert_config("[job]\nlr = nan\n", "job.lr", "finite")
        self.assert_config("[job]\nlr = 0\n", "job.lr", "above 0")
        self.assert_config("[job]\nepochs = 0\n", "job.epochs", "from 1")
        self.assert_config("[job]\nlaw = 2\n", "job.law", "1 to 1")
        self.assert_config("[job]\nconvolution = 'dirct'\n", "job.toml:2", "job.convolution", '"fast" or "direct"')
        self.assert_config("[machine]\nthreads = 2000\n", "machine.threads", "from 1 to 1,024")
        self.assert_config("[machine]\norder = 'pak'\n", "machine.order", "did you mean 'pack'?")
        self.assert_config("[machine]\ndevices = ['cpu:0', 'cpu:0']\n", "machine.devices", "cpu:0 is there twice")
        self.assert_config("[machine]\nshares = [1, 2]\n", "machine.shares", "expected 1 number")
        self.assert_config("[machine]\nshares = [0]\n", "machine.shares", "above 0")
        self.assert_config("[job\n", "job.toml:1", "TOML")

    def test_a_config_holds_the_data_and_weights_to_its_hashes(self):
        wrong = "0123456789abcdef" * 2
        config = self.folder / "job.toml"
        config.write_text(f'[job]\ndata = "{wrong}"\n')
        done = self.run_program("train", "--config", config, "--data", self.data)
        self.assert_refused_before_start(done, 3, self.data, wrong, "job.toml")
        config.write_text(f'[job]\nload = "{wrong}"\n')
        done = self.run_program("train", "--config", config, "--data", self.data)
        self.assert_refused_before_start(done, 2, wrong, "--load")
        run = self.train("mlp", "--epochs", 1, "--out", "start")["run"]
        config.write_text(f'[job]\nmodel = "mlp"\nload = "{wrong}"\n')
        done = self.run_program("train", "--config", config, "--data", self.data, "--load", run)
        self.assert_refused_before_start(done, 3, "start/weights.safetensors", wrong, "job.toml")

    def test_a_config_that_is_not_there(self):
        self.assert_refused_before_start(self.run_program("train", "--config", "none.toml"), 3, "none.toml")

    def test_results_that_cannot_be_printed_are_no_success(self):
        with open("/dev/full", "w") as full:
            done = self.run_program("--version", stdout=full)
            self.assert_refused(done, 1, "stdout", "No space left")
        reading, writing = os.pipe()
        os.close(reading)
        done = self.run_program("train", "--print-program", stdout=writing)
        os.close(writing)
        self.assert_refused(done, 1, "stdout", "Broken pipe")
        done = self.run_program("train", "mlp", "--data", self.data, "--epochs", 1, stdout=None,
                                preexec_fn=lambda: os.close(1))
        self.assert_refused(done, 1, "stdout")
        self.assertTrue((self.folder / "runs/mlp-1/weights.safetensors").exists())

    def test_a_message_stays_on_one_line(self):
        self.assert_usage(("train", "le\nnet"), "le net")
        self.assert_usage(("tr\x1bain",), "tr ain")

    def test_stderr_may_be_closed(self):
        done = self.run_program("train", "mlp", "--data", self.data, "--epochs", 1, "--json", stderr=None,
                                preexec_fn=lambda: os.close(2))
        self.assertEqual((done.returncode, done.stdout.count("\n")), (0, 1))


if __name__ == "__main__":
    unittest.main()
