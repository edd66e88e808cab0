#!/usr/bin/env python3
"""Training from the command line: what it leaves, and that equal jobs give equal bits."""
import concurrent.futures
import csv
import errno
import json
import os
import pty
import re
import unittest

from program import REAL_DATA, RUN_FILES, ProgramTest

HASH = re.compile(r"[0-9a-f]{32}")


def read_terminal(screen):
    """All of it. A terminal whose other end is closed ends with an error, not with nothing."""
    shown = b""
    try:
        while part := screen.read(4096):
            shown += part
    except OSError as end:
        if end.errno != errno.EIO:
            raise
    return shown


class TrainTest(ProgramTest):
    def test_a_run_leaves_its_files_and_says_where(self):
        done = self.run_program("train", "--data", self.data, "--epochs", 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\Atest acc: \d\.\d\d, \d+\.\d sec/epoch on \[cpu:0\]\nweights [0-9a-f]{32}\n\Z")
        progress = done.stderr.splitlines()
        self.assertRegex(progress[0], r"\Atraining lenet \(129,068 parameters\) on " + re.escape(str(self.data)) +
                         r" \(512 examples, 128 to test\) with cpu:0, \d+ threads?\Z")
        self.assertEqual([line.split()[:2] for line in progress[1:]], [["epoch", "1/2"], ["epoch", "2/2"],
                                                                       ["run", "runs/lenet-1"]])
        run = self.folder / "runs/lenet-1"
        self.assertEqual({file.name for file in run.iterdir()}, RUN_FILES)
        rows = list(csv.DictReader((run / "results.csv").read_text().splitlines()))
        self.assertEqual([row["epoch"] for row in rows], ["1", "2"])
        objects = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
        self.assertEqual(["test_accuracy" in o for o in objects], [False, False, True] * 2)
        self.assertTrue((run / "curve.svg").read_text().startswith("<svg "))

    def test_json_is_one_object(self):
        result = self.train("mlp", "--epochs", 3)
        self.assertEqual(list(result), ["accuracy", "loss", "seconds_per_epoch", "weights", "devices", "run", "epochs"])
        self.assertEqual((result["devices"], result["run"]), (["cpu:0"], "runs/mlp-1"))
        self.assertRegex(result["weights"], HASH)
        self.assertGreater(result["seconds_per_epoch"], 0)
        rows = list(csv.DictReader((self.folder / "runs/mlp-1/results.csv").read_text().splitlines()))
        self.assertEqual([list(epoch) for epoch in result["epochs"]],
                         [["epoch", "train_loss", "test_loss", "accuracy", "seconds"]] * 3)
        self.assertEqual([(epoch["epoch"], epoch["train_loss"]) for epoch in result["epochs"]],
                         [(int(row["epoch"]), float(row["train_loss"])) for row in rows])
        last = result["epochs"][-1]
        self.assertEqual((result["loss"], result["accuracy"]), (last["test_loss"], last["accuracy"]))
        self.assertEqual(result["loss"], json.loads(self.run_program("eval", "runs/mlp-1", "--json").stdout)["loss"])

    def test_it_learns(self):
        self.assertEqual(self.train("mlp", "--epochs", 30, "--batch", 32)["accuracy"], 1)

    def test_the_bits_do_not_depend_on_the_machine(self):
        job = ("--epochs", 2, "--batch", 100)  # 5 whole packs and a part of one in the last minibatch
        expected = self.train(*job, "--threads", 1)
        file = (self.folder / expected["run"] / "weights.safetensors").read_bytes()
        for machine in (("--threads", 2), ("--threads", 3), ("--threads", 3, "--order", "layer"),
                        ("--threads", 1, "--order", "layer"), ("--threads", 1, "--order", "pack")):
            with self.subTest(machine=machine):
                result = self.train(*job, *machine)
                self.assertEqual(result["weights"], expected["weights"])
                self.assertEqual((self.folder / result["run"] / "weights.safetensors").read_bytes(), file)

    def test_the_bits_do_not_depend_on_the_kernels(self):
        hashes, refused = set(), 0
        for target in ("avx512", "avx2", "neon"):
            done = self.run_program("train", "--data", self.data, "--json", "--epochs", 1,
                                    env={"LOCKSTEP_TARGET": target})
            if done.returncode == 0:
                hashes.add(json.loads(done.stdout)["weights"])
            else:  # this processor's fault, or this build's
                self.assert_refused(done, 4 if "cannot run" in done.stderr else 2, target)
                refused += 1
        self.assertLess(refused, 3)
        self.assertEqual(hashes, {self.train("--epochs", 1)["weights"]})

    def test_the_bits_depend_on_the_job(self):
        jobs = ((), ("--seed", 1), ("--seed", 2**64 - 1), ("--batch", 255), ("--lr", "0.1"), ("--epochs", 2))
        hashes = {self.train("mlp", "--epochs", 1, *job)["weights"] if "--epochs" not in job
                  else self.train("mlp", *job)["weights"] for job in jobs}
        self.assertEqual(len(hashes), len(jobs))

    def test_a_config_runs_again_and_flags_go_over_it(self):
        first = self.train("mlp", "--epochs", 2, "--batch", 100, "--lr", "0.3", "--seed", 2**64 - 1, "--order", "layer")
        config = self.folder / first["run"] / "config.toml"
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        for source in (config, config.parent):
            done = self.run_program("train", "--config", source, "--json", "--out", elsewhere / source.name)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["weights"], first["weights"])
            self.assertEqual((elsewhere / source.name / "config.toml").read_bytes(), config.read_bytes())
        flagged = self.train("--config", config, "--seed", 5)
        plain = self.train("mlp", "--epochs", 2, "--batch", 100, "--lr", "0.3", "--seed", 5)
        self.assertEqual(flagged["weights"], plain["weights"])
        self.assertNotEqual(flagged["weights"], first["weights"])

    def test_a_run_starts_from_given_weights(self):
        first = self.train("mlp", "--epochs", 1)
        by_run = self.train("mlp", "--epochs", 1, "--load", first["run"])
        by_file = self.train("mlp", "--epochs", 1, "--load", self.folder / first["run"] / "weights.safetensors")
        self.assertEqual(by_run["weights"], by_file["weights"])
        self.assertNotEqual(by_run["weights"], first["weights"])
        config = self.folder / by_run["run"] / "config.toml"
        self.assertIn(f'load = "{first["weights"]}"', config.read_text())
        again = self.train("--config", config, "--load", first["run"])
        self.assertEqual(again["weights"], by_run["weights"])

    def test_a_run_never_takes_over_another(self):
        runs = [self.train("mlp", "--epochs", 1)["run"] for _ in range(2)]
        (self.folder / "runs/mlp-3").write_text("not a run")
        runs.append(self.train("mlp", "--epochs", 1)["run"])
        self.assertEqual(runs, ["runs/mlp-1", "runs/mlp-2", "runs/mlp-4"])

    def test_a_batch_beyond_the_training_set_is_one_step(self):
        whole = self.train("mlp", "--epochs", 2, "--batch", 512)
        beyond = self.train("mlp", "--epochs", 2, "--batch", 1_000_000)
        self.assertEqual(whole["weights"], beyond["weights"])

    def test_the_program_of_a_step_is_printed(self):
        done = self.run_program("train", "--print-program")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("segment ", done.stdout)
        self.assertIn("conv2", done.stdout)
        self.assertEqual(list(self.folder.iterdir()), [self.data])

    def test_the_program_of_one_rank_is_printed(self):
        done = self.run_program("train", "--print-program", "--devices", 3)
        ranks = [line for line in done.stdout.splitlines() if line.startswith("rank ")]
        self.assertEqual(ranks, ["rank 0, cpu:0", "rank 1, cpu:1", "rank 2, cpu:2"])
        one = self.run_program("train", "--print-program", "--devices", 3, "--rank", 1)
        self.assertEqual((one.returncode, one.stderr), (0, ""))
        self.assertTrue(one.stdout.startswith("rank 1, cpu:1\n"))
        self.assertIn(one.stdout, done.stdout)
        none = self.run_program("train", "--print-program", "--devices", 3, "--rank", 3)
        self.assertEqual(none.returncode, 2)
        self.assertIn("ranks 0 to 2", none.stderr)

    def test_a_loss_that_stays_where_guessing_is_gets_a_warning(self):
        done = self.run_program("train", "mlp", "--data", self.data, "--batch", 4, "--epochs", 4, "--lr", "1e-9")
        self.assertEqual(done.returncode, 0, done.stderr)
        first, second = self.messages(done.stderr)
        self.assertTrue(first.startswith("warning: epoch 1: the loss stayed at 2.30"), first)
        self.assertTrue(second.startswith("warning: epoch 2: the loss is still 2.30"), second)
        for line in (first, second):
            for cause in ("learning rate", "1e-09", "ln(10)", "N(0, 0.01)"):
                self.assertIn(cause, line)
        learning = self.run_program("train", "mlp", "--data", self.data, "--batch", 4, "--epochs", 2, "--lr", "0.1")
        self.assertEqual((learning.returncode, self.messages(learning.stderr)), (0, []))

    def test_a_terminal_gets_a_line_that_is_rewritten(self):
        for variables, colored in (({}, True), ({"NO_COLOR": "1"}, False)):
            code, shown = self.on_terminal("train", "mlp", "--data", self.data, "--epochs", 2,
                                           env={"TERM": "xterm", **variables})
            self.assertEqual(code, 0, shown)
            self.assertIn("\repoch 2/2", shown)
            self.assertIn("training mlp (203,530 parameters) on ", shown)
            self.assertRegex(shown, r"epoch    loss  test acc  seconds")
            self.assertRegex(shown, r"    2   \d\.\d{3}     \d\.\d{3}     \d\.\d\d\x1b\[K\r\n")
            self.assertEqual(re.search(r"\x1b\[\d+m", shown) is not None, colored)

    def on_terminal(self, *arguments, env):
        """The exit code, and what stderr shows on a terminal of 80 x 24."""
        ours, its = pty.openpty()
        with open(ours, "rb", buffering=0) as screen, concurrent.futures.ThreadPoolExecutor() as pool:
            reading = pool.submit(read_terminal, screen)
            done = self.run_program(*arguments, stderr=its, env=env)
            os.close(its)
            return done.returncode, reading.result().decode()

    def test_fashion_mnist(self):
        trained = self.run_program("train", "--epochs", 1, "--batch", 64, "--lr", "0.1", "--json", "--data", REAL_DATA)
        self.assertEqual(trained.returncode, 0, trained.stderr)
        evaluated = self.run_program("eval", "runs/lenet-1", "--json")
        self.assertEqual(json.loads(evaluated.stdout)["accuracy"], json.loads(trained.stdout)["accuracy"])


if __name__ == "__main__":
    unittest.main()
