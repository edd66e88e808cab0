#!/usr/bin/env python3
"""Follows docs/library.md word by word, as a reader does who has only its text: its commands in order, with its files, in
an empty home directory. Holds the output against the page, and compiles the pieces of code that are no whole program.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from docs_test import parse  # noqa: E402

SOURCE = pathlib.Path(__file__).resolve().parent.parent
TIMEOUT = 300
LAUNCHER = '#!/bin/sh\nexec "$BUILD/lockstep" "$@"\n'  # ./lockstep where all is built already
HEADERS = {f"include/lockstep/{name}.h" for name in ("book", "dataset", "error", "evaluate", "lockstep", "model", "train",
                                                     "train_options", "weights")}


def run_in(folder, *command, **variables):
    return subprocess.run([str(word) for word in command], cwd=folder, text=True, check=False, timeout=TIMEOUT,
                          env={**os.environ, **variables}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)


def without_seconds(text):
    return re.sub(r"\d+\.\d(?= sec/epoch)", "S", text)


class Page:
    """docs/library.md: one script of its commands and files, the output it promises, and the rest of its C++."""

    def __init__(self, text):
        prose, blocks = parse(text)
        lines = dict(prose)
        script, self.pieces, self.files, self.promised = [], [], {}, None
        for number, (language, *_), content in blocks:
            before = next(lines[at] for at in range(number, 0, -1) if lines.get(at))
            file = re.match(r"`([\w.]+)`", before)
            if language == "sh":
                script.append(content)
            elif file:
                self.files[file.group(1)] = content
                script.append(f"cat >{file.group(1)} <<'END OF FILE'\n{content}END OF FILE")
            elif language == "text" and self.promised is None:
                self.promised = content
            elif language == "cpp":
                self.pieces.append(content)
        self.script = "\n".join(script)


class InstallTest(unittest.TestCase):
    build = None

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="lockstep-install-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.page = Page((SOURCE / "docs/library.md").read_text())

    def succeed(self, folder, *command, **variables):
        done = run_in(folder, *command, **variables)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")
        return done.stdout

    def make_clone(self):
        """A folder that looks as the clone does after a build: ./lockstep, build/release."""
        clone = self.folder / "clone"
        (clone / "build").mkdir(parents=True)
        (clone / "build/release").symlink_to(self.build)
        (clone / "lockstep").write_text(LAUNCHER)
        (clone / "lockstep").chmod(0o755)
        return clone

    def test_the_page_works_as_it_is_written(self):
        home = self.folder / "home"
        home.mkdir()
        output = self.succeed(self.make_clone(), "bash", "-euo", "pipefail", "-c", self.page.script, HOME=str(home),
                              BUILD=str(self.build))
        self.assertTrue(without_seconds(output).endswith(without_seconds("\n" + self.page.promised)), output)

        prefix = home / ".local"
        installed = {str(p.relative_to(prefix)) for p in prefix.rglob("*") if p.is_file()}
        self.assertEqual({p for p in installed if p.startswith("include/")}, HEADERS)
        self.assertLessEqual({"share/doc/lockstep/LICENSE", "bin/lockstep"}, installed)
        version = (SOURCE / "VERSION").read_text().strip()
        self.assertEqual(self.succeed(home, prefix / "bin/lockstep", "--version"), f"lockstep {version}\n")
        self.assertNotIn(".debug_", self.succeed(home, "readelf", "-S", "-W", prefix / "bin/lockstep"))

        pieces = "#include <iostream>\n\n#include <lockstep/lockstep.h>\n" + "\n".join(
            f"void piece_{number}() {{\n{piece}}}" for number, piece in enumerate(self.page.pieces))
        (self.folder / "pieces.cpp").write_text(pieces)
        self.assertGreaterEqual(len(self.page.pieces), 2)
        self.succeed(self.folder, "c++", "-std=c++20", "-fsyntax-only", f"-I{prefix}/include", "pieces.cpp")

    def test_the_page_shows_the_example_as_it_is(self):
        self.assertEqual(self.page.files["first.cpp"], (SOURCE / "examples/first.cpp").read_text())

    def test_an_install_without_the_library_says_what_to_run(self):
        build = self.folder / "build"
        self.succeed(self.folder, "cmake", "-G", "Ninja", "-S", SOURCE, "-B", build, "-DLOCKSTEP_TESTS=OFF")
        done = run_in(self.folder, "cmake", "--install", build, "--prefix", self.folder / "prefix")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(re.sub(r"\s+", " ", done.stderr),
                         f"the library is not built; run cmake --build {build} --target lockstep_library and install again")
        self.assertFalse((self.folder / "prefix").exists())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    arguments, rest = parser.parse_known_args()
    InstallTest.build = arguments.build.resolve(strict=True)
    unittest.main(argv=[parser.prog, *rest])


if __name__ == "__main__":
    main()
