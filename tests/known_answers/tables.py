#!/usr/bin/env python3
"""Makes the tables of inputs and results beside this file from law.py, pytorch.py, batch_norm.py and book_network.py, and
confirms the committed ones.

Without arguments it ends with 1 if a committed table differs from what they give; `--write` writes them. The library
is held against the tables by tests/known_answers_test.cpp and, for optimizers, tests/pytorch_formulas_test.cpp; the naive
twin of batch norm by tests/batch_norm_formulas_test.cpp. Numbers are bit patterns in hex, but those of optimizers and of
batch norm are decimal; `nan` stands for every NaN.
"""
import fractions
import math
import pathlib
import sys

import batch_norm
import book_network
import law
import pytorch
from ieee import DOUBLE, SINGLE, double, double_bits, rounded, single, single_bits

HERE = pathlib.Path(__file__).resolve().parent

# Random123's own, from its file kat_vectors: counter, key, result.
PUBLISHED_PHILOX = """
00000000 00000000 00000000 00000000 00000000 00000000 6627e8d5 e169c58d bc57ac4c 9b00dbd8
ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff 408f276d 41c83b0e a20bc7c6 6d5451fd
243f6a88 85a308d3 13198a2e 03707344 a4093822 299f31d0 d16cfe09 94fdcceb 5001e420 24126ea1
"""

SEEDS = (0, 2 ** 40 + 3)
LENET = {"conv1.weight": 20 * 1 * 3 * 3, "conv2.weight": 50 * 20 * 5 * 5, "linear1.weight": 128 * 800,
         "linear2.weight": 10 * 128}
LENET_SIGMA = "0.01"
LN2 = fractions.Fraction(math.log(2))  # near enough to say where to look

SPECIAL = [0x00000000, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000, 0x7F800001,  # 0, infinity, NaN
           0x00000001, 0x80000001, 0x00000002, 0x00400000, 0x007FFFFF, 0x807FFFFF,  # denormal
           0x00800000, 0x80800000, 0x7F7FFFFF, 0xFF7FFFFF]  # smallest and largest normal


def neighbours(bits, distance):
    return [bits + d for d in range(-distance, distance + 1)]


def near(number, distance=2):
    """The floats around a number that is not zero."""
    return neighbours(single_bits(rounded(fractions.Fraction(number), SINGLE)), distance)


def random_words(count, epoch):
    return [law.word(20, index, epoch, 0) for index in range(count)]


def exp_inputs():
    ends = [-104, 89, 128 * LN2, -126 * LN2, -149 * LN2, -150 * LN2]
    switches = [(n + fractions.Fraction(1, 2)) * LN2
                for n in (*range(-151, -145), *range(-130, 128, 11), -2, -1, 0, 1, 127)]
    return [*SPECIAL, *(b for x in ends for b in near(x, 3)), *(b for x in switches for b in near(x, 1)),
            *near(1), *near(-1),
            *(single_bits(rounded(fractions.Fraction(w, 2 ** 32) * 193 - 104, SINGLE)) for w in random_words(250, 1)),
            *random_words(50, 2)]


def log_inputs():
    switches = [fractions.Fraction(law.LOG_LEAST) * fractions.Fraction(2) ** k
                for k in (-140, -130, -127, -126, -125, -124, -64, -2, -1, 0, 1, 2, 63, 126, 127, 128)]
    denormals = [1, 2, 3, 5, 0x00123456, *neighbours(0x00400000, 1), *neighbours(0x00800000, 2)]
    return [*SPECIAL, *denormals, *(b for x in switches for b in near(x)), *near(1), *near(2), *near(0.5), *near(-1, 0),
            *(w & 0x7FFFFFFF for w in random_words(250, 3)), *(w >> 9 for w in random_words(30, 4))]


def function_table(function, inputs):
    for bits in dict.fromkeys(inputs):
        result = function(single(bits))
        yield f"{bits:08x} " + ("nan" if math.isnan(result) else f"{single_bits(result):08x}")


def philox_table():
    for line in PUBLISHED_PHILOX.split("\n")[1:-1]:
        words = [int(word, 16) for word in line.split()]
        if law.philox(words[:4], words[4:6]) != tuple(words[6:]):
            sys.exit(f"this Philox is not Random123's: {line}")
        yield line


def stream_table():
    for name in ("shuffle:train", *("init:" + parameter for parameter in LENET)):
        yield f"{name} {law.stream(name):08x}"


def double_log_table():
    least = double_bits(law.DOUBLE_LOG_LEAST)
    one = double_bits(1.0)
    inputs = [*neighbours(least, 2), *neighbours(least + (1 << 52), 2), *neighbours(one, 2), double_bits(2.0 ** -1022),
              0x7FEFFFFFFFFFFFFF,
              *(double_bits(rounded(fractions.Fraction(2 * w + 1, 2 ** 33), DOUBLE)) for w in random_words(60, 5)),
              *(0x0010000000000000 + ((high << 32 | low) % 0x7FE0000000000000)
                for high, low in zip(random_words(40, 6), random_words(40, 7)))]
    for bits in dict.fromkeys(inputs):
        yield f"{bits:016x} {double_bits(law.double_log(double(bits))):016x}"


def normal_table():
    central = [fractions.Fraction(75, 1000) * 2 ** 32, fractions.Fraction(925, 1000) * 2 ** 32]  # |q| = 0.425
    logs = [fractions.Fraction(law.DOUBLE_LOG_LEAST) * 2 ** (32 - k) for k in range(3, 31, 3)]
    words = [0, 1, 2, 2 ** 32 - 1, 2 ** 32 - 2, *neighbours(2 ** 31, 2),
             *(w for x in (*central, *logs) for w in neighbours(round(x), 2)), *random_words(200, 8)]
    for word in dict.fromkeys(words):
        yield f"{word:08x} {double_bits(law.normal(word)):016x}"


def weight_table():
    """seed, parameter, element, bits: of the model lenet."""
    for seed in SEEDS:
        for parameter, size in LENET.items():
            for element in (0, 1, 2, 3, 4, 7, size // 2, size - 2, size - 1):
                weight = law.initial_weight(seed, parameter, element, LENET_SIGMA)
                yield f"{seed} {parameter} {element} {single_bits(weight):08x}"


def uniform_table():
    """seed, parameter, element, bits: of lenet with Kaiming's bounds for convolutions and Xavier's for linear layers."""
    fans = {"conv1.weight": 9, "conv2.weight": 500, "linear1.weight": 800 + 128, "linear2.weight": 128 + 10}
    for seed in SEEDS:
        for parameter, size in LENET.items():
            for element in (0, 1, 2, 3, 4, 7, size // 2, size - 2, size - 1):
                weight = law.uniform_weight(seed, parameter, element, fans[parameter])
                yield f"{seed} {parameter} {element} {single_bits(weight):08x}"


def dropout_table():
    """seed, epoch, layer, elements of the layer, example of the dataset, element, its word."""
    for seed in SEEDS:
        for layer, elements in (("dropout1", 500), ("drop_of_images", 3 * 5 * 7), ("dropout1", 1)):
            for epoch, example in ((1, 0), (1, 1), (2, 59999), (300, 2 ** 32 - 1)):
                for element in sorted({0, elements // 2, max(elements - 2, 0), elements - 1}):
                    word = law.dropout_word(seed, epoch, layer, elements, example, element)
                    yield f"{seed} {epoch} {layer} {elements} {example} {element} {word:08x}"


def dropout_probability_table():
    """p as a double, the threshold, the scale of what is kept."""
    for p in (0.0, 5e-324, 2.0 ** -24, 1.5 * 2.0 ** -24, 0.1, 0.2, 0.25, 0.3, 0.5, 2 / 3, 0.9, 1 - 2.0 ** -24,
              1 - 2.0 ** -25, 1 - 2.0 ** -53):
        yield f"{double_bits(p):016x} {law.dropout_threshold(p):08x} {single_bits(law.dropout_scale(p)):08x}"


def shuffle_table():
    """seed, epoch, then the order of as many indices as follow."""
    for seed in SEEDS:
        for epoch in (1, 2, 10):
            for count in (1, 2, 5, 50):
                yield " ".join(map(str, (seed, epoch, *law.shuffle(seed, epoch, count))))


TABLES = {"exp": lambda: function_table(law.exp, exp_inputs()), "log": lambda: function_table(law.log, log_inputs()),
          "philox": philox_table, "streams": stream_table, "double_log": double_log_table, "normal": normal_table,
          "initial_weights": weight_table, "uniform_weights": uniform_table,
          "shuffles": shuffle_table, "dropout": dropout_table,
          "dropout_probabilities": dropout_probability_table, "optimizers": pytorch.table,
          "batch_norm": batch_norm.table, "resnet18": book_network.table}


def main():
    write = sys.argv[1:] == ["--write"]
    for name, rows in TABLES.items():
        path, text = HERE / f"{name}.txt", "\n".join(rows()) + "\n"
        if write:
            path.write_text(text)
        elif path.read_text() != text:
            sys.exit(f"{path}: another table is found; see the difference with {HERE}/tables.py --write")
    print(f"{len(TABLES)} tables " + ("written" if write else "confirmed"))


if __name__ == "__main__":
    main()
