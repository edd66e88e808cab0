#!/usr/bin/env python3
"""Steps and evaluations of resnet8 on pictures of Fashion-MNIST against numpy in double (resnet8.py beside this file).

A tensor's error is the norm of its difference, by the norm of what numpy finds. Gradients are the velocities after a first
step with momentum; a step of SGD from the same weights gives the same new weights.
"""
import gzip
import json
import os
import pathlib
import subprocess
import sys
import unittest

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "cli"), str(HERE.parent / "known_answers")]
import law  # noqa: E402
import pictures  # noqa: E402
import tensors  # noqa: E402
from program import REAL_DATA, ProgramTest  # noqa: E402
from resnet8 import Resnet8, convolutions, drawn_weights  # noqa: E402

BIASED = os.environ.get("LOCKSTEP_BIASED_RESNET8", "")  # trains one with biases before its batch norms, by the library
BATCH, TESTED, SEED, RATE, MOMENTUM = 256, 512, 5, 0.125, 0.75

GRADIENT = 1e-3
STATISTIC = 1e-5
OF_ZERO = 1e-5  # a gradient that is zero in exact arithmetic, by the norm of that of the layer's weight


def fashion_mnist(names, count):
    images, labels = (gzip.open(REAL_DATA / f"{name}.gz").read() for name in names)
    return images[16:16 + count * pictures.SIDE ** 2], labels[8:8 + count]


def array_of(part):
    pixels, labels = part
    shape = (len(labels), pictures.SIDE, pictures.SIDE)
    return np.frombuffer(pixels, np.uint8).reshape(shape) / 255, np.frombuffer(labels, np.uint8).astype(int)


def read(path):
    header, values = tensors.read(path)
    header.pop("__metadata__", None)
    return {name: np.frombuffer(values[slice(*entry["data_offsets"])], "<f4").reshape(entry["shape"])
            for name, entry in header.items()}


def write(path, arrays):
    header, values = {}, b""
    for name, array in arrays.items():
        begin = len(values)
        values += array.astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [begin, len(values)]}
    tensors.write(path, header, values)


def newest_checkpoint(run):
    return max((run / "checkpoints").iterdir())


def error(found, expected):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


class Resnet8Test(ProgramTest):
    def setUp(self):
        super().setUp()
        self.parts = [fashion_mnist(pictures.TRAIN, BATCH), fashion_mnist(pictures.TEST, TESTED)]
        for names, (pixels, labels) in zip((pictures.TRAIN, pictures.TEST), self.parts):
            (self.data / names[0]).write_bytes(pictures.idx_images(len(labels), pixels))
            (self.data / names[1]).write_bytes(pictures.idx_labels(labels))

    def one_step(self, form, *arguments):
        """Of the program; the state that the checkpoint has, and the weights."""
        out = self.folder / f"{form.replace(':', '')}-{arguments[1]}"
        self.train("resnet8", "--load", "start.safetensors", "--batch", BATCH, "--epochs", 1, "--seed", SEED, "--lr", RATE,
                   "--batch-norm", form, *arguments, "--out", out, "--devices", 2)
        return read(newest_checkpoint(out)), read(out / "weights.safetensors")

    def in_numpy(self, start, **options):
        """After a step with the examples in the order of the epoch."""
        images, labels = array_of(self.parts[0])
        order = law.shuffle(SEED, 1, BATCH)
        network = Resnet8(start, **options)
        network.train(images[order], labels[order])
        return network

    def assert_step(self, state, network, of_zero=()):
        """`of_zero`: biases whose gradient is 0 in exact arithmetic."""
        most = dict.fromkeys(("gradient", "gradient of zero", "statistic"), 0.0)

        def assert_below(what, found, limit, name):
            most[what] = max(most[what], found)
            self.assertLess(found, limit, name)

        for name, gradient in network.gradients.items():
            found = state[f"velocity:{name}"].astype(float)
            if name in of_zero:
                of_weight = np.linalg.norm(network.gradients[name.replace(".bias", ".weight")])
                assert_below("gradient of zero", np.linalg.norm(found) / of_weight, OF_ZERO, name)
            else:
                assert_below("gradient", error(found, gradient), GRADIENT, name)
            updated = network.weights[name] - RATE * found
            self.assertLess(error(state[name], updated), 1e-6, name)
        for name, statistic in network.running.items():
            assert_below("statistic", error(state[name], statistic), STATISTIC, name)
        print("largest errors:", ", ".join(f"{what} {found:.1e}" for what, found in most.items()))
        tested = set(network.running) | set(network.gradients) | {f"velocity:{name}" for name in network.gradients}
        self.assertEqual(tested, set(state))

    def test_a_step_has_numpys_gradients_and_running_statistics(self):
        start = drawn_weights(1)
        write(self.folder / "start.safetensors", start)
        for form, ghost in (("sync", 0), ("ghost:48", 48)):
            with self.subTest(form=form):
                state, weights = self.one_step(form, "--optimizer", "momentum", "--momentum", MOMENTUM)
                self.assert_step(state, self.in_numpy(start, ghost=ghost))
                _, by_sgd = self.one_step(form, "--optimizer", "sgd")
                for name, values in weights.items():
                    self.assertEqual(by_sgd[name].tobytes(), values.tobytes(), name)

    def test_a_bias_in_front_of_a_batch_norm_has_a_gradient_of_about_zero(self):
        start = drawn_weights(2, biased=True)
        write(self.folder / "start.safetensors", start)
        done = subprocess.run([BIASED, self.data, "start.safetensors", "run", *map(str, (BATCH, SEED, RATE, MOMENTUM))],
                              cwd=self.folder, text=True, check=False, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        before_norms = {f"{name}.bias" for name in convolutions(True)} - {f"{name}.bias" for name, conv in
                                                                          convolutions(False).items() if conv[-1]}
        self.assertEqual(len(before_norms), 7)
        self.assert_step(read(newest_checkpoint(self.folder / "run")), self.in_numpy(start, biased=True), before_norms)

    def test_a_trained_network_is_evaluated_as_numpy_does(self):
        images, labels = array_of(self.parts[1])
        for form in ("sync", "ghost:32"):
            run = self.train("resnet8", "--batch", 64, "--epochs", 5, "--lr", "0.05", "--batch-norm", form)
            done = self.run_program("eval", run["run"], "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            found = json.loads(done.stdout)
            loss, accuracy = Resnet8(read(self.folder / run["run"] / "weights.safetensors")).evaluate(images, labels)
            self.assertGreater(accuracy, 0.3)  # it is trained
            self.assertAlmostEqual(found["loss"], loss, delta=STATISTIC * loss)
            self.assertEqual(found["accuracy"], accuracy)


if __name__ == "__main__":
    unittest.main()
