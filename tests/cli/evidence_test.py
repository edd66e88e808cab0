#!/usr/bin/env python3
"""devices --evidence: what is in the archive, what becomes of a device with other bits, of a full clock, of Ctrl-C."""
import getpass
import io
import json
import os
import pathlib
import re
import signal
import socket
import tarfile
import time
import unittest

from program import BINARY, ProgramTest

NO_GPU = {"OCL_ICD_VENDORS": "/nonexistent", "LOCKSTEP_CUDA_LIBRARY": "/nonexistent"}
FOLDER = "lockstep-evidence/"


class EvidenceTest(ProgramTest):
    def archive(self, name="gpu.tar"):
        """name -> text of every file of the archive, in order; Python's tarfile is another reader than any of ours."""
        files = {}
        with tarfile.open(self.folder / name, "r:") as archive:
            for member in archive:
                self.assertTrue(member.isfile() and member.name.startswith(FOLDER), member)
                self.assertEqual((member.uid, member.gid, member.uname, member.gname, member.mtime), (0, 0, "", "", 0))
                files[member.name[len(FOLDER):]] = archive.extractfile(member).read().decode("utf-8")
        return files

    def parts(self, name="gpu.tar"):
        """What the archive's JSON files hold, by the part's name, in the order of the parts."""
        files = self.archive(name)
        self.assertEqual(next(iter(files)), "README.txt")
        parts = {file.removesuffix(".json"): json.loads(text) for file, text in files.items() if file != "README.txt"}
        for part, found in parts.items():
            self.assertEqual(found["part"], part)
            self.assertEqual(found["why"] is None, found["outcome"] == "done", found)
            self.assertRegex(files["README.txt"], rf"(?m)^{re.escape(part)}\.json +{found['outcome']} ")
        return parts

    def collect(self, *arguments, **options):
        return self.run_program("devices", "--evidence", "gpu.tar", *arguments, **options)

    def outcomes(self, parts, prefix):
        return {name: part["outcome"] for name, part in parts.items() if name.startswith(prefix)}


class CollectTest(EvidenceTest):
    def test_without_a_gpu_the_rest_is_collected(self):
        done = self.collect("--seconds", 60, env=NO_GPU)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("No GPU was found", done.stdout)
        self.assertIn("2 of 2 comparisons with the CPU came out equal, bit for bit.\n", done.stdout)
        for words in ("gpu.tar has all of it", "issue tracker"):
            self.assertIn(words, done.stdout)
        self.assertRegex(done.stderr, r"(?m)^\[ +\d+ of 60 s\] 2xcpu against cpu:0: 5 steps of lenet, fast\n    equal$")
        parts = self.parts()
        self.assertEqual(list(parts), ["machine", "devices", "verify-lenet-fast-2xcpu", "verify-resnet8-fast-2xcpu",
                                       "kernels-lenet-cpu", "kernels-resnet8-cpu"])
        machine, cpu = parts["machine"]["rows"]
        for key in ("lockstep", "compiler", "program", "system", "processor", "cores", "memory", "golden_fast"):
            self.assertTrue(machine[key], machine)
        self.assertEqual((cpu["name"], cpu["exact"]), ("cpu:0", True))
        self.assertTrue(all("missing" in row for row in parts["devices"]["rows"]), parts["devices"])
        for model in ("lenet", "resnet8"):
            one, two = parts[f"verify-{model}-fast-2xcpu"]["rows"]
            self.assertEqual((one["devices"], two["devices"], one["steps"]), (["cpu:0"], ["cpu:0", "cpu:1"], 5))
            self.assertEqual((one["hashes"], len(one["hashes"])), (two["hashes"], 5))
            kernels = parts[f"kernels-{model}-cpu"]["rows"][0]
            self.assertEqual(kernels["model"], model)
            self.assertGreater(min(kernels["step"]["gflops"], len(kernels["kernels"])), 0)
        self.assert_nothing_half_written()

    def test_nobody_is_named(self):
        env = {**NO_GPU, "HOME": str(self.folder / "homes/annabella"), "USER": "annabella",
               "LOCKSTEP_CUDA_LIBRARY": str(self.folder / "annabella/libcuda.so")}
        done = self.collect("--seconds", 4, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        for file, text in self.archive().items():
            for secret in ("annabella", str(self.folder), str(pathlib.Path(BINARY).parent)):
                self.assertNotIn(secret, text, file)
            for name in {getpass.getuser(), socket.gethostname()}:
                self.assertNotRegex(text, rf"(?<!\w){re.escape(name)}(?!\w)", file)
        missing = [row["missing"] for row in self.parts()["devices"]["rows"] if "CUDA" in row["missing"]]
        self.assertIn("[path]", missing[0])

    def test_time_that_is_over_cuts_and_leaves_out(self):
        begin = time.monotonic()
        done = self.collect("--seconds", 6, env=NO_GPU)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(time.monotonic() - begin, 30, "far more than it was given")
        parts = self.parts()
        self.assertIn("kernels-resnet8-cpu", parts, "a part for which no time is left is named, too")
        short = {part["outcome"]: part for part in parts.values() if part["outcome"] in ("cut", "left out")}
        self.assertTrue(short, parts)
        for outcome, part in short.items():
            self.assertIn({"cut": "Cut, to keep within 6 s: ", "left out": "Left out: "}[outcome], done.stdout)
            self.assertIn(part["title"], done.stdout)
            self.assertIn(f"    {outcome}: {part['why']}\n", done.stderr)
            self.assertIn(part["why"], self.archive()["README.txt"])

    def test_a_flipped_bit_is_evidence(self):
        done = self.collect("--seconds", 60, "--drill", "flip@3:cpu:1", env=NO_GPU)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("0 of 2 comparisons with the CPU came out equal, bit for bit; 2 did NOT.\n", done.stdout)
        self.assertIn("Other bits than the CPU's: 2xcpu against cpu:0: 5 steps of lenet, fast; ", done.stdout)
        self.assertIn("    DIFFERS: 2xcpu, sharded: step 3, cpu:1: ", done.stderr)
        parts = self.parts()
        self.assertEqual(set(self.outcomes(parts, "verify").values()), {"differs"})
        part = parts["verify-lenet-fast-2xcpu"]
        self.assertEqual([row["equal"] for row in part["rows"]], [True, False])
        self.assertIn("step 3, cpu:1: layer ", part["why"])
        self.assertEqual(parts["kernels-lenet-cpu"]["outcome"], "done", "the others go on")

    def test_a_device_that_fails_is_evidence(self):
        done = self.collect("--seconds", 60, "--drill", "fail@2:cpu:1", env=NO_GPU)
        self.assertEqual(done.returncode, 4, done.stderr)
        parts = self.parts()
        self.assertEqual(set(self.outcomes(parts, "verify").values()), {"failed"})
        part = parts["verify-lenet-fast-2xcpu"]
        self.assertRegex(part["why"], "cpu:1: step 2, .*drill")
        self.assertEqual(len(part["rows"]), 1, "what was found before is kept")
        self.assertIn("Failed: 2xcpu against cpu:0", done.stdout)
        self.assertEqual(parts["kernels-resnet8-cpu"]["outcome"], "done")

    def test_an_archive_of_evidence_is_replaced_by_the_next(self):
        for seconds in (3, 4):
            self.assertEqual(self.collect("--seconds", seconds, env=NO_GPU).returncode, 0)
            self.assertIn(f"{seconds} s", self.archive()["README.txt"])


class OpenclTest(EvidenceTest):
    def setUp(self):
        super().setUp()
        done = self.run_program("devices", "--json")
        self.names = [d["name"] for d in json.loads(done.stdout)["devices"] if d["exact"] and d["name"] != "cpu:0"]
        if "opencl:0" not in self.names:
            self.skipTest("there is no OpenCL device")

    def test_every_device_is_probed_compared_and_measured(self):
        done = self.collect("--seconds", 110)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        parts = self.parts()
        self.assertEqual([part for part in parts.values() if part["outcome"] == "failed"], [])
        probe = parts["probe-opencl-0"]
        self.assertEqual(probe["outcome"], "done", probe)
        self.assertEqual((probe["rows"][0]["name"], probe["rows"][0]["exact"]), ("opencl:0", True))
        for job in ("lenet-fast", "resnet8-fast", "lenet-direct"):
            one, other = parts[f"verify-{job}-opencl-0"]["rows"]
            self.assertEqual((one["devices"], other["devices"]), (["cpu:0"], ["opencl:0"]))
            self.assertEqual(one["hashes"], other["hashes"])
        self.assertEqual(parts["verify-lenet-fast-cpu-0+opencl-0"]["outcome"], "done")
        step = parts["bench-lenet-opencl-0"]["rows"][0]
        self.assertEqual([s.get("names") for s in step["settings"]], [None, ["opencl:0"]])
        self.assertGreater(step["settings"][1]["ratio"], 0)
        work = [row["work"] for row in parts["kernels-lenet-opencl-0"]["rows"]]
        for words in ("load: ", "forward of ", "weight gradient of ", "update: "):
            self.assertTrue(any(words in name for name in work), f"{words}: {work}")
        self.assertTrue(all(row["quartiles"][0] <= row["seconds"] <= row["quartiles"][1]
                            for row in parts["kernels-lenet-opencl-0"]["rows"]))

    def test_other_bits_on_a_device_are_told_of_that_device(self):
        done = self.collect("--seconds", 60, "--drill", "flip@2:opencl:0")
        self.assertEqual(done.returncode, 6, done.stderr + done.stdout)
        differ = {name for name, part in self.parts().items() if part["outcome"] == "differs"}
        self.assertIn("verify-lenet-fast-opencl-0", differ)
        self.assertIn("opencl:0, sharded: step 2, opencl:0: layer ", self.parts()["verify-lenet-fast-opencl-0"]["why"])


class RefusedTest(EvidenceTest):
    def refused(self, file, code, *words):
        done = self.run_program("devices", "--evidence", file, env=NO_GPU)
        self.assert_refused(done, code, "--evidence" if code == 2 else file, *words)

    def test_what_is_not_ours_stays(self):
        begun = FOLDER + "README.txt"  # as in an archive that somebody else made
        for content in (b"", b"my thesis", begun.encode()):
            (self.folder / "mine.tar").write_bytes(content)
            self.refused("mine.tar", 2, "mine.tar", "another file")
            self.assertEqual((self.folder / "mine.tar").read_bytes(), content)
        with tarfile.open(self.folder / "theirs.tar", "w") as archive:
            archive.addfile(tarfile.TarInfo("README.txt"), io.BytesIO())
        self.refused("theirs.tar", 2, "another file")
        (self.folder / "folder.tar").mkdir()
        self.refused("folder.tar", 2, "a directory")
        (self.folder / "link.tar").symlink_to("nowhere")
        self.refused("link.tar", 2, "a symbolic link")
        self.assertEqual(os.readlink(self.folder / "link.tar"), "nowhere")

    def test_it_is_a_tar_archive_in_a_folder_that_is_there(self):
        for name in ("evidence", "gpu.tar.gz", "gpu.zip", ".tar"):
            self.refused(name, 2, "a tar archive", name)
        self.refused("nowhere/gpu.tar", 1, "No such file or directory")

    def test_options_that_do_not_go_with_it(self):
        for arguments in (("--json",), ("--report",), ("--probe", "full")):
            done = self.run_program("devices", "--evidence", "gpu.tar", *arguments)
            self.assert_refused(done, 2, "--evidence", arguments[0])
        for seconds in ("0", "-1", "x", "nan"):
            self.assert_refused(self.collect("--seconds", seconds), 2, "--seconds")
        self.assert_refused(self.run_program("devices", "--seconds", 5), 2, "--seconds requires --evidence")
        self.assertEqual([p.name for p in self.folder.iterdir()], ["data"])

    def test_a_drill_that_never_happens_is_refused(self):
        for drill, word in (("flip@3:opencl:7", "opencl:7"), ("flip@6:cpu:1", "step 6 never comes")):
            done = self.collect("--drill", drill, env=NO_GPU)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(word, done.stderr.splitlines()[-1])
            self.assertEqual([p.name for p in self.folder.iterdir()], ["data"])

    def test_signals_leave_nothing(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process = self.start_program("devices", "--evidence", "gpu.tar")
            for line in process.stderr:
                if " steps of " in line:
                    break
            process.send_signal(number)
            stdout, stderr = process.communicate()
            self.assertEqual((process.returncode, stdout), (code, ""))
            self.assertEqual(stderr.splitlines()[-1], "interrupted; no evidence is written")
            self.assertEqual([p.name for p in self.folder.iterdir()], ["data"])


if __name__ == "__main__":
    unittest.main()
