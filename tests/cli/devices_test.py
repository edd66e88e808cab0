#!/usr/bin/env python3
"""Any number of devices: the same weights, and what is said about devices that idle, fail or hang."""
import functools
import json
import re
import subprocess
import unittest

from program import BINARY, REAL_DATA, ProgramTest

NO_GPU = {"OCL_ICD_VENDORS": "/nonexistent", "LOCKSTEP_CUDA_LIBRARY": "/nonexistent"}


@functools.cache
def opencl_parts():
    """How many devices the OpenCL devices that compute exactly can stand for; GPUs are not divided."""
    done = subprocess.run([BINARY, "devices", "--json"], text=True, check=True, stdout=subprocess.PIPE)
    devices = [d for d in json.loads(done.stdout)["devices"] if d["name"].startswith("opencl") and d["exact"]]
    if not devices:
        return 0
    last = devices[-1]
    return len(devices) - 1 + (last["units"] if last["kind"] == "OpenCL CPU" else 1)


def needs_opencl(count):
    """A test that needs that number of OpenCL devices says so where there are fewer."""
    def decorate(test):
        @functools.wraps(test)
        def checked(self):
            if opencl_parts() < count:
                self.skipTest(f"lockstep devices lists {opencl_parts()} OpenCL devices, this test needs {count}")
            test(self)
        return checked
    return decorate


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

    def test_replicas_that_part_are_named_and_not_kept(self):
        for devices, words in ((2, "cpu:0 and cpu:1 have no majority"), (3, "cpu:1 is outvoted by the other 2")):
            done = self.run_program("train", "mlp", "--data", self.data, "--epochs", 2, "--devices", devices,
                                    "--drill", "flip@2:cpu:1", "--out", f"run{devices}")
            self.assert_refused(done, 6, "step 2: the replicas of linear2.bias differ", "equal after step 1", words)
            self.assertIn(f"\nrun run{devices}\nlockstep: ", done.stderr)  # where the last checkpoint is
            self.assertFalse((self.folder / f"run{devices}/weights.safetensors").exists())
            self.assertEqual(len(list((self.folder / f"run{devices}/checkpoints").iterdir())), 1)
        resumed = self.train("--resume", "run2", "--devices", 3)
        self.assertEqual(resumed["weights"], self.train("mlp", "--epochs", 2)["weights"])

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

    def test_a_drill_that_never_happens_is_refused(self):
        done = self.run_program("train", "mlp", "--data", self.data, "--epochs", 2, "--drill", "slow@5:cpu:0")
        self.assert_refused_before_start(done, 2, "--drill", "step 5 never comes: 4 steps are to run")
        self.train("mlp", "--epochs", 2, "--out", "run")
        done = self.run_program("train", "--resume", "run", "--epochs", 3, "--drill", "slow@3:cpu:0")
        self.assert_refused_before_start(done, 2, "--drill", "step 3 never comes: 2 steps are to run")

    def test_a_number_above_the_cores_says_what_it_means(self):
        done = self.run_program("train", "mlp", "--data", self.data, "--epochs", 1, "--devices", "cpu:1023", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        (note,) = self.messages(done.stderr)
        self.assertRegex(note, r"\Acpu:1023: the number is only a name and chooses no core; the CPU devices share the \d+ "
                               r"cores? that this process may use\Z")
        self.assertEqual(json.loads(done.stdout)["devices"], ["cpu:1023"])

    def test_bad_lists_are_refused(self):
        for text, word in (("0", "no device"), ("fpga:0", "there are cpu, opencl, cuda, gpu"), ("cpu:0,cpu:0", "twice"),
                           ("2xcpi", "did you mean 'cpu'?"), ("", "nothing between"), ("1025", "more than 1024")):
            done = self.run_program("train", "--data", self.data, "--devices", text)
            self.assert_refused_before_start(done, 2, "--devices", word)
        for arguments in (("--exchange", "strar"), ("--momentum", "1"), ("--momentum", "-0.1"), ("--timeout", "0"),
                          ("--timeout", "1e30"), ("--timeout", "nan"), ("--drill", "fail@1:cpu:9"),
                          ("--drill", "flip"), ("--drill", "flop@1:cpu:0"), ("--checkpoint-every", "0")):
            done = self.run_program("train", "--data", self.data, *arguments)
            self.assert_refused_before_start(done, 2, arguments[0])

    def test_shares_change_nothing_but_who_computes(self):
        expected = self.train("mlp", "--epochs", 1)
        result = self.train("mlp", "--epochs", 1, "--devices", "2xcpu", "--shares", "3,1", "--out", "run")
        self.assertEqual(result["weights"], expected["weights"])
        self.assertEqual([use["packs"] for use in result["use"]], [24, 8])  # two minibatches of 16 packs
        steps = [json.loads(line) for line in (self.folder / "run/metrics.jsonl").read_text().splitlines()]
        self.assertEqual([device["packs"] for device in steps[0]["devices"]], [12, 4])
        self.assertIn("shares = [3.0, 1.0]\n", (self.folder / "run/config.toml").read_text())
        self.train("--resume", "run", "--epochs", 2)
        self.train("--resume", "run", "--epochs", 3, "--devices", "3xcpu")
        self.assertIn("shares = []\n", (self.folder / "run/config.toml").read_text())
        done = self.run_program("verify", "mlp", "--data", self.data, "--steps", 3, "--devices", "1xcpu,2xcpu,3xcpu",
                                "--shares", "1,9")
        self.assertEqual(done.returncode, 0, done.stderr)
        plain, shared = (self.run_program("eval", "run", "--json", *arguments) for arguments in
                         ((), ("--devices", "2xcpu", "--shares", "1,3")))
        self.assertEqual((shared.returncode, shared.stdout), (0, plain.stdout))

    def test_bad_shares_are_refused(self):
        for text in ("3", "1,2,3", "0,1", "-1,2", "x,1", "1,", "nan,1", "inf,1"):
            for command in ("train", "verify"):
                done = self.run_program(command, "mlp", "--data", self.data, "--devices", "2xcpu", "--shares", text)
                self.assert_refused_before_start(done, 2, "--shares")


class KindsTest(ProgramTest):
    """Other devices than the CPU: how they are named, chosen and listed, and that they change no bit."""

    def refused(self, devices, code, *words):
        done = self.run_program("train", "mlp", "--data", self.data, "--devices", devices)
        self.assert_refused_before_start(done, code, *words)

    def gpus(self):
        return [d["name"] for d in self.listed() if d["kind"].endswith("GPU")]

    def listed(self):
        done = self.run_program("devices", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["devices"]

    def trial(self, done, devices, convolution, same_bits):
        """The weights in the row of a report."""
        row = rf"(?m)^{re.escape(devices)} +{convolution} +[\d+]+ +[\d.]+ +{same_bits} +([0-9a-f]{{32}})(?: |$)"
        self.assertRegex(done.stdout, row)
        return re.search(row, done.stdout)[1]

    def test_unknown_kinds_get_the_known_ones(self):
        self.refused("fpga:0", 2, "there are cpu, opencl, cuda, gpu")
        self.refused("oepncl:0", 2, "did you mean 'opencl'?")

    @needs_opencl(1)
    def test_unknown_numbers_get_the_known_ones(self):
        self.refused("opencl:1000", 4, "there is no device opencl:1000", "opencl:0")

    def test_more_gpus_than_there_are(self):
        self.refused("1000xgpu", 4, "--devices", "GPU", "1000xcpu runs on the CPU")
        if not self.gpus():
            self.refused("gpu", 4, "there is no GPU", "1xcpu runs on the CPU")

    def test_auto_says_what_it_is(self):
        done = self.run_program("train", "mlp", "--data", self.data, "--epochs", 1, "--devices", "auto", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        chosen = self.gpus() or ["cpu:0"]
        self.assertTrue(self.messages(done.stderr)[0].startswith("auto: " + ", ".join(chosen)), done.stderr)
        self.assertEqual(json.loads(done.stdout)["devices"], chosen)

    def test_a_probe_is_usual_or_full(self):
        done = self.run_program("train", "--data", self.data, "--probe", "ful")
        self.assert_refused_before_start(done, 2, "--probe", "did you mean 'full'?")

    def test_the_devices_are_listed(self):
        cpu = self.listed()[0]
        self.assertEqual((cpu["name"], cpu["kind"], cpu["exact"], cpu["refused"]), ("cpu:0", "CPU", True, None))
        self.assertGreater(min(cpu["units"], cpu["memory"], cpu["multiply_adds_per_second"]), 0)
        done = self.run_program("devices")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = done.stdout.splitlines()
        self.assertTrue(rows[0].startswith("device ") and rows[1].startswith("cpu:0 "), done.stdout)
        self.assertTrue(rows[1].endswith(" exact"), rows[1])

    def test_a_report_without_data_says_so(self):
        done = self.run_program("devices", "--report", "--data", "nowhere")
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in ("Lockstep devices report\n", "\ncpu:0 ", "not tried: ", "nowhere", "issue tracker"):
            self.assertIn(words, done.stdout)

    @needs_opencl(1)
    def test_a_report_compares_all_devices_and_both_convolutions(self):
        done = self.run_program("devices", "--report", "--data", self.data)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertIn("\nLeNet, 20 steps with minibatches of 256 on other pictures than Fashion-MNIST; ", done.stdout)
        names = [device["name"] for device in self.listed() if device["exact"]]
        for convolution in ("fast", "direct"):
            weights = {self.trial(done, devices, convolution, "yes") for devices in (*names, "+".join(names[:2]))}
            self.assertEqual(len(weights), 1, done.stdout)

    def test_a_report_holds_the_cpu_against_the_golden_weights(self):
        done = self.run_program("devices", "--report", "--data", REAL_DATA, env=NO_GPU)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        golden = [self.trial(done, "cpu:0", convolution, "yes") for convolution in ("fast", "direct")]
        self.assertIn("on Fashion-MNIST; the weights should be\n{} (fast) and {} (direct):\n".format(*golden),
                      done.stdout)

    def test_a_report_with_other_bits_says_whose(self):
        done = self.run_program("devices", "--report", "--data", REAL_DATA, "--drill", "flip@20:cpu:0", env=NO_GPU)
        self.assertEqual(done.returncode, 6, done.stderr + done.stdout)
        self.assertEqual(done.stderr.splitlines()[-1],
                         "lockstep: bits differ from those that every device should have: cpu:0 (fast), cpu:0 (direct)")
        for convolution in ("fast", "direct"):
            self.trial(done, "cpu:0", convolution, "no")

    @needs_opencl(1)
    def test_a_report_tells_which_device_has_other_bits_on_any_data(self):
        done = self.run_program("devices", "--report", "--data", self.data, "--drill", "flip@20:opencl:0")
        self.assertEqual(done.returncode, 6, done.stderr + done.stdout)
        self.assertIn("opencl:0 (fast), opencl:0 (direct)", done.stderr.splitlines()[-1])
        self.trial(done, "cpu:0", "fast", "yes")
        self.trial(done, "opencl:0", "fast", "no")
        names = [device["name"] for device in self.listed() if device["exact"]]
        before = names[names.index("opencl:0") - 1]
        self.trial(done, before + "+opencl:0", "fast", "no")  # of the two only the second has other weights

    def test_a_report_on_a_device_that_fails_goes_on(self):
        done = self.run_program("devices", "--report", "--data", self.data, "--drill", "fail@2:cpu:0", env=NO_GPU)
        self.assertEqual(done.returncode, 4, done.stderr + done.stdout)
        self.assertEqual(done.stderr.splitlines()[-1],
                         "lockstep: could not train, as the report says: cpu:0 (fast), cpu:0 (direct)")
        self.assertRegex(done.stdout, r"(?m)^cpu:0 +direct +- +- +- +cpu:0: step 2, .*drill")

    def test_what_is_for_a_report_needs_one(self):
        for option, value in (("--data", self.data), ("--drill", "flip@3:cpu:0")):
            done = self.run_program("devices", option, value)
            self.assert_refused_before_start(done, 2, f"{option} requires --report", "see lockstep devices --help")

    def test_a_drill_of_a_report_needs_its_device_and_step(self):
        for drill, word in (("flip@3:cpu:7", "cpu:7"), ("flip@21:cpu:0", "step 21 never comes")):
            done = self.run_program("devices", "--report", "--data", self.data, "--drill", drill, env=NO_GPU)
            self.assert_refused_before_start(done, 2, "--drill", word)

    @needs_opencl(2)
    def test_a_device_that_can_be_divided_is_listed_with_its_names(self):
        last = [device for device in self.listed() if device["name"].startswith("opencl")][-1]
        if last["kind"] != "OpenCL CPU":
            self.skipTest(f"{last['name']} does not compute on the host's cores")
        refusal = self.run_program("train", "mlp", "--data", self.data, "--devices", "opencl:1000").stderr
        line = f"{last['name']} computes on the host's cores and can be divided: {last['name']} "
        self.assertRegex(self.run_program("devices").stdout, rf"(?m)^{line}(and|to) {refusal.split()[-1]}$")

    def libraries_opened(self, *arguments):
        """Those of GPUs; what hwloc loads for itself does not count."""
        done = self.run_program(*arguments, env={"LD_DEBUG": "files"})
        self.assertEqual(done.returncode, 0)
        return {name for name in ("libOpenCL", "libcuda") for line in done.stderr.splitlines()
                if name in line and "dynamically loaded by " + BINARY in line}

    def test_cpu_runs_open_no_library_of_a_gpu(self):
        self.assertEqual(self.libraries_opened("devices"), {"libOpenCL", "libcuda"})
        for devices in ((), ("--devices", "2xcpu")):
            self.assertEqual(self.libraries_opened("train", "mlp", "--data", self.data, "--epochs", 1, *devices), set())

    @needs_opencl(2)
    def test_every_mixture_has_the_bits_of_the_cpu(self):
        for model, *arguments in (("lenet", "--convolution", "fast"), ("lenet", "--convolution", "direct"),
                                  ("mlp", "--momentum", "0.9")):
            # 512 pictures: the third minibatch has 96
            done = self.run_program("verify", model, *arguments, "--data", self.data, "--batch", 208, "--steps", 4,
                                    "--devices", "1xcpu,1xopencl,2xopencl,cpu:0+opencl:0", "--json")
            self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
            self.assertEqual(len(json.loads(done.stdout)["settings"]), 6)

    @needs_opencl(1)
    def test_a_run_changes_its_devices_in_the_middle_of_an_epoch(self):
        job = ("mlp", "--epochs", 2, "--batch", 128, "--momentum", "0.5")
        whole = self.train(*job, "--out", "whole")
        done = self.run_program("train", *job, "--data", self.data, "--out", "run", "--checkpoint-every", 1,
                                "--drill", "fail@3:cpu:0")
        self.assert_refused(done, 4, "cpu:0: step 3", "drill")
        done = self.run_program("train", "--resume", "run", "--checkpoint-every", 1, "--devices", "opencl:0",
                                "--drill", "fail@4:opencl:0")
        self.assert_refused(done, 4, "opencl:0: step 6", "drill")
        self.assertIn('devices = ["opencl:0"]\n', (self.folder / "run/config.toml").read_text())
        self.assertEqual(self.train("--resume", "run", "--devices", "cpu")["weights"], whole["weights"])
        self.assertEqual((self.folder / "run/hashes.csv").read_bytes(), (self.folder / "whole/hashes.csv").read_bytes())
        self.assertEqual(self.run_program("diff", "run", "whole", "--devices", "opencl:0").returncode, 0)

    @needs_opencl(1)
    def test_kinds_that_differ_get_packs_by_their_speed(self):
        expected = self.train("mlp", "--epochs", 1)["weights"]
        mixture = ("--epochs", 1, "--devices", "cpu:0+opencl:0")
        done = self.run_program("train", "mlp", "--data", self.data, "--json", *mixture, "--out", "run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^shares: cpu:0 \d+ packs?, opencl:0 \d+ packs? \(calibrated\)$")
        self.assertRegex(done.stderr, r"(?m)^opencl:0 +\d+ +\d+ % ")
        result = json.loads(done.stdout)
        self.assertEqual((result["weights"], sum(use["packs"] for use in result["use"])), (expected, 32))
        done = self.run_program("train", "mlp", "--data", self.data, "--json", *mixture, "--shares", "3,1")
        self.assertIn("shares: cpu:0 12 packs, opencl:0 4 packs\n", done.stderr)
        self.assertEqual(json.loads(done.stdout)["weights"], expected)
        plain, mixed = (self.run_program("eval", "run", "--json", *arguments) for arguments in
                        ((), ("--devices", "cpu:0+opencl:0")))
        self.assertEqual((mixed.returncode, mixed.stdout), (0, plain.stdout))

    @needs_opencl(1)
    def test_numbers_that_end_are_found_where_the_cpu_finds_them(self):
        expected = None
        for devices in ("cpu:0", "opencl:0", "cpu:0+opencl:0", "opencl:0+cpu:0"):
            done = self.run_program("train", "--data", self.data, "--lr", "1e30", "--epochs", 3, "--devices", devices)
            said = self.messages(done.stderr)[-1]
            expected = expected or said
            self.assertEqual((done.returncode, said), (5, expected))
        self.assertRegex(expected, "^lockstep: step 2: the output of conv.* is not finite, first at example ")

    @needs_opencl(1)
    def test_a_trace_shows_what_a_gpu_did(self):
        self.train("mlp", "--epochs", 1, "--devices", "cpu:0+opencl:0", "--trace", "trace.json")
        events = json.loads((self.folder / "trace.json").read_text())["traceEvents"]
        process = next(e["pid"] for e in events if e["name"] == "process_name" and e["args"]["name"] == "opencl:0")
        spans = [e for e in events if e["ph"] == "X" and e["pid"] == process]
        names = {span["name"] for span in spans}
        for words in ("load: copy to the device", "forward of linear1", "weight gradient of linear1", "exchange: join",
                      "update: sgd"):
            self.assertTrue(any(words in name for name in names), f"{words}: {names}")
        self.assertTrue(all(": " in name for name in names - {"wait for other devices"}), names)
        for lane in {e["tid"] for e in spans}:
            ends = 0
            for span in sorted((e for e in spans if e["tid"] == lane), key=lambda e: e["ts"]):
                self.assertGreaterEqual(span["ts"], ends - 1, span)  # a queue does one thing after the other
                ends = span["ts"] + span["dur"]

    @needs_opencl(1)
    def test_drills_work_on_other_kinds(self):
        done = self.run_program("verify", "mlp", "--data", self.data, "--steps", 5, "--devices", "1xcpu,cpu:0+opencl:0",
                                "--exchange", "sharded", "--drill", "flip@4:opencl:0")
        self.assertEqual(done.returncode, 6)
        self.assertIn("cpu:0+opencl:0, sharded: step 4, opencl:0: layer linear2", done.stdout)
        done = self.run_program("train", "mlp", "--data", self.data, "--devices", "opencl:0", "--timeout", "2",
                                "--drill", "hang@3:opencl:0")
        self.assert_refused(done, 4, "no progress for 2 s: opencl:0 (step 3")


if __name__ == "__main__":
    unittest.main()
