#!/usr/bin/env python3
"""Any number of devices: the same weights, and what is said about devices that idle, fail or hang."""
import json
import unittest

from program import ProgramTest


class DevicesTest(ProgramTest):
    def test_every_number_of_devices_and_exchange_gives_the_same_file(self):
        self.train("mlp", "--epochs", 2, "--momentum", "0.9", "--out", "one")
        expected = (self.folder / "one/weights.safetensors").read_bytes()
        for number, arguments in enumerate((("--devices", 2), ("--devices", "3xcpu", "--exchange", "star"),
                                            ("--devices", "cpu:0,cpu:4", "--threads", 2, "--order", "layer"),
                                            ("--devices", 5, "--shard-optimizer", "--no-bind"))):
            result = self.train("mlp", "--epochs", 2, "--momentum", "0.9", "--out", f"run{number}", *arguments)
            self.assertEqual((self.folder / f"run{number}/weights.safetensors").read_bytes(), expected, arguments)
        self.assertEqual(result["devices"], [f"cpu:{i}" for i in range(5)])

    def test_idle_devices_are_named_once(self):
        done = self.run_program("train", "mlp", "--data", self.data, "--epochs", 2, "--batch", 40, "--devices", 5)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.messages(done.stderr),
                         ["cpu:3 to cpu:4 have nothing to compute: a minibatch of 40 is 3 packs for 5 devices"])

    def test_scaling_multiplies_batch_and_rate(self):
        self.train("mlp", "--epochs", 1, "--batch", 64, "--lr", "0.1", "--devices", 2, "--scale-batch", "--scale-lr",
                   "--out", "scaled")
        self.train("mlp", "--epochs", 1, "--batch", 128, "--lr", "0.2", "--out", "plain")
        self.assertEqual((self.folder / "scaled/weights.safetensors").read_bytes(),
                         (self.folder / "plain/weights.safetensors").read_bytes())

    def test_a_device_that_fails_is_named(self):
        done = self.run_program("train", "mlp", "--data", self.data, "--devices", 3, "--drill", "fail@2:cpu:1")
        self.assert_refused(done, 4, "cpu:1", "step 2", "drill")

    def test_a_device_that_hangs_is_named_with_who_waits_for_it(self):
        done = self.run_program("train", "mlp", "--data", self.data, "--devices", 2, "--timeout", "1",
                                "--drill", "hang@3:cpu:1")
        self.assert_refused(done, 4, "no progress for 1 s: cpu:1 (step 3", "held up by it: cpu:0", "waiting for cpu:1")

    def test_a_slow_device_changes_nothing(self):
        slow = self.train("mlp", "--epochs", 1, "--devices", 2, "--drill", "slow@2:cpu:1")
        self.assertEqual(slow["weights"], self.train("mlp", "--epochs", 1)["weights"])

    def test_a_trace_has_a_lane_for_compute_exchange_and_wait_of_every_device(self):
        self.train("mlp", "--epochs", 1, "--devices", 2, "--trace", "trace.json")
        events = json.loads((self.folder / "trace.json").read_text())["traceEvents"]
        names = {e["args"]["name"] for e in events if e["ph"] == "M" and "name" in e.get("args", {})}
        self.assertLessEqual({"cpu:0", "cpu:1", "compute", "exchange", "wait"}, names)
        self.assertEqual({e["pid"] for e in events if e["ph"] == "X"}, {0, 1})

    def test_a_trace_that_cannot_be_written_is_refused_before_the_training(self):
        done = self.run_program("train", "mlp", "--data", self.data, "--trace", "nowhere/trace.json")
        self.assert_refused_before_start(done, 1, "nowhere/trace.json")

    def test_steps_in_messages_are_those_of_the_training(self):
        self.train("mlp", "--epochs", 2, "--out", "run")
        done = self.run_program("train", "--resume", "run", "--epochs", 4, "--devices", 2, "--drill", "fail@2:cpu:1")
        self.assert_refused(done, 4, "cpu:1: step 6, ")

    def test_bad_lists_are_refused(self):
        for text, word in (("0", "no device"), ("gpu:0", "no device of kind 'gpu'"), ("cpu:0,cpu:0", "twice"),
                           ("2xcpi", "did you mean 'cpu'?"), ("", "nothing between"), ("1025", "more than 1024")):
            done = self.run_program("train", "--data", self.data, "--devices", text)
            self.assert_refused_before_start(done, 2, "--devices", word)
        for arguments in (("--exchange", "strar"), ("--momentum", "1"), ("--momentum", "-0.1"), ("--timeout", "0"),
                          ("--timeout", "1e30"), ("--timeout", "nan"), ("--drill", "fail@1:cpu:9"),
                          ("--drill", "flip"), ("--drill", "flop@1:cpu:0"), ("--checkpoint-every", "0")):
            done = self.run_program("train", "--data", self.data, *arguments)
            self.assert_refused_before_start(done, 2, arguments[0])


if __name__ == "__main__":
    unittest.main()
