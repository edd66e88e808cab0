#!/usr/bin/env python3
"""Options that name an output: what is there already and is not ours stays, and is refused before anything long
begins."""
import json
import os
import stat
import unittest

from program import ProgramTest


class TraceTest(ProgramTest):
    def trace(self, name, data="no data is needed to see that it must not be written"):
        """Refused before the data is even looked for."""
        return self.run_program("train", "mlp", "--data", data, "--epochs", 1, "--trace", name)

    def assert_trace_refused(self, name, found):
        self.assert_refused_before_start(self.trace(name), 2, "--trace", name, found)

    def test_another_file_stays(self):
        for content in (b"", b"my thesis", b'{"displayTimeUnit":"ms","traceEvents":[]}\n', b'{"a": 1}'):
            (self.folder / "mine").write_bytes(content)
            self.assert_trace_refused("mine", "another file")
            self.assertEqual((self.folder / "mine").read_bytes(), content)

    def test_what_is_no_file_stays(self):
        (self.folder / "folder").mkdir()
        self.assert_trace_refused("folder", "a directory")
        os.mkfifo(self.folder / "pipe")
        self.assert_trace_refused("pipe", "no regular file")
        self.assertTrue(stat.S_ISFIFO((self.folder / "pipe").lstat().st_mode))
        self.assert_trace_refused("/dev/null", "no regular file")
        self.assertTrue(stat.S_ISCHR(os.lstat("/dev/null").st_mode))

    def test_a_symbolic_link_stays(self):
        (self.folder / "mine").write_text("keep")
        for target in ("mine", "nowhere", "/dev/null"):
            (self.folder / "link").symlink_to(target)
            self.assert_trace_refused("link", "a symbolic link")
            self.assertEqual(os.readlink(self.folder / "link"), target)
            (self.folder / "link").unlink()
        self.assertEqual((self.folder / "mine").read_text(), "keep")

    def test_a_trace_is_replaced_by_the_next(self):
        trace = self.folder / "trace.json"
        for devices in (1, 2):
            self.train("mlp", "--epochs", 1, "--devices", devices, "--trace", "trace.json")
            events = json.loads(trace.read_text())["traceEvents"]
            self.assertEqual(len({event["pid"] for event in events}), devices)

    def test_the_run_and_its_trace_have_two_names(self):
        for out, trace in (("x", "./x"), ("x/", "x"), ("x", self.folder / "x")):
            done = self.run_program("train", "mlp", "--data", self.data, "--out", out, "--trace", trace)
            self.assert_refused_before_start(done, 2, "--trace", "--out", out)


class DirectoryTest(ProgramTest):
    def test_a_directory_that_exists_is_refused_before_the_data_is_read(self):
        (self.folder / "mine").mkdir()
        (self.folder / "file").write_text("keep")
        (self.folder / "link").symlink_to("nowhere")
        for command in ("train", "sweep"):
            for name in ("mine", "mine/", "file", "link", "/dev/null"):
                done = self.run_program(command, "mlp", "--data", "nowhere", "--out", name)
                self.assert_refused_before_start(done, 2, name, "exists")
            done = self.run_program(command, "mlp", "--data", "nowhere", "--out", "file/deep/run")
            self.assert_refused_before_start(done, 1, "file", "Not a directory")
        self.assertEqual((self.folder / "file").read_text(), "keep")
        self.assertEqual(list((self.folder / "mine").iterdir()), [])

    def in_a_folder_that_is_gone(self, *arguments):
        gone = self.folder / "gone"
        gone.mkdir()

        def enter_and_remove():
            os.chdir(gone)
            gone.rmdir()

        return self.run_program(*arguments, preexec_fn=enter_and_remove)

    def test_a_working_directory_that_is_gone_is_named(self):
        self.train("mlp", "--epochs", 1, "--out", "run")
        for arguments in (("train", "mlp", "--data", "data"), ("train", "mlp", "--data", self.data),
                          ("train", "mlp", "--data", self.data, "--out", "run"), ("sweep", "mlp", "--data", self.data)):
            done = self.in_a_folder_that_is_gone(*arguments)
            self.assert_refused_before_start(done, 4, "the working directory is gone", "No such file or directory")
        done = self.in_a_folder_that_is_gone("train", "mlp", "--data", self.data, "--epochs", 1, "--out",
                                             self.folder / "elsewhere")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.in_a_folder_that_is_gone("eval", self.folder / "run")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_rows_that_are_in_no_file_are_refused(self):
        self.train("mlp", "--epochs", 1, "--out", "run")
        hashes = self.folder / "run/hashes.csv"
        hashes.rename(self.folder / "kept")
        hashes.symlink_to(self.folder / "kept")
        before = (self.folder / "kept").read_bytes()
        done = self.run_program("train", "--resume", "run", "--epochs", 2)
        self.assert_refused(done, 1, "run/hashes.csv")
        self.assertEqual((self.folder / "kept").read_bytes(), before)


if __name__ == "__main__":
    unittest.main()
