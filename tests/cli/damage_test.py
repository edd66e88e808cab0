#!/usr/bin/env python3
"""Damaged data and weights: each is refused with file, what was expected and what was found."""
import copy
import gzip
import json
import os
import shutil
import struct
import subprocess
import unittest

import tensors
from pictures import TEST, TRAIN, idx_images, idx_labels
from program import ProgramTest

IMAGES, LABELS = TRAIN


class DamagedDataTest(ProgramTest):
    def assert_data_refused(self, *words, code=3):
        done = self.run_program("train", "mlp", "--data", self.data, "--epochs", 1)
        self.assert_refused_before_start(done, code, *words)

    def test_missing(self):
        (self.data / LABELS).unlink()
        self.assert_data_refused(self.data, LABELS, "--data DIR")
        shutil.rmtree(self.data)
        self.assert_data_refused(self.data, IMAGES, LABELS, *TEST)

    def test_truncated(self):
        content = (self.data / IMAGES).read_bytes()
        for length in (0, 3, 10, len(content) - 1):
            with self.subTest(length=length):
                (self.data / IMAGES).write_bytes(content[:length])
                self.assert_data_refused(self.data / IMAGES, "expected", "found")

    def test_one_byte_too_many(self):
        with (self.data / IMAGES).open("ab") as file:
            file.write(b"x")
        self.assert_data_refused(self.data / IMAGES, "expected 401424 bytes", "found 401425")

    def test_wrong_magic(self):
        (self.data / IMAGES).write_bytes(idx_images(1, bytes(784), magic=0x802))
        self.assert_data_refused(self.data / IMAGES, "expected", "0x00000803", "found 0x00000802")

    def test_a_label_that_is_no_class(self):
        labels = [0] * 512
        labels[17] = 10
        (self.data / LABELS).write_bytes(idx_labels(labels))
        self.assert_data_refused(self.data / LABELS, "expected", "found 10", "17")

    def test_fewer_labels_than_images(self):
        (self.data / LABELS).write_bytes(idx_labels([0] * 511))
        self.assert_data_refused(self.data / LABELS, "expected 512 labels", "found 511")

    def test_pictures_that_a_model_has_no_room_for(self):
        for size, model, words in ((13, "lenet", ("14x14 or more", "1x13x13", "layer pool2", "2x2", "50x1x1")),
                                   (28, "vgg11", ("32x32 or more", "1x28x28", "layer pool5", "2x2", "512x1x1")),
                                   (28, "alexnet", ("63x63 or more", "1x28x28", "layer pool2", "3x3", "256x2x2"))):
            for images, labels in (TRAIN, TEST):
                (self.data / images).write_bytes(idx_images(4, bytes(4 * size * size), side=size))
                (self.data / labels).write_bytes(idx_labels([0] * 4))
            for command in (("train", "--epochs", 1), ("verify",), ("sweep", "--epochs", 1)):
                with self.subTest(model=model, command=command):
                    done = self.run_program(*command, model, "--data", self.data)
                    self.assert_refused_before_start(done, 2, *words)

    def test_gzip(self):
        plain = self.data / IMAGES
        packed = self.data / (IMAGES + ".gz")
        content = plain.read_bytes()
        good = gzip.compress(content)
        plain.unlink()
        zeros = gzip.compress(bytes(1 << 26))
        garbled = good[:100] + bytes([good[100] ^ 0xff]) + good[101:]
        for name, bad, words in (("truncated", good[:-1000], ("truncated",)),
                                 ("garbled", garbled, ("damaged gzip",)),
                                 ("trailing bytes", good + b"more", ("end of the gzip", "4 bytes more")),
                                 ("past its header", gzip.compress(content + bytes(1 << 20)),
                                  ("expected at most 401424 bytes", "unpacks to more")),
                                 ("past the limit", gzip.compress(idx_images(1 << 21, b"")) + zeros * 24,
                                  ("at most 1073741824", "found")),
                                 ("no header", zeros * 17, ("0x00000803", "found 0x00000000"))):
            with self.subTest(name=name):
                packed.write_bytes(bad)
                self.assert_data_refused(packed, *words)
        packed.write_bytes(good)
        self.train("mlp", "--epochs", 1)


class MemoryTest(ProgramTest):
    def test_data_that_does_not_fit(self):
        count = (1 << 30) // 784
        (self.data / IMAGES).write_bytes(idx_images(count, b""))
        with (self.data / IMAGES).open("r+b") as file:
            file.truncate(16 + count * 784)
        done = self.run_program("train", "--data", self.data, "--threads", 1, **self.limited(1 << 30))
        self.assert_refused_before_start(done, 4, "out of memory")


class EndlessTest(ProgramTest):
    """Files that are no files, that never end, or that no memory holds: refused at once, in 1 GB."""

    def refuse(self, file, *words):
        limit = self.limited(1 << 30)
        for arguments in (("eval", file, "--data", self.data, "--threads", 1),
                          ("train", "mlp", "--data", self.data, "--load", file, "--threads", 1),
                          ("train", "mlp", "--data", self.data, "--config", file, "--threads", 1)):
            self.assert_refused_before_start(self.run_program(*arguments, **limit), 3, file, *words)

    def refuse_data(self, *words):
        done = self.run_program("train", "--data", self.data, "--threads", 1, **self.limited(1 << 30))
        self.assert_refused_before_start(done, 3, IMAGES, *words)

    def test_a_fifo(self):
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        self.refuse(fifo, "expected a file", "found a FIFO")
        (self.data / IMAGES).unlink()
        os.mkfifo(self.data / IMAGES)
        self.refuse_data("expected a file", "found a FIFO")

    def test_a_device(self):
        self.refuse("/dev/zero", "expected a file", "found a device")
        (self.data / IMAGES).unlink()
        (self.data / IMAGES).symlink_to("/dev/zero")
        self.refuse_data("expected a file", "found a device")

    def test_a_sparse_file(self):
        sparse = self.folder / "sparse"
        with sparse.open("wb") as file:
            file.truncate(6 << 30)
        self.refuse(sparse, "expected", "found")
        for name in (IMAGES, IMAGES + ".gz"):
            (self.data / IMAGES).rename(self.data / name)
            with (self.data / name).open("r+b") as file:
                file.truncate(6 << 30)
            self.refuse_data("expected", "found 6442450944")

    def test_a_sparse_file_with_a_header_that_fits(self):
        elements = 6 << 28
        header = {"linear1.weight": {"dtype": "F32", "shape": [elements], "data_offsets": [0, 4 * elements]}}
        sparse = self.folder / "sparse"
        tensors.write(sparse, header, b"")
        with sparse.open("r+b") as file:
            file.truncate(sparse.stat().st_size + 4 * elements)
        for arguments in (("eval", sparse, "--model", "mlp"), ("train", "mlp", "--load", sparse)):
            done = self.run_program(*arguments, "--data", self.data, "--threads", 1, **self.limited(1 << 30))
            self.assert_refused_before_start(done, 3, sparse, "linear1.weight", "expected shape [256, 784]")

    def test_standard_input_is_read_though_it_is_a_pipe(self):
        run = self.folder / self.train("mlp", "--epochs", 1, "--out", "run")["run"]
        process = self.start_program("eval", "/dev/stdin", "--data", self.data, "--json", stdin=subprocess.PIPE)
        process.stdin.buffer.write((run / "weights.safetensors").read_bytes())
        stdout, stderr = process.communicate()
        self.assertEqual((process.returncode, stderr), (0, ""))
        self.assertEqual(stdout, self.run_program("eval", "run", "--json").stdout)
        with open("/dev/zero", "rb") as zeros:
            process = self.start_program("eval", "/dev/stdin", "--data", self.data, stdin=zeros)
            self.assertIn("expected a header", process.communicate()[1])


class DamagedWeightsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        good = self.folder / self.train("mlp", "--epochs", 1, "--out", "good")["run"] / "weights.safetensors"
        self.header, self.values = tensors.read(good)
        self.bad = self.folder / "bad.safetensors"

    def assert_weights_refused(self, *words):
        """The file as it is, by both commands that read one."""
        self.assert_refused(self.run_program("eval", self.bad, "--data", self.data), 3, self.bad, *words)
        done = self.run_program("train", "mlp", "--data", self.data, "--load", self.bad)
        self.assert_refused_before_start(done, 3, self.bad, *words)

    def assert_header_refused(self, change, *words):
        header = copy.deepcopy(self.header)
        change(header)
        tensors.write(self.bad, header, self.values)
        self.assert_weights_refused(*words)

    def test_the_headers_size(self):
        tensors.write(self.bad, self.header, self.values, size=10**9)
        self.assert_weights_refused("header of at most", "found 1000000000")
        tensors.write(self.bad, self.header, self.values, size=90_000_000)
        self.assert_weights_refused("header", "expected", "found")
        tensors.write(self.bad, self.header, self.values, size=20)
        self.assert_weights_refused("JSON")
        self.bad.write_bytes(b"\0\0\0")
        self.assert_weights_refused("header's size")

    def test_flipped_bits_in_the_tensors(self):
        for at in range(0, len(self.values), 81_001):
            values = bytearray(self.values)
            values[at] ^= 1 << at % 8
            tensors.write(self.bad, self.header, values)
            self.assert_weights_refused("expected weights with hash", "damaged")

    def test_numbers_that_are_not_finite(self):
        del self.header["__metadata__"]["weights"]  # nothing vouches for the rest
        tensors.write(self.bad, self.header, self.values[:-4] + b"\0\0\x80\xff")
        self.assert_weights_refused("linear2.bias", "[9]", "-inf")
        tensors.write(self.bad, self.header, b"\0\0\xc0\x7f" + self.values[4:])
        self.assert_weights_refused("linear1.weight", "[0, 0]", "nan")

    def test_a_name_twice(self):
        text = json.dumps(self.header)
        entry = json.dumps(self.header["linear1.bias"])
        tensors.write(self.bad, text[:-1] + f', "linear1.bias": {entry}}}', self.values)
        self.assert_weights_refused("linear1.bias", "twice")

    def test_a_hole(self):
        def move(header):
            for name in ("linear2.weight", "linear2.bias"):
                header[name]["data_offsets"] = [offset + 4 for offset in header[name]["data_offsets"]]

        self.values += bytes(4)
        self.assert_header_refused(move, "linear2.weight", "a hole")

    def test_an_overlap(self):
        def move(header):
            header["linear2.weight"]["data_offsets"] = [offset - 4 for offset in header["linear2.weight"]["data_offsets"]]

        self.assert_header_refused(move, "linear2.weight", "an overlap")

    def test_trailing_and_missing_bytes(self):
        tensors.write(self.bad, self.header, self.values + b"more")
        self.assert_weights_refused("expected 814120 bytes", "found 814124")
        tensors.write(self.bad, self.header, self.values[:-4])
        self.assert_weights_refused("linear2.bias", "at most 814116")

    def test_a_shape_that_is_not_its_length(self):
        self.assert_header_refused(lambda h: h["linear2.bias"].update(shape=[11]), "linear2.bias",
                                   "expected 44 bytes by its shape", "found 40")

    def test_another_type(self):
        self.assert_header_refused(lambda h: h["linear2.bias"].update(dtype="F16"), "linear2.bias", "F32", "F16")

    def test_weights_of_another_model(self):
        self.assert_header_refused(lambda h: h["linear2.weight"].update(shape=[256, 10]), "linear2.weight",
                                   "expected shape [10, 256]", "found [256, 10]")

        def rename(header):
            header["linear9.bias"] = header.pop("linear2.bias")

        self.assert_header_refused(rename, "linear9.bias", "mlp")


class DivergenceTest(ProgramTest):
    def test_numbers_that_end_stop_the_training(self):
        done = self.run_program("train", "--data", self.data, "--lr", "1e30", "--epochs", 3)
        self.assert_refused(done, 5, "step 2", "the output of conv", "example", "not finite")
        run = self.folder / "runs/lenet-1"
        self.assertEqual({file.name for file in run.iterdir()},
                         {"config.toml", "results.csv", "metrics.jsonl", "hashes.csv", "checkpoints"})

    def test_weights_too_large_to_compute_with(self):
        run = self.folder / self.train("mlp", "--epochs", 1, "--out", "good")["run"]
        header, values = tensors.read(run / "weights.safetensors")
        del header["__metadata__"]["weights"]
        bad = self.folder / "bad.safetensors"
        tensors.write(bad, header, struct.pack("<f", 3e38) * 784 + values[784 * 4:])
        done = self.run_program("train", "mlp", "--data", self.data, "--load", bad)
        said = [line for line in done.stderr.splitlines() if line.startswith("lockstep: ")]
        self.assertEqual((done.returncode, len(said)), (5, 1), done.stderr)
        for word in ("step 1", "the output of linear1", "example 0"):
            self.assertIn(word, said[0])
        done = self.run_program("eval", bad, "--data", self.data, "--json")
        self.assertIsNone(json.loads(done.stdout)["loss"])


if __name__ == "__main__":
    unittest.main()
