#!/usr/bin/env python3
"""Times LeNet's training step in PyTorch, in every setting that may be its best, in turns with Lockstep.

Book's LeNet, minibatches of 256, learning rate 0.2, Fashion-MNIST as float tensors in memory, no DataLoader; the loss
is read once a turn. Prints medians as seconds per epoch (235 steps) and how many times Lockstep is faster than
PyTorch's best.
"""
import argparse
import gzip
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

# Before torch is loaded: one instruction set for both sides.
TARGET = os.environ.get("LOCKSTEP_TARGET", "")
if TARGET == "avx2":
    os.environ.update(ATEN_CPU_CAPABILITY="avx2", ONEDNN_MAX_CPU_ISA="AVX2", DNNL_MAX_CPU_ISA="AVX2",
                      MKL_ENABLE_INSTRUCTIONS="AVX2")

import numpy  # noqa: E402
import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch._inductor import config as inductor  # noqa: E402

BATCH, LEARNING_RATE, STEPS_PER_EPOCH = 256, 0.2, 235
DATA = pathlib.Path("/usr/share/datasets/fashion-mnist")
MODES = {"eager": None, "compile": "default", "compile max-autotune": "max-autotune"}
FORMATS = {"contiguous": torch.contiguous_format, "channels_last": torch.channels_last}


def read_idx(name, header):
    for path in (DATA / name, DATA / f"{name}.gz"):
        if path.exists():
            data = path.read_bytes()
            return numpy.frombuffer(gzip.decompress(data) if path.suffix == ".gz" else data, numpy.uint8)[header:]
    sys.exit(f"pytorch.py: no {name} in {DATA}; install Debian's dataset-fashion-mnist")


def load_data():
    images = torch.from_numpy(read_idx("train-images-idx3-ubyte", 16).copy()).view(-1, 1, 28, 28).float() / 255
    labels = torch.from_numpy(read_idx("train-labels-idx1-ubyte", 8).copy()).long()
    return images, labels


def lenet():
    model = nn.Sequential(nn.Conv2d(1, 20, 3), nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(20, 50, 5), nn.ReLU(),
                          nn.AvgPool2d(2), nn.Flatten(), nn.Linear(800, 128), nn.ReLU(), nn.Linear(128, 10))
    for parameter in model.parameters():
        (nn.init.normal_(parameter, std=0.01) if parameter.dim() > 1 else nn.init.zeros_(parameter))
    return model


class Setting:
    def __init__(self, mode, memory_format, data):
        self.name = f"{mode}, {memory_format}"
        model = lenet().to(memory_format=FORMATS[memory_format])
        self.optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE, fused=True)
        cross_entropy = nn.CrossEntropyLoss()

        def loss_of(x, y):
            return cross_entropy(model(x), y)

        self.loss_of = loss_of if MODES[mode] is None else torch.compile(loss_of, mode=MODES[mode])
        self.images = data[0].contiguous(memory_format=FORMATS[memory_format])
        self.labels = data[1]
        self.position = 0
        self.seconds = []

    def step(self):
        first = self.position
        self.position = (first + BATCH) % (len(self.labels) - BATCH)
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss_of(self.images[first:first + BATCH], self.labels[first:first + BATCH])
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def turn(self, steps):
        """Seconds per epoch at the pace of `steps` steps; one more comes first and is not counted."""
        self.step()
        start = time.perf_counter()
        total = torch.zeros(())
        for _ in range(steps):
            total += self.step()
        loss = total.item() / steps
        self.seconds.append((time.perf_counter() - start) / steps * STEPS_PER_EPOCH)
        if not loss < 3:
            sys.exit(f"pytorch.py: {self.name} does not learn, its loss is {loss}")


def lockstep_turn(binary, threads, seconds):
    command = [binary, "bench", "--step-only", "--json", "--threads", str(threads), "--seconds", str(seconds)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def spread(samples):
    low, middle, high = statistics.quantiles(samples, n=4, method="inclusive")
    return f"{middle:8.2f}{f'{low:.2f}-{high:.2f}':>16}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lockstep", required=True, help="the program to compare with")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5, help="turns of each setting, at least 2")
    parser.add_argument("--steps", type=int, default=40, help="steps of a turn")
    arguments = parser.parse_args()

    torch.set_num_threads(arguments.threads)
    torch.set_num_interop_threads(1)
    torch.manual_seed(0)
    if TARGET == "avx2":
        inductor.cpp.simdlen = 256
    data = load_data()
    settings = [Setting(mode, memory_format, data) for mode in MODES for memory_format in FORMATS]
    for setting in settings:
        for _ in range(3):  # compiles, and tunes
            setting.step()
    lockstep = []
    for _ in range(arguments.rounds):
        for setting in settings:
            setting.turn(arguments.steps)
        report = lockstep_turn(arguments.lockstep, arguments.threads, 2)
        lockstep.append(report["step"]["seconds_per_epoch"])

    best = min(settings, key=lambda s: statistics.median(s.seconds))
    print(f"\nLeNet, {arguments.threads} thread(s), {arguments.rounds} turns each; "
          f"PyTorch {torch.__version__} ({torch.backends.cpu.get_cpu_capability()}), "
          f"Lockstep ({report['target']})")
    print(f"{'':<46}{'s/epoch':>8}{'quartiles':>16}")
    for setting in settings:
        mark = "  best" if setting is best else ""
        print(f"{'PyTorch ' + setting.name:<46}{spread(setting.seconds)}{mark}")
    print(f"{'Lockstep':<46}{spread(lockstep)}")
    ratio = statistics.median(best.seconds) / statistics.median(lockstep)
    print(f"best PyTorch seconds / Lockstep seconds: {ratio:.2f}", flush=True)


if __name__ == "__main__":
    main()
