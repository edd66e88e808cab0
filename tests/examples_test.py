#!/usr/bin/env python3
"""Runs the book's section as examples/book.cpp has it, for one epoch of Fashion-MNIST, and holds every line of its
output against what the book prints; accuracy and weights are those of `lockstep train`, on one device and on two.
"""
import argparse
import json
import pathlib
import re
import subprocess
import tempfile
import unittest

TIMEOUT = 300
ZEROS = ", ".join(["0."] * 20)
EXPECTED = f"""\
b1 weight: tensor([[{ZEROS}]], device='cpu:0', requires_grad=True)
b1 grad: tensor([[{ZEROS}]], device='cpu:0')
before allreduce:
 tensor([[1., 1.]], device='cpu:0')
 tensor([[2., 2.]], device='cpu:1')
after allreduce:
 tensor([[3., 3.]], device='cpu:0')
 tensor([[3., 3.]], device='cpu:1')
input : tensor([[ 0.,  1.,  2.,  3.,  4.],
        [ 5.,  6.,  7.,  8.,  9.],
        [10., 11., 12., 13., 14.],
        [15., 16., 17., 18., 19.]])
load into [cpu:0, cpu:1]
output: (tensor([[0., 1., 2., 3., 4.],
        [5., 6., 7., 8., 9.]], device='cpu:0'), tensor([[10., 11., 12., 13., 14.],
        [15., 16., 17., 18., 19.]], device='cpu:1'))
y: (tensor([[0.],
        [1.]], device='cpu:0'), tensor([[2.],
        [3.]], device='cpu:1'))
test acc: ACCURACY, SECONDS sec/epoch on [cpu:0]
weights WEIGHTS
test acc: ACCURACY, SECONDS sec/epoch on [cpu:0, cpu:1]
weights WEIGHTS
"""


def run(*command):
    with tempfile.TemporaryDirectory(prefix="lockstep-examples-") as folder:
        return subprocess.run([str(word) for word in command], cwd=folder, text=True, check=False, timeout=TIMEOUT,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class BookTest(unittest.TestCase):
    maxDiff = None
    book = binary = None

    def test_prints_what_the_book_prints(self):
        done = run(self.book, "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        trained = json.loads(run(self.binary, "train", "--epochs", "1", "--json").stdout)
        expected = EXPECTED.replace("ACCURACY", f"{trained['accuracy']:.2f}").replace("WEIGHTS", trained["weights"])
        self.assertEqual(re.sub(r"\d+\.\d(?= sec/epoch)", "SECONDS", done.stdout), expected)

    def test_says_which_data_is_missing(self):
        done = run(self.book, "1", "/nowhere")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"^/nowhere: .*\n$")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--book", type=pathlib.Path, required=True)
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    BookTest.book, BookTest.binary = arguments.book.resolve(strict=True), arguments.binary.resolve(strict=True)
    unittest.main(argv=[parser.prog])


if __name__ == "__main__":
    main()
