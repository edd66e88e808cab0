#!/usr/bin/env python3
"""Trains LeNet for ten epochs with several seeds and writes docs/accuracy.md.

    bench/accuracy.py build/release/lockstep [--seeds 10]

The table depends on the seeds alone: any machine, thread count and loop order gives the same numbers and hashes.
"""
import argparse
import csv
import json
import pathlib
import statistics
import subprocess
import tempfile

DOCUMENT = pathlib.Path(__file__).resolve().parent.parent / "docs" / "accuracy.md"
HEAD = """# Accuracy

Made by `bench/accuracy.py`. LeNet on Fashion-MNIST as the book trains it: minibatches of 256, learning rate 0.2,
10 epochs, direct convolution, law version 1. Test accuracy after each epoch; the numbers and the hashes are the same
on every machine, for every thread count and loop order.

"""
# Medians of the book's 43 officially executed notebooks with the corrected allreduce, one GPU.
BOOK = [0.100, 0.628, 0.727, 0.762, 0.784, 0.800, 0.809, 0.814, 0.822, 0.830]


def train(binary, seed, folder):
    out = pathlib.Path(folder) / f"seed-{seed}"
    command = [binary, "train", "--seed", str(seed), "--out", out, "--json"]
    result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    with open(out / "results.csv", newline="") as file:
        accuracy = [float(row["test_accuracy"]) for row in csv.DictReader(file)]
    return accuracy, result["weights"]


def row(name, accuracy, weights):
    return f"| {name} | " + " | ".join(f"{a:.3f}" for a in accuracy) + f" | {weights} |\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.seeds):
            runs.append(train(options.binary, seed, folder))
            print(f"seed {seed}: {runs[-1][0][-1]:.4f} {runs[-1][1]}", flush=True)
    epochs = list(zip(*(accuracy for accuracy, _ in runs)))
    last = epochs[-1]
    text = HEAD
    text += "| seed | " + " | ".join(str(e + 1) for e in range(len(epochs))) + " | weights |\n"
    text += "|---" * (len(epochs) + 2) + "|\n"
    for seed, (accuracy, weights) in enumerate(runs):
        text += row(seed, accuracy, f"`{weights}`")
    text += row("median", [statistics.median(e) for e in epochs], "")
    text += row("the book's median", BOOK, "")
    text += (f"\nAfter ten epochs: mean {statistics.mean(last):.4f}, from {min(last):.4f} to {max(last):.4f}, "
             f"standard deviation {statistics.stdev(last):.4f}.\n"
             "\nThe first epoch stays at chance because weights of N(0, 0.01) shrink the signal; the book's runs do the "
             "same.\n")
    DOCUMENT.write_text(text)


if __name__ == "__main__":
    main()
