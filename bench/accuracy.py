#!/usr/bin/env python3
"""Trains LeNet with many seeds, with fast and with direct convolution, and writes docs/accuracy.md.

    bench/accuracy.py build/release [--seeds 30]

The tables depend on the seeds alone: any machine, device count, thread count and loop order gives the same numbers and
hashes. Runs that are already in --keep are not made again.
"""
import argparse
import csv
import json
import math
import pathlib
import statistics
import subprocess
import tempfile

DOCUMENT = pathlib.Path(__file__).resolve().parent.parent / "docs" / "accuracy.md"
RULES = ("fast", "direct")
MARGIN = 0.015
HEAD = """# Accuracy

Made by `bench/accuracy.py`. Fast convolution rounds differently from direct convolution. This page shows that a network trains
equally well with both, and how far the kernels of each are from exact arithmetic. All numbers here are the same on every
machine, for every number of devices and threads and for every loop order.

"""
# Medians of the book's 43 officially executed notebooks with the corrected allreduce, one GPU.
BOOK = [0.100, 0.628, 0.727, 0.762, 0.784, 0.800, 0.809, 0.814, 0.822, 0.830]


RESIDUAL = ("resnet8", "--epochs", "3", "--optimizer", "adam", "--lr", "0.005", "--schedule", "cosine")


def train(binary, out, *job):
    command = [binary, "train", *job, "--out", out, "--json", "--no-record"]
    result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    with open(out / "results.csv", newline="") as file:
        accuracy = [float(row["test_accuracy"]) for row in csv.DictReader(file)]
    return {"accuracy": accuracy, "weights": result["weights"], "file": str(out / "weights.safetensors")}


def all_runs(binary, seeds, folder):
    runs = {rule: [] for rule in RULES}
    for seed in range(seeds):
        for rule in RULES:
            kept = pathlib.Path(folder) / f"{rule}-{seed}.json"
            if not kept.exists():
                out = pathlib.Path(folder) / f"{rule}-{seed}"
                kept.write_text(json.dumps(train(binary, out, "--seed", str(seed), "--convolution", rule)))
            runs[rule].append(json.loads(kept.read_text()))
            print(f"seed {seed} {rule}: {runs[rule][-1]['accuracy'][-1]:.4f} {runs[rule][-1]['weights']}", flush=True)
    return runs


def student_t_quantile(probability, freedom):
    """By bisection on the integral of the density: no library needed for one number."""
    factor = math.gamma((freedom + 1) / 2) / (math.sqrt(freedom * math.pi) * math.gamma(freedom / 2))

    def density(t):
        return factor * (1 + t * t / freedom) ** (-(freedom + 1) / 2)

    def distribution(t, parts=2000):
        step = t / parts
        inner = sum((4 if i % 2 else 2) * density(i * step) for i in range(1, parts))
        return 0.5 + step / 3 * (density(0) + inner + density(t))

    low, high = 0.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if distribution(middle) < probability else (low, middle)
    return low


def equivalence(runs):
    """Two one-sided tests at 5 %: equivalent if the 90 % interval of the difference lies inside the margin (Welch)."""
    fast, direct = ([run["accuracy"][-1] for run in runs[rule]] for rule in RULES)
    n = len(fast)
    difference = statistics.mean(fast) - statistics.mean(direct)
    a, b = statistics.variance(fast) / n, statistics.variance(direct) / n
    error = math.sqrt(a + b)
    freedom = (a + b) ** 2 / ((a * a + b * b) / (n - 1))
    half = student_t_quantile(0.95, freedom) * error
    inside = -MARGIN < difference - half and difference + half < MARGIN
    return (f"Mean of fast minus mean of direct: {difference:+.4f}, 90 % interval {difference - half:+.4f} to "
            f"{difference + half:+.4f} (Welch, {n} seeds each). It {'lies' if inside else 'DOES NOT lie'} inside "
            f"±{MARGIN}: by two one-sided tests at 5 % the two are {'' if inside else 'NOT shown to be '}equivalent at "
            f"that margin.\n")


def row(name, accuracy, rest=""):
    return f"| {name} | " + " | ".join(f"{a:.3f}" for a in accuracy) + f" | {rest} |\n"


def training_section(runs):
    epochs = len(runs["fast"][0]["accuracy"])
    text = ("## Training\nLeNet on Fashion-MNIST as the book trains it: minibatches of 256, learning rate 0.2, 10 epochs. "
            "Test accuracy after the last epoch:\n\n| | mean | standard deviation | lowest | median | highest |\n"
            "|---|---|---|---|---|---|\n")
    for rule in RULES:
        last = [run["accuracy"][-1] for run in runs[rule]]
        text += (f"| {rule}, {len(last)} seeds | {statistics.mean(last):.4f} | {statistics.stdev(last):.4f} | "
                 f"{min(last):.4f} | {statistics.median(last):.4f} | {max(last):.4f} |\n")
    text += "\n" + equivalence(runs) + "\nMedians after each epoch:\n\n| | " + " | ".join(
        str(e + 1) for e in range(epochs)) + " |  |\n" + "|---" * (epochs + 2) + "|\n"
    for rule in RULES:
        text += row(rule, [statistics.median(run["accuracy"][e] for run in runs[rule]) for e in range(epochs)])
    text += row("the book", BOOK)
    text += ("\nAfter the first epoch the accuracy is still that of chance, because initial weights of N(0, 0.01) make the "
             "signal smaller from layer to layer, and the loss falls only when the weights have grown. The book's runs do the "
             "same.\n\n")
    return text


def residual_section(run):
    text = ("## A residual network\n`lockstep train " + " ".join(RESIDUAL) + "`, with minibatches of 256 and batch norm over the "
            "minibatch. Test accuracy after each epoch, and the weights:\n\n| | ")
    text += " | ".join(str(e + 1) for e in range(len(run["accuracy"]))) + " | weights |\n"
    text += "|---" * (len(run["accuracy"]) + 2) + "|\n| seed 0 | "
    return text + " | ".join(f"{a:.4f}" for a in run["accuracy"]) + f" | `{run['weights']}` |\n\n"


def kernel_section(build, weights):
    lines = subprocess.run([build / "bench" / "kernel_error", weights], check=True, capture_output=True, text=True).stdout
    errors = {}
    for line in map(json.loads, lines.splitlines()):
        errors.setdefault((line["data"], line["pass"]), {})[line["rule"]] = line
    text = ("## Kernels\nThe error of a result is its difference from the same sum in double precision, divided by the root mean "
            "square of all results. The table has the root mean square of the errors and the largest error. Trained LeNet is "
            "seed 0 after ten epochs, on the first 256 pictures of the test set; Gaussian operands are N(0, 1).\n\n"
            "| operands | pass | fast, rms | direct, rms | fast, largest | direct, largest |\n|---|---|---|---|---|---|\n")
    for (data, name), rules in errors.items():
        fast, direct = rules["fast"], rules["direct"]
        text += (f"| {data} | {name} | {fast['rms']:.1e} | {direct['rms']:.1e} | {fast['max']:.1e} | "
                 f"{direct['max']:.1e} |\n")
    return text + "\n"


def norm_section(build):
    lines = subprocess.run([build / "bench" / "norm_error"], check=True, capture_output=True, text=True).stdout
    text = ("## Batch norm\nThe same errors of batch norm, in training, on Gaussian numbers of deviation 1 whose mean is 0 to 1,000: "
            "16 channels of 256 examples of 8x8. The variance's error is relative. The law's output is one fma an element, which "
            "can be joined to the layer in front or behind. The form (x - mean) * r is a little nearer to exact arithmetic where the "
            "mean is not zero; far from zero the rounding of the mean limits both.\n\n"
            "| mean / deviation | variance, rms | largest | output, rms | largest | (x - mean) * r, rms | largest |\n"
            "|---|---|---|---|---|---|---|\n")
    for line in map(json.loads, lines.splitlines()):
        text += f"| {line['mean']:,} | " + " | ".join(
            f"{line[what][size]:.1e}" for what in ("variance", "output", "centred") for size in ("rms", "max")) + " |\n"
    return text + "\n"


def hashes_section(runs):
    text = ("## Runs\n`lockstep train --seed S --convolution RULE` ends with these weights, on any machine:\n\n"
            "| seed | fast | weights | direct | weights |\n|---|---|---|---|---|\n")
    for seed, (fast, direct) in enumerate(zip(runs["fast"], runs["direct"])):
        text += (f"| {seed} | {fast['accuracy'][-1]:.4f} | `{fast['weights']}` | {direct['accuracy'][-1]:.4f} | "
                 f"`{direct['weights']}` |\n")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="the folder with lockstep and its bench/")
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--keep", help="a folder for the runs, so that a stopped script goes on where it was")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or temporary
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        runs = all_runs(options.build / "lockstep", options.seeds, folder)
        residual = train(options.build / "lockstep", pathlib.Path(folder) / "residual", *RESIDUAL)
        text = HEAD + training_section(runs) + residual_section(residual) + kernel_section(options.build, runs["fast"][0]["file"])
        text += norm_section(options.build) + hashes_section(runs)
    DOCUMENT.write_text(text)


if __name__ == "__main__":
    main()
