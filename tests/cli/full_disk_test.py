#!/usr/bin/env python3
"""Files that cannot be written: exit 1 naming the path, and nothing half-written stays."""
import resource
import unittest

from program import ProgramTest


def no_file_above(size):
    """For the child before it starts: the disk is full for every file beyond `size` bytes."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


class FullDiskTest(ProgramTest):
    def train_with_room(self, size):
        return self.run_program("train", "mlp", "--data", self.data, "--epochs", 2, "--batch", 64,
                                preexec_fn=no_file_above(size))

    def test_no_room_for_the_weights(self):
        self.assert_refused(self.train_with_room(300_000), 1, "runs/mlp-1/weights.safetensors", "File too large")
        run = self.folder / "runs/mlp-1"
        self.assertEqual({file.name for file in run.iterdir()}, {"config.toml", "results.csv", "metrics.jsonl"})
        self.assertEqual(len((run / "results.csv").read_text().splitlines()), 3)

    def test_no_room_for_the_rows(self):
        self.assert_refused(self.train_with_room(600), 1, "runs/mlp-1/metrics.jsonl")
        run = self.folder / "runs/mlp-1"
        self.assertEqual({file.name for file in run.iterdir()}, {"config.toml", "results.csv", "metrics.jsonl"})

    def test_no_room_for_the_config(self):
        self.assert_refused(self.train_with_room(50), 1, "runs/mlp-1/config.toml")
        self.assertEqual(list((self.folder / "runs").iterdir()), [])

    def test_earlier_runs_stay_whole(self):
        run = self.folder / self.train("mlp", "--epochs", 1)["run"]
        before = {file.name: file.read_bytes() for file in run.iterdir()}
        self.assert_refused(self.train_with_room(300_000), 1, "runs/mlp-2/weights.safetensors")
        self.assertEqual({file.name: file.read_bytes() for file in run.iterdir()}, before)

    def test_a_place_that_is_no_folder(self):
        (self.folder / "file").write_text("keep")
        done = self.run_program("train", "mlp", "--data", self.data, "--out", "file/run")
        self.assert_refused(done, 1, "file", "cannot make the directory")
        (self.folder / "runs").write_text("in the way")
        done = self.run_program("train", "mlp", "--data", self.data)
        self.assert_refused(done, 1, "runs", "cannot make the directory")


if __name__ == "__main__":
    unittest.main()
