"""Runs the program in a folder of its own, on small data made for it, and says what it may leave behind."""
import json
import os
import pathlib
import resource
import subprocess
import tempfile
import unittest

from pictures import write_pictures

BINARY = os.environ.get("LOCKSTEP_BINARY", "")
CACHE = str(pathlib.Path(BINARY).resolve().parent / "tests" / "kernels")  # beside the program, not the user's own
TIMEOUT = 120
REAL_DATA = pathlib.Path("/usr/share/datasets/fashion-mnist")
RUN_FILES = {"config.toml", "results.csv", "metrics.jsonl", "hashes.csv", "curve.svg", "weights.safetensors",
             "checkpoints"}


def command_line(arguments):
    return [BINARY, *(a if isinstance(a, bytes) else str(a) for a in arguments)]


class ProgramTest(unittest.TestCase):
    """self.folder is empty but for data/: 512 training and 128 test pictures."""

    def setUp(self):
        if not BINARY:
            self.fail("set LOCKSTEP_BINARY to the program's path")
        scratch = tempfile.TemporaryDirectory(prefix="lockstep-cli-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.data = self.folder / "data"
        write_pictures(self.data, train=512, test=128)

    def environment(self, **variables):
        kept = {k: v for k, v in os.environ.items() if k not in ("LOCKSTEP_TARGET", "NO_COLOR")}
        return {"LOCKSTEP_CACHE": CACHE, **kept, **variables}

    def run_program(self, *arguments, env=None, **options):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        return subprocess.run(command_line(arguments), cwd=self.folder, text=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=TIMEOUT, env=self.environment(**(env or {})), **options)

    def start_program(self, *arguments, stdin=subprocess.DEVNULL):
        process = subprocess.Popen(command_line(arguments), cwd=self.folder, text=True,
                                   stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=self.environment())
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def train(self, *arguments, **options):
        """A run that must succeed; what --json says of it."""
        done = self.run_program("train", "--data", self.data, "--json", *arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def messages(self, stderr):
        """The lines of stderr that are not progress."""
        return [line for line in stderr.splitlines() if not line.startswith(("training ", "epoch ", "run "))]

    def assert_refused(self, done, code, *words):
        """Exit code, one line that has all the words, nothing on stdout, nothing half-written."""
        lines = self.messages(done.stderr)
        self.assertEqual((done.returncode, len(lines)), (code, 1), done.stderr)
        self.assertTrue(lines[0].startswith("lockstep: "), lines[0])
        for word in words:
            self.assertIn(str(word), lines[0])
        self.assertFalse(done.stdout)
        self.assert_nothing_half_written()

    def assert_refused_before_start(self, done, code, *words):
        self.assert_refused(done, code, *words)
        self.assertFalse((self.folder / "runs").exists())

    def limited(self, memory):
        """Options for run_program(): it gets that number of bytes of address space."""
        return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory))}

    def assert_nothing_half_written(self):
        self.assertEqual(list(self.folder.rglob("*.tmp-*")), [])
        for rows in self.folder.rglob("results.csv"):
            text = rows.read_text()
            self.assertTrue(not text or text.endswith("\n"))
            self.assertLessEqual({line.count(",") for line in text.splitlines()}, {7})
        for objects in self.folder.rglob("metrics.jsonl"):
            for line in objects.read_text().splitlines():
                json.loads(line)
