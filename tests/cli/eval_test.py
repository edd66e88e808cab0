#!/usr/bin/env python3
"""Evaluating saved weights."""
import json
import shutil
import unittest

import tensors
from program import REAL_DATA, ProgramTest


class EvalTest(ProgramTest):
    def evaluate(self, *arguments):
        return self.evaluate_saying("", *arguments)

    def evaluate_saying(self, said, *arguments):
        done = self.run_program("eval", "--json", *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, said))
        return json.loads(done.stdout)

    def test_it_repeats_the_last_evaluation_of_the_training(self):
        trained = self.train("mlp", "--epochs", 5, "--batch", 32)
        last = [json.loads(line) for line in (self.folder / trained["run"] / "metrics.jsonl").read_text().splitlines()]
        for threads in (1, 3):
            found = self.evaluate(trained["run"], "--threads", threads)
            self.assertEqual(list(found), ["accuracy", "loss", "examples", "classes", "weights"])
            self.assertEqual((found["accuracy"], found["loss"]), (trained["accuracy"], last[-1]["test_loss"]))
            self.assertEqual((found["weights"], found["examples"]), (trained["weights"], 128))
            self.assertEqual(sum(c["examples"] for c in found["classes"]), 128)
            right = sum(c["accuracy"] * c["examples"] for c in found["classes"])
            self.assertAlmostEqual(right, 128 * found["accuracy"])

    def test_the_table_is_for_people(self):
        run = self.train("mlp", "--epochs", 1)["run"]
        done = self.run_program("eval", run)
        lines = done.stdout.splitlines()
        self.assertEqual((done.returncode, len(lines)), (0, 15))
        self.assertEqual([line.split()[0] for line in lines[:3]], ["accuracy", "loss", "examples"])
        self.assertEqual([line.split()[0] for line in lines[5:]], [str(c) for c in range(10)])

    def test_classes_are_called_what_the_data_calls_them(self):
        run = self.train("mlp", "--epochs", 1)["run"]
        names = [f"bar {c}" for c in range(9)] + ["Käfer"]
        (self.data / "classes.txt").write_text("\n".join(names) + "\n")
        self.assertEqual([c["name"] for c in self.evaluate(run)["classes"]], names)
        self.assertIn("\nKäfer  ", self.run_program("eval", run).stdout)
        (self.data / "classes.txt").write_text("\n".join(names[1:]) + "\n")
        self.assert_refused(self.run_program("eval", run), 3, self.data / "classes.txt", "expected 10 names", "found 9")

    def test_fashion_mnist_is_known_by_its_data_and_not_by_its_folder(self):
        run = self.train("mlp", "--epochs", 1)["run"]
        shutil.copytree(self.data, self.folder / "fashion-mnist")
        named = self.evaluate(run, "--data", self.folder / "fashion-mnist")
        self.assertEqual(named["classes"][9]["name"], "9")
        shutil.copytree(REAL_DATA, self.folder / "pictures")
        real = self.evaluate(run, "--data", self.folder / "pictures")
        self.assertEqual([c["name"] for c in real["classes"]],
                         ["t-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag",
                          "ankle boot"])

    def test_the_model_is_found(self):
        run = self.folder / self.train("mlp", "--epochs", 1)["run"]
        expected = self.evaluate(run)
        self.assertEqual(self.evaluate(run / "weights.safetensors", "--data", self.data), expected)  # from its metadata
        (run / "config.toml").unlink()
        self.assertEqual(self.evaluate(run, "--data", self.data), expected)
        bare = self.folder / "bare.safetensors"  # says nothing of itself
        header, values = tensors.read(run / "weights.safetensors")
        del header["__metadata__"]
        tensors.write(bare, header, values)
        said = f"{bare}: the file holds no hash of its weights; nothing vouches for them\n"
        self.assertEqual(self.evaluate_saying(said, bare, "--data", self.data, "--model", "mlp"), expected)
        done = self.run_program("train", "mlp", "--data", self.data, "--epochs", 1, "--load", bare)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(said, done.stderr)
        self.assert_refused(self.run_program("eval", bare, "--data", self.data), 3, "conv1.weight", "lenet")

    def test_another_model_is_refused(self):
        run = self.train("mlp", "--epochs", 1)["run"]
        self.assert_refused(self.run_program("eval", run, "--model", "lenet"), 2, "--model", "mlp", "lenet")

    def test_what_is_not_there_is_refused(self):
        self.assert_refused(self.run_program("eval", "runs/none"), 3, "runs/none", "No such file")
        self.assert_refused(self.run_program("eval", self.data), 3, "data/weights.safetensors")
        self.assert_refused(self.run_program("eval"), 2, "RUN", "lockstep eval --help")
        self.assert_refused(self.run_program("eval", "x", "--threads", 0), 2, "--threads", "1 to 1,024", "'0'")

    def test_other_data_may_be_evaluated(self):
        run = self.train("mlp", "--epochs", 1)["run"]
        shutil.move(self.data, self.folder / "moved")
        self.assert_refused(self.run_program("eval", run), 3, self.data, "--data DIR")
        self.assertEqual(self.evaluate(run, "--data", "moved")["examples"], 128)


if __name__ == "__main__":
    unittest.main()
