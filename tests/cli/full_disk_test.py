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

    def files_of(self, run):
        return {str(file.relative_to(run)): file.read_bytes() for file in run.rglob("*") if file.is_file()}

    def test_no_room_for_a_checkpoint(self):
        self.assert_refused(self.train_with_room(300_000), 1, "runs/mlp-1/checkpoints/step-00000000.safetensors",
                            "File too large")
        run = self.folder / "runs/mlp-1"
        self.assertEqual(set(self.files_of(run)), {"config.toml", "results.csv", "metrics.jsonl", "hashes.csv"})

    def test_no_room_later_leaves_the_older_files_whole(self):
        self.train("mlp", "--epochs", 2, "--out", "run")
        run = self.folder / "run"
        before = self.files_of(run)
        done = self.run_program("train", "--resume", "run", "--epochs", 4, preexec_fn=no_file_above(300_000))
        self.assert_refused(done, 1, "run/checkpoints/step-00000004.safetensors", "File too large")
        after = self.files_of(run)
        for name in ("weights.safetensors", *(n for n in before if n.startswith("checkpoints/"))):
            self.assertEqual(after[name], before[name], name)
        self.train("--resume", "run", "--epochs", 4)
        self.train("mlp", "--epochs", 4, "--out", "whole")
        self.assertEqual(self.files_of(run)["hashes.csv"], self.files_of(self.folder / "whole")["hashes.csv"])

    def test_no_room_for_the_config(self):
        self.assert_refused(self.train_with_room(50), 1, "runs/mlp-1/config.toml")
        self.assertEqual(list((self.folder / "runs").iterdir()), [])

    def test_earlier_runs_stay_whole(self):
        run = self.folder / self.train("mlp", "--epochs", 1)["run"]
        before = self.files_of(run)
        self.assert_refused(self.train_with_room(300_000), 1, "runs/mlp-2/checkpoints")
        self.assertEqual(self.files_of(run), before)

    def test_a_place_that_is_no_folder(self):
        (self.folder / "file").write_text("keep")
        done = self.run_program("train", "mlp", "--data", self.data, "--out", "file/run")
        self.assert_refused(done, 1, "file", "cannot make the directory")
        (self.folder / "runs").write_text("in the way")
        done = self.run_program("train", "mlp", "--data", self.data)
        self.assert_refused(done, 1, "runs", "cannot make the directory")


if __name__ == "__main__":
    unittest.main()
