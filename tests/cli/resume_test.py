#!/usr/bin/env python3
"""Checkpoints: a run that was stopped or killed goes on with the same bits, on any devices."""
import os
import random
import shutil
import signal
import time
import unittest

from pictures import TEST, TRAIN, idx_images, idx_labels
from program import ProgramTest

JOB = ("mlp", "--epochs", 30, "--momentum", "0.5")


class ResumeTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.train(*JOB, "--out", "whole")

    def run_file(self, run, name):
        return (self.folder / run / name).read_bytes()

    def assert_as_whole(self, run):
        self.assertEqual(self.run_file(run, "weights.safetensors"), self.run_file("whole", "weights.safetensors"))
        self.assertEqual(self.run_file(run, "hashes.csv"), self.run_file("whole", "hashes.csv"))
        columns = [[line.split(",")[:6] for line in self.run_file(r, "results.csv").decode().splitlines()]
                   for r in (run, "whole")]
        self.assertEqual(columns[0], columns[1])
        steps = [line for line in self.run_file(run, "metrics.jsonl").splitlines() if b"global_step" in line]
        self.assertEqual(len(steps), 60)
        self.assertEqual(len(list((self.folder / run / "checkpoints").glob("*.safetensors"))), 2)
        self.assert_nothing_half_written()

    def start(self, run, *arguments):
        return self.start_program("train", "--data", self.data, *JOB, "--out", run, "--checkpoint-every", 1, *arguments)

    def wait_for_checkpoint(self, run, name="step-*[1-9].safetensors"):
        while not list((self.folder / run / "checkpoints").glob(name)):
            time.sleep(0.001)

    def test_termination_saves_and_another_number_of_devices_goes_on(self):
        process = self.start("run", "--devices", 2)
        self.wait_for_checkpoint("run")
        process.send_signal(signal.SIGTERM)
        process.communicate()
        self.assertIn(process.returncode, (143, 0))
        self.train("--resume", "run", "--devices", 3, "--exchange", "star")
        self.assert_as_whole("run")

    def test_a_kill_at_any_moment_leaves_a_checkpoint(self):
        moments = random.Random(0)
        for attempt in range(8):
            run = f"run{attempt}"
            process = self.start(run)
            self.wait_for_checkpoint(run)
            time.sleep(moments.uniform(0, 0.1))
            process.kill()
            process.communicate()
            self.train("--resume", run, "--devices", 1 + attempt % 3)
            self.assert_as_whole(run)

    def test_more_epochs_are_the_longer_run(self):
        self.train("mlp", "--epochs", 2, "--momentum", "0.5", "--out", "run")
        self.train("--resume", "run", "--epochs", 30)
        self.assert_as_whole("run")

    def test_a_damaged_checkpoint_is_skipped_or_refused_and_nothing_changes(self):
        self.train("mlp", "--epochs", 3, "--momentum", "0.5", "--out", "run")
        shutil.copytree(self.folder / "run", self.folder / "other")
        newest = max((self.folder / "run/checkpoints").iterdir())
        damaged = bytearray(newest.read_bytes())
        damaged[len(damaged) // 2] ^= 1
        newest.write_bytes(damaged)
        done = self.run_program("train", "--resume", "run", "--epochs", 30, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(newest.name, done.stderr)
        self.assert_as_whole("run")
        aside = newest.with_name(newest.name + ".damaged")
        self.assertIn(f"kept the skipped checkpoint as run/checkpoints/{aside.name}\n", done.stderr)
        self.assertEqual(aside.read_bytes(), damaged)
        before = {}
        for file in (self.folder / "other/checkpoints").iterdir():
            file.write_bytes(file.read_bytes()[:-1])
        for file in (self.folder / "other").rglob("*.*"):
            before[file] = file.read_bytes() if file.is_file() else None
        done = self.run_program("train", "--resume", "other", "--epochs", 30)
        self.assert_refused(done, 3, "other", "checkpoint")
        self.assertEqual(before, {file: file.read_bytes() if file.is_file() else None
                                  for file in (self.folder / "other").rglob("*.*")})

    def test_a_checkpoint_that_cannot_be_read_stops_it_and_stays(self):
        self.train("mlp", "--epochs", 3, "--momentum", "0.5", "--out", "run")
        newest = max((self.folder / "run/checkpoints").iterdir())
        content = newest.read_bytes()
        newest.unlink()
        newest.symlink_to("/proc/self/mem")  # opens, and reading its first bytes is an I/O error
        done = self.run_program("train", "--resume", "run", "--epochs", 30)
        self.assert_refused(done, 4, newest.name, "cannot read", "Input/output error")
        self.assertTrue(newest.is_symlink())
        newest.unlink()
        newest.write_bytes(content)
        self.train("--resume", "run", "--epochs", 30)
        self.assert_as_whole("run")

    def test_a_checkpoint_that_no_memory_holds_is_skipped(self):
        self.train("mlp", "--epochs", 3, "--momentum", "0.5", "--out", "run")
        newest = max((self.folder / "run/checkpoints").iterdir())
        for make in (lambda file: file.truncate(50 << 30), lambda file: (file.truncate(0), file.truncate(50 << 30))):
            with newest.open("r+b") as file:
                make(file)
            done = self.run_program("train", "--resume", "run", "--epochs", 3, "--threads", 1, **self.limited(4 << 30))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"skipped run/checkpoints/{newest.name}: ", done.stderr)
        self.train("--resume", "run", "--epochs", 30)
        self.assert_as_whole("run")

    def test_a_checkpoint_of_another_job_is_skipped_and_kept(self):
        self.train("mlp", "--epochs", 3, "--momentum", "0.5", "--out", "run")
        self.train("mlp", "--epochs", 3, "--momentum", "0.5", "--seed", 7, "--out", "other")
        newest = max((self.folder / "run/checkpoints").iterdir())
        newest.write_bytes((self.folder / "other/checkpoints" / newest.name).read_bytes())
        done = self.run_program("train", "--resume", "run", "--epochs", 30)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"skipped run/checkpoints/{newest.name}: expected 'seed = 0' as the run's config.toml says, "
                      "found 'seed = 7'; is it of another run?\n", done.stderr)
        self.assertTrue(newest.with_name(newest.name + ".damaged").exists())
        self.assert_as_whole("run")

    def test_what_is_no_file_is_skipped_and_kept(self):
        self.train("mlp", "--epochs", 3, "--momentum", "0.5", "--out", "run")
        newest = max((self.folder / "run/checkpoints").iterdir())
        newest.unlink()
        os.mkfifo(newest)
        done = self.run_program("train", "--resume", "run", "--epochs", 30)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"skipped run/checkpoints/{newest.name}: expected a file, found a FIFO", done.stderr)
        self.assertTrue(newest.with_name(newest.name + ".damaged").is_fifo())
        self.assert_as_whole("run")

    def resume_and_say(self, run, *arguments):
        """What stderr says beside the progress of a run that goes on."""
        done = self.run_program("train", "--resume", run, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.messages(done.stderr)

    def test_a_part_that_is_not_recorded_is_a_hole_that_is_said(self):
        self.train("mlp", "--epochs", 2, "--momentum", "0.5", "--out", "run")
        self.assertEqual(self.resume_and_say("run", "--epochs", 4, "--no-record"), [])
        self.assertEqual(self.resume_and_say("run", "--epochs", 30),
                         ["run: rows were missing, after a loss of power or a part without a record: "
                          "hashes.csv steps 5 to 7"])
        done = self.run_program("diff", "whole", "run")
        self.assertEqual((done.returncode, done.stdout),
                         (0, "equal: 57 steps, 4 tensors, every hash\n"
                             "steps that are not in both records and were not compared: 3\n"))

    def cut_rows(self, run, name, rows):
        """Leaves the first rows of a file, and half of the next, as a loss of power does."""
        lines = (self.folder / run / name).read_text().splitlines(keepends=True)
        (self.folder / run / name).write_text("".join(lines[:rows]) + lines[rows][:9])

    def test_rows_that_a_loss_of_power_took_are_said_and_written_again(self):
        self.train("mlp", "--epochs", 4, "--momentum", "0.5", "--out", "run")
        epochs = (self.folder / "run/results.csv").read_bytes()
        self.cut_rows("run", "results.csv", 2)    # the header and epoch 1
        self.cut_rows("run", "metrics.jsonl", 4)  # steps 1, 2, epoch 1, step 3
        self.cut_rows("run", "hashes.csv", 4)     # the header and steps 1 to 3
        self.assertEqual(self.resume_and_say("run", "--epochs", 30),
                         ["run: rows were missing, after a loss of power or a part without a record: "
                          "results.csv epochs 2 to 4, written again; "
                          "metrics.jsonl steps 4 to 8 and epochs 2 to 4, written again; hashes.csv steps 4 to 7"])
        self.assertTrue(self.run_file("run", "results.csv").startswith(epochs))
        recorded = self.run_file("run", "hashes.csv").splitlines(keepends=True)
        whole = self.run_file("whole", "hashes.csv").splitlines(keepends=True)
        self.assertEqual(recorded, whole[:4] + whole[8:])
        self.assertEqual(self.run_file("run", "weights.safetensors"), self.run_file("whole", "weights.safetensors"))

    def test_results_alone_are_as_if_nothing_had_happened(self):
        self.train("mlp", "--epochs", 4, "--momentum", "0.5", "--out", "run")
        self.cut_rows("run", "results.csv", 3)
        self.cut_rows("run", "hashes.csv", 8)  # all but the last step, which the checkpoint knows
        self.assertEqual(len(self.resume_and_say("run", "--epochs", 30)), 1)
        self.assert_as_whole("run")

    def test_a_finished_run_says_that_nothing_is_left_and_how_to_add_epochs(self):
        before = self.run_file("whole", "weights.safetensors")
        self.assertEqual(self.resume_and_say("whole"),
                         ["nothing was left to do: all 30 epochs are trained; add more with "
                          "./lockstep train --resume whole --epochs 60"])
        self.assertEqual(self.run_file("whole", "weights.safetensors"), before)
        self.assertEqual(self.resume_and_say("whole", "--epochs", 31), [])

    def test_a_finished_run_whose_schedule_has_ended_says_what_can_follow(self):
        self.train("mlp", "--epochs", 2, "--schedule", "cosine", "--out", "run")
        (said,) = self.resume_and_say("run")
        command = said.partition("with ./lockstep train ")[2].split()
        self.assertEqual(command, ["mlp", "--load", "run"])
        self.train(*command, "--epochs", 1, "--out", "next")  # what it says to do can be done

    def test_an_epoch_that_has_begun_cannot_be_left_out(self):
        process = self.start("run")
        self.wait_for_checkpoint("run")
        process.kill()
        process.communicate()
        newest = max((self.folder / "run/checkpoints").iterdir())
        step = int(newest.stem.removeprefix("step-"))
        begun = (step + 1) // 2  # two steps an epoch
        if begun > 1:
            self.assert_refused(self.run_program("train", "--resume", "run", "--epochs", begun - 1), 2, "--epochs")
        self.train("--resume", "run", "--epochs", max(begun, 1))

    def test_data_of_equal_bytes_and_other_sizes_is_refused(self):
        for name, train, test in (("one", 200, 100), ("other", 100, 200)):
            folder = self.folder / name
            folder.mkdir()
            for (images, labels), count in ((TRAIN, train), (TEST, test)):
                (folder / images).write_bytes(idx_images(count, bytes(count * 784)))
                (folder / labels).write_bytes(idx_labels(bytes(count)))
        trained = self.run_program("train", "mlp", "--data", "one", "--epochs", 1, "--out", "run", "--json")
        self.assertEqual(trained.returncode, 0, trained.stderr)
        words = ("200 + 100 pictures", "100 + 200 pictures")
        done = self.run_program("train", "--resume", "run", "--epochs", 2, "--data", "other")
        self.assert_refused(done, 3, "other", *words)
        self.assert_refused(self.run_program("diff", "run", "run", "--data", "other"), 3, "other", *words)
        config = (self.folder / "run/config.toml").read_text()
        self.assertIn('data_sizes = "200 + 100 pictures of 1x28x28, 10 classes"\n', config)
        # A config of an older version has no sizes: the hash alone decides, and the weights are the same.
        lines = [line for line in config.splitlines() if not line.startswith("data_sizes")]
        (self.folder / "old.toml").write_text("\n".join(lines))
        again = self.run_program("train", "--config", "old.toml", "--out", "again", "--json")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(self.run_file("again", "weights.safetensors"), self.run_file("run", "weights.safetensors"))

    def test_two_cannot_go_on_with_one_run(self):
        process = self.start("run", "--timeout", "100", "--drill", "hang@9:cpu:0")
        self.wait_for_checkpoint("run", "step-00000008.safetensors")  # the last it writes before it hangs
        self.assert_refused(self.run_program("train", "--resume", "run"), 2, "another lockstep")
        process.kill()

    def test_what_cannot_go_on_is_refused(self):
        for arguments, code, word in ((("lenet", "--resume", "whole"), 2, "'mlp'"),
                                      (("--resume", "whole", "--lr", "0.1"), 2, "--lr"),
                                      (("--resume", "whole", "--out", "x"), 2, "--out"),
                                      (("--resume", "whole", "--epochs", "2"), 2, "--epochs"),
                                      (("--resume", "nowhere"), 3, "nowhere"),
                                      (("--resume", "data"), 3, "data")):
            done = self.run_program("train", *arguments)
            self.assert_refused(done, code, word)


if __name__ == "__main__":
    unittest.main()
