#!/usr/bin/env python3
"""./lockstep, the script, in a folder of its own where cmake and ninja are stand-ins: what prints at once, what a user's
build is asked for, how its progress is shown, and that a signal leaves no ninja behind. And what the real build builds.
"""
import argparse
import errno
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

SOURCE = pathlib.Path(__file__).resolve().parent.parent
TIMEOUT = 60
TOOLS = "bash cat date dirname env find flock grep id mkdir mv readlink rm sleep tail touch".split()
HELP = ((), ("help",), ("-h",), ("--help",))
TEST_HELP = (("test", "--help"), ("test", "-h"), ("test", "--thorough", "-R", "Lenet", "--help"), ("help", "test"))
PROGRAM = '#!/bin/sh\necho program "$@"\n'
CMAKE = '#!/bin/sh\necho "$@" >>calls\n'  # configures
NINJA = '#!/bin/sh\necho "$@" >>"$CALLS"\n'
COMPILE = 'echo "[0/2] Re-checking globbed directories..."\nfor step in 1 2 3 4; do echo "[$step/4] Building $step"; done\n'
MAKE_PROGRAM = 'mkdir -p build/release\ncp program build/release/lockstep\n'
# A clock that has gone on by 40 s when it is read for the second time, and stands still then.
CLOCK = '#!/bin/sh\nif [ -e clock ]; then echo 1040; else : >clock; echo 1000; fi\n'
STANDING_CLOCK = '#!/bin/sh\necho 1000\n'


def commands_of(help_text):
    """The section Commands of a help text: names and what they do."""
    section = re.search(r"(?ms)^Commands:\n(.*?)(?:\n\n|\Z)", help_text).group(1)
    joined = re.sub(r"\n {10,}", " ", section)  # the program breaks long lines
    return [tuple(re.split(r"\s{2,}", line.strip(), maxsplit=1)) for line in joined.splitlines()]


class LauncherTest(unittest.TestCase):
    binary = build = None

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="lockstep-launcher-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name).resolve() / "clone"
        self.tools = self.folder.parent / "tools"
        self.folder.mkdir()
        self.tools.mkdir()
        for file in ("lockstep", "packages.txt"):
            shutil.copy(SOURCE / file, self.folder / file)
        for tool in [*TOOLS, "cp", "sh"]:
            (self.tools / tool).symlink_to(shutil.which(tool))
        self.write(self.folder / "program", PROGRAM)

    def write(self, file, text):
        file.unlink(missing_ok=True)  # a tool may be a link to the system's
        file.write_text(text)
        file.chmod(0o755)

    def add_tools(self, ninja, clock=STANDING_CLOCK):
        """Without apt-get nothing is installed; cmake and ninja leave what they were asked for in `calls`."""
        self.write(self.tools / "cmake", CMAKE)
        self.write(self.tools / "ninja", NINJA + ninja)
        self.write(self.tools / "date", clock)

    def environment(self):
        return {"PATH": str(self.tools), "TERM": "xterm", "CALLS": str(self.folder / "calls")}

    def run_launcher(self, *arguments, **options):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        return subprocess.run([self.folder / "lockstep", *arguments], cwd=self.folder, env=self.environment(), text=True,
                              check=False, timeout=TIMEOUT, stdin=subprocess.DEVNULL, **options)

    def run_in_terminal(self, *arguments):
        ours, theirs = pty.openpty()
        done = self.run_launcher(*arguments, stderr=theirs)
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 4096):
                shown += part
        except OSError as end:  # nothing writes to this terminal any more
            self.assertEqual(end.errno, errno.EIO)
        os.close(ours)
        return done, shown.decode()

    def test_help_prints_and_does_nothing_else(self):
        for arguments in (*HELP, *TEST_HELP):
            with self.subTest(arguments=arguments):
                done = self.run_launcher(*arguments)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn("./lockstep test" if arguments in HELP else "--thorough", done.stdout)
                self.assertFalse((self.folder / "build").exists())

    def test_help_before_the_build_lists_the_commands_of_the_program(self):
        program = subprocess.run([self.binary, "help"], text=True, check=True, capture_output=True, timeout=TIMEOUT)
        self.assertEqual(commands_of(self.run_launcher("help").stdout), commands_of(program.stdout))

    def test_help_after_the_build_is_the_program_s(self):
        (self.folder / "build/release").mkdir(parents=True)
        self.write(self.folder / "build/release/lockstep", PROGRAM)
        for arguments in HELP:
            self.assertRegex(self.run_launcher(*arguments).stdout, r"\Aprogram help\n\n(.|\n)*\./lockstep test ")
        self.assertEqual(list((self.folder / "build").iterdir()), [self.folder / "build/release"])

    def test_help_of_a_command_builds_and_asks_the_program(self):
        self.add_tools(COMPILE + MAKE_PROGRAM)
        self.assertEqual(self.run_launcher("help", "train").stdout, "program help train\n")

    def test_a_user_s_build_is_the_program_without_tests_and_is_made_once(self):
        self.add_tools(COMPILE + MAKE_PROGRAM)
        for _ in range(2):
            done = self.run_launcher("train", "--epochs", "3")
            self.assertEqual((done.returncode, done.stdout), (0, "program train --epochs 3\n"), done.stderr)
        self.assertEqual((self.folder / "calls").read_text().splitlines(),
                         ["--preset release -DLOCKSTEP_TESTS=OFF", f"-C {self.folder}/build/release lockstep"])

    def test_the_log_is_named_and_complete(self):
        self.add_tools(COMPILE + 'printf "no end of line"\n' + MAKE_PROGRAM)
        done = self.run_launcher("train")
        log = self.folder / "build/build.log"
        self.assertIn(f"; the log is {log}\n", done.stderr)
        self.assertEqual(log.read_text(), "[0/2] Re-checking globbed directories...\n" +
                         "".join(f"[{i}/4] Building {i}\n" for i in (1, 2, 3, 4)) + "no end of line")

    def test_progress_is_a_line_every_half_minute(self):
        self.add_tools(COMPILE + MAKE_PROGRAM, CLOCK)
        self.assertEqual(self.run_launcher("train").stderr.splitlines()[1:], ["lockstep: [1/4] 25 %, about 2 min left"])

    def test_a_build_shorter_than_that_says_nothing(self):
        self.add_tools(COMPILE + MAKE_PROGRAM)
        self.assertEqual(len(self.run_launcher("train").stderr.splitlines()), 1)

    def test_progress_on_a_terminal_is_one_line_rewritten(self):
        self.add_tools(COMPILE + MAKE_PROGRAM, CLOCK)
        done, shown = self.run_in_terminal("train")
        self.assertEqual((done.returncode, done.stdout), (0, "program train\n"))
        self.assertEqual(shown.count("\n"), 1, shown)  # what is built, and where the log is
        drawn = shown.partition("\n")[2].split("\r\x1b[K")
        self.assertEqual((drawn[0], drawn[-1]), ("", ""))  # the line is gone at the end
        self.assertEqual(list(dict.fromkeys(drawn[1:-1])),  # a slow second draws a line again
                         [f"lockstep: {text}" for text in ("[1/4] 25 %, about 2 min left", "[2/4] 50 %, about 40 s left",
                                                           "[3/4] 75 %, about 14 s left", "[4/4] 100 %")])

    def test_a_build_that_fails_shows_the_end_of_its_log(self):
        self.add_tools('echo "[1/4] Building 1"\necho "a.cpp:1: error"\nexit 1\n')
        done = self.run_launcher("train")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"\n\[1/4\] Building 1\na\.cpp:1: error\n"
                                      r"lockstep: the build failed; the log is \S+/build/build\.log\n\Z")
        self.assertEqual(self.run_launcher("train").returncode, 1)  # and is tried again

    def test_a_signal_ends_ninja_before_the_script(self):
        self.add_tools('trap "echo stopped >>stopped; exit 2" TERM\necho "[1/4] Building 1"\necho $$ >process\n'
                       'while true; do sleep 0.05; done\n')
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            for file in ("process", "stopped"):
                (self.folder / file).unlink(missing_ok=True)
            started = subprocess.Popen([self.folder / "lockstep", "train"], cwd=self.folder, env=self.environment(),
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.addCleanup(started.kill)
            deadline = time.monotonic() + TIMEOUT
            while not (self.folder / "process").exists() or not (self.folder / "process").read_text().endswith("\n"):
                self.assertLess(time.monotonic(), deadline, "ninja did not start")
                time.sleep(0.02)
            started.send_signal(number)
            self.assertEqual(started.wait(TIMEOUT), code)
            self.assertEqual((self.folder / "stopped").read_text(), "stopped\n")
            with self.assertRaises(ProcessLookupError):
                os.kill(int((self.folder / "process").read_text()), 0)

    def test_the_program_is_built_without_tests_twins_and_the_library_s_interface(self):
        done = subprocess.run(["ninja", "-C", self.build, "-t", "inputs", "lockstep"], text=True, check=True,
                              capture_output=True, timeout=TIMEOUT)
        objects = [line for line in done.stdout.splitlines() if line.endswith(".o")]
        self.assertTrue([file for file in objects if "/lockstep_train.dir/" in file], objects)
        self.assertEqual([file for file in objects if re.search(r"_test|_reference\.dir|lockstep_api\.dir", file)], [])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    arguments, rest = parser.parse_known_args()
    LauncherTest.binary = arguments.binary.resolve(strict=True)
    LauncherTest.build = arguments.build.resolve(strict=True)
    unittest.main(argv=[parser.prog, *rest])


if __name__ == "__main__":
    main()
