#!/usr/bin/env python3
"""CUDA devices as the command line meets them: listed, chosen, refused, lost in the middle of a run, missing.

The devices are a stand-in for CUDA's driver, which interprets what NVRTC makes of the kernels. LOCKSTEP_CUDA_STANDIN is
its path, LOCKSTEP_NVRTC that of NVRTC; without the second it is looked for where toolkits put it.
"""
import functools
import json
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile
import unittest

from program import BINARY, TIMEOUT, ProgramTest

STANDIN = os.environ.get("LOCKSTEP_CUDA_STANDIN", "")
NVRTC = os.environ.get("LOCKSTEP_NVRTC", "")
NOWHERE = "/nonexistent"
BITS = r"gave 0x[0-9a-f]{8}, expected 0x[0-9a-f]{8};"
SCRATCH = tempfile.TemporaryDirectory(prefix="lockstep-cli-gpu-")
unittest.addModuleCleanup(SCRATCH.cleanup)


def standin(configuration="", cache="shared"):
    """The environment in which CUDA's driver is the stand-in, with two devices, and OpenCL has none."""
    return {"LOCKSTEP_CUDA_LIBRARY": STANDIN, "LOCKSTEP_NVRTC_LIBRARY": NVRTC,
            "LOCKSTEP_CACHE": str(pathlib.Path(SCRATCH.name) / cache),
            "CUDA_STANDIN": ",".join(filter(None, ("devices=2", configuration))), "OCL_ICD_VENDORS": NOWHERE}


@functools.cache
def without_compiler():
    """Why stand-ins cannot compute here, or nothing. Compiles the kernels into the cache that the tests share."""
    done = subprocess.run([BINARY, "devices", "--json"], text=True, check=True, stdout=subprocess.PIPE, timeout=TIMEOUT,
                          env={**os.environ, **standin()})
    refusals = [d["refused"] or "" for d in json.loads(done.stdout)["devices"] if d["name"].startswith("cuda")]
    return next((why for why in refusals if "compiler is missing" in why), "")


class GpuTest(ProgramTest):
    """Every command sees two stand-ins, cuda:0 and cuda:1, unless it is told otherwise."""

    def setUp(self):
        super().setUp()
        if not STANDIN:
            self.skipTest("LOCKSTEP_CUDA_STANDIN is not set: it is the path of libcuda_standin.so")

    def environment(self, **variables):
        return super().environment(**{**standin(), **variables})

    def listed(self, env=None):
        done = self.run_program("devices", "--json", env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        return {device["name"]: device for device in answer["devices"]}, answer["missing"]

    def train_on(self, devices, *arguments, env=None):
        return self.run_program("train", "mlp", "--data", self.data, "--epochs", 1, "--batch", 128, "--devices",
                                devices, *arguments, env=env)


class StandinTest(GpuTest):
    """The stand-ins compute, which needs a compiler."""

    def evidence(self, seconds, env=None):
        """devices --evidence, and what its archive holds, by part."""
        done = self.run_program("devices", "--evidence", "gpu.tar", "--seconds", seconds, env=env)
        with tarfile.open(self.folder / "gpu.tar") as archive:
            parts = [json.load(archive.extractfile(m)) for m in archive if m.name.endswith(".json")]
        return done, {part["part"]: part for part in parts}

    def setUp(self):
        super().setUp()
        if without_compiler():
            self.skipTest(without_compiler())


class CudaTest(StandinTest):
    def test_they_are_listed_as_exact(self):
        devices, _ = self.listed()
        self.assertEqual([name for name in devices if name.startswith("cuda")], ["cuda:0", "cuda:1"])
        for name in ("cuda:0", "cuda:1"):
            device = devices[name]
            self.assertEqual((device["kind"], device["exact"], device["refused"]), ("CUDA GPU", True, None))
            self.assertEqual(device["memory"], 4 << 30)
            self.assertGreater(min(device["units"], device["multiply_adds_per_second"]), 0)
        done = self.run_program("devices")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("cuda:0", "cuda:1"):
            self.assertRegex(done.stdout, rf"(?m)^{name} +CUDA GPU .* exact$")

    def test_auto_and_gpu_take_them(self):
        expected = self.train("mlp", "--epochs", 1, "--batch", 128)["weights"]
        for devices in ("auto", "2xgpu"):
            done = self.train_on(devices, "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual("auto: cuda:0, cuda:1" in done.stderr.splitlines(), devices == "auto", done.stderr)
            result = json.loads(done.stdout)
            self.assertEqual((result["devices"], result["weights"]), (["cuda:0", "cuda:1"], expected))

    def test_other_models_get_packs_by_their_speed(self):
        expected = self.train("mlp", "--epochs", 1, "--batch", 128)["weights"]
        for configuration in ("", "unlike=1"):
            done = self.train_on("2xcuda", "--json", env=standin(configuration))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual("(calibrated)" in done.stderr, configuration == "unlike=1", done.stderr)
            self.assertEqual(json.loads(done.stdout)["weights"], expected)

    def test_who_has_nothing_to_do_is_told(self):
        done = self.run_program("train", "mlp", "--data", self.data, "--epochs", 1, "--batch", 16, "--devices", "2xcuda")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("cuda:1 has nothing to compute: a minibatch of 16 is 1 pack for 2 devices", done.stderr)

    def test_every_mixture_has_the_bits_of_the_cpu(self):
        done = self.run_program("verify", "mlp", "--data", self.data, "--steps", 2, "--batch", 32, "--devices",
                                "1xcpu,1xcuda,2xcuda,cpu:0+cuda:1", "--json")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertEqual(len(json.loads(done.stdout)["settings"]), 6)

    def test_they_give_evidence(self):
        done, parts = self.evidence(30)
        self.assertEqual(done.returncode, 0, done.stderr)  # a stand-in is slow: parts are cut, none fails
        self.assertNotIn("No GPU was found", done.stdout)
        listed = {row["name"]: row for row in parts["devices"]["rows"] if "name" in row}
        self.assertEqual([(name, row["kind"], row["gpu"]) for name, row in listed.items()],
                         [("cuda:0", "CUDA GPU", True), ("cuda:1", "CUDA GPU", True)])
        for name in ("probe-cuda-0", "probe-cuda-1", "verify-lenet-fast-cuda-0", "verify-lenet-fast-cuda-1"):
            self.assertIn(parts[name]["outcome"], ("done", "cut", "left out"), parts[name])
        self.assertEqual(parts["probe-cuda-0"]["outcome"] == "done", len(parts["probe-cuda-0"]["rows"]) == 1)

    def test_an_evaluation_is_that_of_the_cpu(self):
        self.train("mlp", "--epochs", 1, "--out", "run")
        plain, cuda = (self.run_program("eval", "run", "--json", *devices) for devices in ((), ("--devices", "2xcuda")))
        self.assertEqual((cuda.returncode, cuda.stdout), (0, plain.stdout), cuda.stderr)

    def test_numbers_that_end_are_found_where_the_cpu_finds_them(self):
        said = {devices: self.run_program("train", "mlp", "--data", self.data, "--lr", "1e30", "--batch", 64, "--devices",
                                          devices) for devices in ("cpu:0", "cuda:0", "2xcuda")}
        for done in said.values():
            self.assert_refused(done, 5, "not finite", "nothing of this step was kept")
            self.assertEqual(self.messages(done.stderr)[-1], self.messages(said["cpu:0"].stderr)[-1])

    def test_the_second_start_needs_no_compiler(self):
        done = self.train_on("cuda:0", env={"LOCKSTEP_NVRTC_LIBRARY": NOWHERE})
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_unknown_numbers_get_the_known_ones(self):
        self.assert_refused_before_start(self.train_on("cuda:7"), 4, "there is no device cuda:7", "cuda:0 to cuda:1")
        self.assert_refused_before_start(self.train_on("3xgpu"), 4, "only 2 GPUs", "cuda:0, cuda:1")


class InexactTest(StandinTest):
    """Proofs are remembered for a device and its driver, which look alike here: so each has a cache of its own."""

    def test_what_a_full_probe_finds_is_not_forgotten(self):
        exact, wrong = standin(cache="full"), standin("ftz=1", cache="full")
        self.assertTrue(self.listed(exact)[0]["cuda:0"]["exact"])
        self.assertTrue(self.listed(wrong)[0]["cuda:0"]["exact"], "what it has shown before is believed")
        refused = self.run_program("devices", "--json", "--probe", "full", env=wrong)
        self.assertFalse(json.loads(refused.stdout)["devices"][1]["exact"])
        done = self.train_on("cuda:0", env=wrong)
        self.assert_refused_before_start(done, 4, "rounds differently", "(as it did before; --probe full tries again)")

    def inexact(self, defect):
        env = standin(f"{defect}=1", cache=defect)
        cache = pathlib.Path(env["LOCKSTEP_CACHE"])
        cache.mkdir(exist_ok=True)
        for kernels in pathlib.Path(standin()["LOCKSTEP_CACHE"]).glob("kernels-*"):
            shutil.copy(kernels, cache)
        return env

    def expect_refusal(self, defect, operation):
        env = self.inexact(defect)
        done = self.train_on("cuda:1", env=env)
        self.assert_refused_before_start(done, 4, "lockstep: cuda:1 (CUDA stand-in, ", operation, "train without it")
        self.assertRegex(done.stderr, BITS)
        devices, _ = self.listed(env)
        for name in ("cuda:0", "cuda:1"):
            self.assertFalse(devices[name]["exact"])
            self.assertIn(operation, devices[name]["refused"])
        self.assertTrue(devices["cpu:0"]["exact"])
        done = self.run_program("devices", env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, rf"(?m)^cuda:1 +CUDA GPU .* refused: .*{BITS}")

    def test_auto_does_without_it(self):
        done = self.train_on("auto", "--json", env=standin("ftz=1", cache="auto"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, rf"(?m)^auto: without cuda:1 \(.* {BITS}")
        self.assertEqual(json.loads(done.stdout)["devices"], ["cpu:0"])

    def test_other_rounding_is_evidence(self):
        done, parts = self.evidence(20, self.inexact("ftz"))
        self.assertEqual(done.returncode, 4, done.stderr)
        for number in (0, 1):
            probe = parts[f"probe-cuda-{number}"]
            self.assertEqual((probe["outcome"], probe["rows"][0]["exact"]), ("failed", False), probe)
            self.assertRegex(probe["why"], rf"rounds differently.* {BITS}")
            verify = parts[f"verify-resnet8-fast-cuda-{number}"]
            self.assertEqual((verify["outcome"], verify["why"]),
                             ("left out", f"cuda:{number} has not proven its arithmetic"))
            self.assertIn(f"cuda:{number}: its arithmetic, in full", done.stdout)
        self.assertEqual(parts["verify-lenet-fast-2xcpu"]["outcome"], "done", "the CPU goes on")

    def test_a_device_that_flushes_denormals(self):
        self.expect_refusal("ftz", "a + b with a = 0x0p+0, b = 0x1p-149 gave 0x00000000, expected 0x00000001")

    def test_a_device_that_contracts(self):
        self.expect_refusal("contract", "b * c + a in two roundings with a = ")


class LostTest(StandinTest):
    def test_a_lost_device_leaves_the_last_checkpoint(self):
        job = ("mlp", "--epochs", 2, "--batch", 128, "--momentum", "0.5")  # of four steps an epoch
        whole = self.train(*job, "--out", "whole")
        done = self.run_program("train", *job, "--data", self.data, "--devices", "2xcuda", "--checkpoint-every", 1,
                                "--out", "run", env=standin("lose=1@100"))
        self.assert_refused(done, 4, "lockstep: cuda:1: step ", "CUDA_ERROR_LAUNCH_FAILED")
        self.assertEqual(done.stderr.count("cuda:1"), 1, done.stderr)
        step = int(done.stderr.partition("cuda:1: step ")[2].partition(",")[0])
        self.assertTrue(1 < step <= 8, done.stderr)
        checkpoints = sorted(file.name for file in (self.folder / "run/checkpoints").iterdir())
        self.assertEqual(checkpoints[-1], f"step-{step - 1:08}.safetensors")
        self.assertEqual(self.train("--resume", "run", "--devices", "cpu:0")["weights"], whole["weights"])
        self.assertEqual((self.folder / "run/hashes.csv").read_bytes(), (self.folder / "whole/hashes.csv").read_bytes())

    def test_verify_names_it_too(self):
        done = self.run_program("verify", "mlp", "--data", self.data, "--steps", 6, "--batch", 32, "--devices",
                                "2xcuda", env=standin("lose=1@60"))
        self.assert_refused(done, 4, "lockstep: cuda:1: step ", "CUDA_ERROR_LAUNCH_FAILED")


class MemoryTest(StandinTest):
    def with_too_little(self):
        return self.train_on("cuda:1", env=standin("memory=3000000"))

    def test_too_little_memory_is_said_with_need_and_have(self):
        self.assert_refused(self.with_too_little(), 4, "lockstep: cuda:1 has ", " of its 3.0 MB of memory free", "needs ",
                            "activations ", "parameters ", "gradients ", "partial sums ", "smaller --batch")

    def test_too_little_memory_leaves_no_run(self):
        self.assert_refused_before_start(self.with_too_little(), 4)


class MissingTest(GpuTest):
    def test_a_driver_that_cannot_be_opened(self):
        env = {"LOCKSTEP_CUDA_LIBRARY": NOWHERE}
        done = self.train_on("cuda:0", env=env)
        self.assert_refused_before_start(done, 4, "there is no device cuda:0", "no CUDA driver found", NOWHERE)
        devices, reasons = self.listed(env)
        self.assertEqual([name for name in devices if name.startswith("cuda")], [])
        reason = next(reason for reason in reasons if "CUDA" in reason)
        self.assertIn(f"no CUDA driver found ({NOWHERE}: ", reason)
        done = self.run_program("devices", env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(reason + "\n", done.stdout)

    def test_a_library_that_is_no_driver(self):
        done = self.train_on("cuda:0", env={"LOCKSTEP_CUDA_LIBRARY": "libdl.so.2"})
        self.assert_refused_before_start(done, 4, "there is no device cuda:0", "libdl.so.2 has no function cu",
                                         "a newer CUDA driver is needed")

    def test_kernels_that_nobody_can_compile(self):
        env = {**standin(cache="never filled"), "LOCKSTEP_NVRTC_LIBRARY": NOWHERE}
        done = self.train_on("cuda:0", env=env)
        self.assert_refused_before_start(done, 4, "cuda:0: CUDA's compiler is missing", NOWHERE,
                                         "pip install nvidia-cuda-nvrtc")
        self.assertIn("pip install nvidia-cuda-nvrtc", self.listed(env)[0]["cuda:1"]["refused"])

    def test_opencl_without_a_driver(self):
        done = self.train_on("opencl:0")
        self.assert_refused_before_start(done, 4, "there is no device opencl:0", "OpenCL", "apt-get install")
        self.assertTrue(any("OpenCL" in reason and "apt-get install" in reason for reason in self.listed()[1]))


if __name__ == "__main__":
    unittest.main()
