#!/usr/bin/env python3
"""Trains LeNet and resnet8 with many seeds, with fast and with direct convolution, and writes docs/accuracy.md.

    bench/accuracy.py build/release [--keep FOLDER] [--only SECTION,..]

The tables depend on the seeds alone: any machine, device count, thread count and loop order gives the same numbers and
hashes. Runs that are already in --keep are not made again. --only makes some sections again and leaves the others as they
stand: lenet, resnet8, residual, kernels, norm, runs.
"""
import argparse
import csv
import dataclasses
import json
import math
import pathlib
import statistics
import subprocess
import tempfile

DOCUMENT = pathlib.Path(__file__).resolve().parent.parent / "docs" / "accuracy.md"
RULES = ("fast", "direct")
HEAD = """# Accuracy

Made by `bench/accuracy.py`. Fast convolution rounds differently from direct convolution. This page shows that a network trains
equally well with both, and how far the kernels of each are from exact arithmetic. All numbers here are the same on every
machine, for every number of devices and threads and for every loop order. LeNet's fast layer has tiles of 4; networks with
tiles of 7 have only been compared layer by layer until a section "Training with tiles of 7" stands here
(`bench/accuracy.py --only resnet8`, 20 trainings).

"""
# Medians of the book's 43 officially executed notebooks with the corrected allreduce, one GPU.
BOOK = [0.100, 0.628, 0.727, 0.762, 0.784, 0.800, 0.809, 0.814, 0.822, 0.830]


@dataclasses.dataclass(frozen=True)
class Study:
    """A network with either rule. The margin of equivalence was chosen before the runs."""
    model: str
    seeds: int
    epochs: int
    margin: float


LENET = Study("lenet", seeds=30, epochs=10, margin=0.015)
RESNET8 = Study("resnet8", seeds=10, epochs=10, margin=0.01)


RESIDUAL = ("resnet8", "--epochs", "3", "--optimizer", "adam", "--lr", "0.005", "--schedule", "cosine")


def train(binary, out, *job):
    command = [binary, "train", *job, "--out", out, "--json", "--no-record"]
    result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    with open(out / "results.csv", newline="") as file:
        accuracy = [float(row["test_accuracy"]) for row in csv.DictReader(file)]
    return {"accuracy": accuracy, "weights": result["weights"], "file": str(out / "weights.safetensors")}


def run_of(binary, study, seed, rule, folder):
    kept = pathlib.Path(folder) / f"{study.model}-{rule}-{seed}.json"
    if not kept.exists():
        out = pathlib.Path(folder) / f"{study.model}-{rule}-{seed}"
        job = (study.model, "--epochs", str(study.epochs), "--seed", str(seed), "--convolution", rule)
        kept.write_text(json.dumps(train(binary, out, *job)))
    run = json.loads(kept.read_text())
    print(f"{study.model} seed {seed} {rule}: {run['accuracy'][-1]:.4f} {run['weights']}", flush=True)
    return run


def all_runs(binary, study, folder):
    runs = {rule: [] for rule in RULES}
    for seed in range(study.seeds):
        for rule in RULES:
            runs[rule].append(run_of(binary, study, seed, rule, folder))
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


def equivalence(study, runs):
    """Two one-sided tests at 5 %: equivalent if the 90 % interval of the difference lies inside the margin (Welch)."""
    fast, direct = ([run["accuracy"][-1] for run in runs[rule]] for rule in RULES)
    n = len(fast)
    difference = statistics.mean(fast) - statistics.mean(direct)
    a, b = statistics.variance(fast) / n, statistics.variance(direct) / n
    error = math.sqrt(a + b)
    freedom = (a + b) ** 2 / ((a * a + b * b) / (n - 1))
    half = student_t_quantile(0.95, freedom) * error
    inside = -study.margin < difference - half and difference + half < study.margin
    return (f"Mean of fast minus mean of direct: {difference:+.4f}, 90 % interval {difference - half:+.4f} to "
            f"{difference + half:+.4f} (Welch, {n} seeds each). It {'lies' if inside else 'DOES NOT lie'} inside "
            f"±{study.margin}: by two one-sided tests at 5 % the two are {'' if inside else 'NOT shown to be '}equivalent at "
            f"that margin.\n")


def row(name, accuracy, rest=""):
    return f"| {name} | " + " | ".join(f"{a:.3f}" for a in accuracy) + f" | {rest} |\n"


def training_tables(study, runs, more_rows=""):
    text = ("Test accuracy after the last epoch:\n\n| | mean | standard deviation | lowest | median | highest |\n"
            "|---|---|---|---|---|---|\n")
    for rule in RULES:
        last = [run["accuracy"][-1] for run in runs[rule]]
        text += (f"| {rule}, {len(last)} seeds | {statistics.mean(last):.4f} | {statistics.stdev(last):.4f} | "
                 f"{min(last):.4f} | {statistics.median(last):.4f} | {max(last):.4f} |\n")
    text += "\n" + equivalence(study, runs) + "\nMedians after each epoch:\n\n| | " + " | ".join(
        str(e + 1) for e in range(study.epochs)) + " |  |\n" + "|---" * (study.epochs + 2) + "|\n"
    for rule in RULES:
        text += row(rule, [statistics.median(run["accuracy"][e] for run in runs[rule]) for e in range(study.epochs)])
    return text + more_rows + "\n"


def lenet_section(runs):
    return ("## Training\nLeNet on Fashion-MNIST as the book trains it: minibatches of 256, learning rate 0.2, 10 epochs. " +
            training_tables(LENET, runs, row("the book", BOOK)) +
            "After the first epoch the accuracy is still that of chance, because initial weights of N(0, 0.01) make the signal "
            "smaller from layer to layer, and the loss falls only when the weights have grown. The book's runs do the same.\n\n")


def resnet8_section(runs):
    return ("## Training with tiles of 7\nresnet8 on Fashion-MNIST. Under `fast` its layers of 32 and 64 channels have tiles of 7, "
            f"those of 16 channels tiles of 4. {RESNET8.epochs} epochs of minibatches of 256. " +
            training_tables(RESNET8, runs))


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
        errors.setdefault((line["data"], line["pass"]), {})[line["tile"]] = line
    text = ("## Kernels\nThe error of a result is its difference from the same sum in double precision, divided by the root mean "
            "square of all results. The table has the root mean square of the errors and the largest error, of the direct "
            "algorithm and of fast convolution with tiles of t x t outputs. More outputs a tile need more frequencies and larger "
            "constants: tiles of 7 have 5 to 12 times the error of tiles of 4. (PyTorch's default for convolutions on GPUs, TF32, "
            "rounds operands to 11 bits: about 3e-4.) Trained LeNet is seed 0 after ten epochs, on the first 256 pictures of the "
            "test set; Gaussian operands are N(0, 1).\n\n"
            "| operands | pass | t | rms | direct, rms | largest | direct, largest |\n|---|---|---|---|---|---|---|\n")
    for (data, name), tiles in errors.items():
        direct = tiles[0]
        for tile, fast in list(tiles.items())[1:]:
            text += (f"| {data} | {name} | {tile} | {fast['rms']:.1e} | {direct['rms']:.1e} | {fast['max']:.1e} | "
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


# Section by section: its name for --only, its heading, how it is made.
def sections(options, folder):
    binary = options.build / "lockstep"
    return (("lenet", "Training", lambda: lenet_section(all_runs(binary, LENET, folder))),
            ("resnet8", "Training with tiles of 7", lambda: resnet8_section(all_runs(binary, RESNET8, folder))),
            ("residual", "A residual network",
             lambda: residual_section(train(binary, pathlib.Path(folder) / "residual", *RESIDUAL))),
            ("kernels", "Kernels",
             lambda: kernel_section(options.build, run_of(binary, LENET, 0, "fast", folder)["file"])),
            ("norm", "Batch norm", lambda: norm_section(options.build)),
            ("runs", "Runs", lambda: hashes_section(all_runs(binary, LENET, folder))))


def standing_section(heading):
    """What the document has under this heading; nothing if it has none."""
    for part in DOCUMENT.read_text().split("\n## ")[1:]:
        if part.split("\n")[0] == heading:
            return f"## {part.rstrip()}\n\n"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="the folder with lockstep and its bench/")
    parser.add_argument("--only", help="sections to make again, separated by commas; the others stay")
    parser.add_argument("--keep", help="a folder for the runs, so that a stopped script goes on where it was")
    options = parser.parse_args()
    wanted = options.only.split(",") if options.only else None
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or temporary
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        made = sections(options, folder)
        unknown = set(wanted or ()) - {name for name, _, _ in made}
        if unknown:
            parser.error(f"--only: there is no section {', '.join(sorted(unknown))}")
        text = HEAD + "".join(make() if wanted is None or name in wanted else standing_section(heading)
                              for name, heading, make in made)
    DOCUMENT.write_text(text.rstrip() + "\n")


if __name__ == "__main__":
    main()
