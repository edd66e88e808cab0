#!/usr/bin/env python3
"""Installs the build into an empty prefix, builds examples/first.cpp there as an outside project does, and runs it."""
import argparse
import pathlib
import re
import subprocess
import tempfile
import unittest

TIMEOUT = 300
PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(outside LANGUAGES CXX)
find_package(lockstep {version} REQUIRED)
add_executable(first first.cpp)
target_link_libraries(first PRIVATE lockstep::lockstep)
"""
FILES = """\
include/lockstep/book.h
include/lockstep/dataset.h
include/lockstep/error.h
include/lockstep/evaluate.h
include/lockstep/lockstep.h
include/lockstep/model.h
include/lockstep/train.h
include/lockstep/train_options.h
include/lockstep/weights.h
share/doc/lockstep/LICENSE
""".split()
OUTPUT = r"""epoch 1: 0\.\d+
test acc: 0\.\d\d, \d+\.\d sec/epoch on \[cpu:0, cpu:1\]
weights [0-9a-f]{32}
"""


class InstallTest(unittest.TestCase):
    source = build = None

    def run_in(self, folder, *command):
        done = subprocess.run([str(word) for word in command], cwd=folder, text=True, check=False, timeout=TIMEOUT,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}")
        return done.stdout

    def test_an_outside_project_builds_and_trains(self):
        scratch = tempfile.TemporaryDirectory(prefix="lockstep-install-")
        self.addCleanup(scratch.cleanup)
        folder = pathlib.Path(scratch.name)
        version = (self.source / "VERSION").read_text().strip()
        prefix, project = folder / "prefix", folder / "project"
        self.run_in(folder, "cmake", "--install", self.build, "--prefix", prefix)
        installed = {str(p.relative_to(prefix)) for p in prefix.rglob("*") if p.is_file()}
        self.assertLessEqual(set(FILES), installed)
        self.assertEqual({p for p in installed if p.startswith("include/")},
                         {p for p in FILES if p.startswith("include/")})
        self.assertEqual(self.run_in(folder, prefix / "bin/lockstep", "--version").split()[-1], version)

        project.mkdir()
        (project / "CMakeLists.txt").write_text(PROJECT.format(version=version))
        (project / "first.cpp").write_text((self.source / "examples/first.cpp").read_text())
        self.run_in(project, "cmake", "-G", "Ninja", "-B", "build", "-DCMAKE_BUILD_TYPE=Release",
                    f"-DCMAKE_PREFIX_PATH={prefix}")
        self.run_in(project, "cmake", "--build", "build", "-j2")
        output = self.run_in(project, "build/first", "1")
        self.assertTrue(re.fullmatch(OUTPUT, output), output)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    InstallTest.source = pathlib.Path(__file__).resolve().parent.parent
    InstallTest.build = arguments.build.resolve(strict=True)
    unittest.main(argv=[parser.prog])


if __name__ == "__main__":
    main()
