#!/usr/bin/env python3
"""Ctrl-C and termination: the first ends at a step boundary and saves, the second ends at once."""
import json
import os
import pathlib
import signal
import time
import unittest

from pictures import TEST
from program import RUN_FILES, ProgramTest


def signal_sets(process):
    """What the kernel says of a process's signals, as sets of bits: SigCgt caught, ShdPnd and SigPnd pending."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    fields = dict(line.split(":", 1) for line in status.splitlines())
    return {name: int(fields[name], 16) for name in ("SigCgt", "ShdPnd", "SigPnd")}


def wait_until(condition):
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it never happened")
        time.sleep(0.002)


class StopTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.last_file = self.data / TEST[1]
        self.content = self.last_file.read_bytes()

    def start_held(self):
        """A training that is ready for signals and waits for its last file, which is a pipe."""
        self.last_file.unlink()
        os.mkfifo(self.last_file)
        process = self.start_program("train", "mlp", "--data", self.data)
        wait_until(lambda: signal_sets(process)["SigCgt"] & 1 << (signal.SIGINT - 1))
        return process

    def send(self, process, number):
        """Returns when the process has taken notice."""
        process.send_signal(number)
        bit = 1 << (number - 1)
        wait_until(lambda: not (signal_sets(process)["ShdPnd"] | signal_sets(process)["SigPnd"]) & bit)

    def assert_saved(self, run):
        self.assertEqual({file.name for file in run.iterdir()}, RUN_FILES)
        self.assert_nothing_half_written()
        done = self.run_program("eval", run, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_the_first_signal_ends_at_a_step_boundary_and_saves(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process = self.start_program("train", "mlp", "--data", self.data, "--epochs", 1_000_000, "--json",
                                         "--out", str(code))
            self.assertTrue(process.stderr.readline().startswith("training mlp "))
            self.assertTrue(process.stderr.readline().startswith("epoch 1/"))
            process.send_signal(number)
            stdout, stderr = process.communicate()
            self.assertEqual((process.returncode, self.messages(stderr)), (code, []))
            self.assertEqual(json.loads(stdout)["weights"], self.assert_saved(self.folder / str(code))["weights"])

    def test_a_sweep_that_is_stopped_says_how_to_go_on(self):
        process = self.start_program("sweep", "mlp", "--data", self.data, "--epochs", 1_000_000, "--out", "swept")
        self.assertTrue(process.stderr.readline().startswith("training mlp "))
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate()
        self.assertEqual((process.returncode, stdout), (130, ""))
        self.assertEqual(self.messages(stderr), ["interrupted in run 1 of 2; go on with it: "
                                                 "./lockstep train --resume swept/lr-0.2_batch-256_1xcpu"])
        self.assert_saved(self.folder / "swept/lr-0.2_batch-256_1xcpu")

    def test_before_the_first_step_the_initial_weights_are_saved(self):
        process = self.start_held()
        self.send(process, signal.SIGINT)
        self.last_file.write_bytes(self.content)
        stdout, _ = process.communicate()
        self.assertEqual(process.returncode, 130)
        self.assertIn("no epoch finished", stdout)
        self.last_file.unlink()
        self.last_file.write_bytes(self.content)
        self.assert_saved(self.folder / "runs/mlp-1")

    def test_the_second_signal_ends_at_once(self):
        for second, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with self.subTest(second=second):
                process = self.start_held()
                self.send(process, signal.SIGINT)
                self.assertIsNone(process.poll())
                process.send_signal(second)
                self.assertEqual(process.wait(timeout=60), code)
                self.assertFalse((self.folder / "runs").exists())


if __name__ == "__main__":
    unittest.main()
