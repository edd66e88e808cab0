#!/usr/bin/env python3
"""Times whole trainings, start to finish: `lockstep train` in turns with PyTorch scripts that do the same work.

A run starts a process, loads the data, trains LeNet for some epochs on shuffled minibatches of 256 and evaluates every
epoch on the test set; PyTorch also imports and compiles. Prints seconds and how many times Lockstep is faster.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import training
import torch

MEMORY_FORMAT = "channels_last"  # the faster one in every mode of pytorch.py
EVALUATED_AT_ONCE = 1000


def train(mode, epochs, threads):
    """PyTorch's side of the bench, in a process of its own."""
    training.prepare_torch(threads)
    images, labels = training.load_data()
    test_images, test_labels = training.in_format(training.load_data("t10k"), MEMORY_FORMAT)
    loss = training.Loss(MEMORY_FORMAT)
    setting = training.Setting(mode, loss, mode, (images, labels))
    whole = len(labels) // training.BATCH  # the last 96 examples are left out: their graph would be compiled, too
    for epoch in range(epochs):
        order = torch.randperm(len(labels))
        setting.images, setting.labels = training.in_format((images[order], labels[order]), MEMORY_FORMAT)
        setting.position = 0
        total = sum(setting.step() for _ in range(whole))
        with torch.no_grad():
            right = sum((loss.network(x).argmax(1) == y).sum() for x, y in
                        zip(test_images.split(EVALUATED_AT_ONCE), test_labels.split(EVALUATED_AT_ONCE)))
        print(f"epoch {epoch + 1}: loss {total.item() / whole:.3f}", file=sys.stderr)
    print(json.dumps({"accuracy": right.item() / len(test_labels)}))


def timed(command):
    start = time.perf_counter()
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return time.perf_counter() - start, json.loads(output)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lockstep", help="the program to compare with")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=3, help="runs of each, at least 2")
    parser.add_argument("--only", choices=training.MODES, help="train in PyTorch in this mode, and nothing else")
    arguments = parser.parse_args()
    if arguments.only:
        return train(arguments.only, arguments.epochs, arguments.threads)
    if not arguments.lockstep:
        parser.error("--lockstep is needed")

    work = ["--epochs", str(arguments.epochs), "--threads", str(arguments.threads)]
    runs = {f"PyTorch {mode}": [sys.executable, __file__, *work, "--only", mode] for mode in training.MODES}
    seconds = {name: [] for name in [*runs, "Lockstep"]}
    for _ in range(arguments.rounds):
        with tempfile.TemporaryDirectory() as directory:
            runs["Lockstep"] = [arguments.lockstep, "train", *work, "--json", "--out", f"{directory}/run"]
            for name, command in runs.items():
                elapsed, report = timed(command)
                seconds[name].append(elapsed)
                print(f"{name}: {elapsed:.1f} s {report}", file=sys.stderr)
    print(f"\nLeNet, {arguments.epochs} epochs on {arguments.threads} thread(s), start to finish, "
          f"{arguments.rounds} runs each; PyTorch {torch.__version__}")
    training.print_rows(seconds, "seconds")


if __name__ == "__main__":
    main()
