"""A training step in PyTorch, as pytorch.py, ddp.py and wall.py time it in turns with Lockstep.

Minibatches of 256, learning rate 0.2, Fashion-MNIST as float tensors in memory (WORK has what other models need), no
DataLoader; the loss is read once a turn. Times are seconds per epoch of 60,000 examples.
"""
import argparse
import collections
import gzip
import json
import math
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
from networks import NETWORKS  # noqa: E402
from torch import nn  # noqa: E402

BATCH, LEARNING_RATE, EXAMPLES = 256, 0.2, 60000  # of an epoch
DATA = pathlib.Path("/usr/share/datasets/fashion-mnist")
MODES = {"eager": None, "compile": "default", "compile max-autotune": "max-autotune"}
# What a model is timed with: minibatches, learning rate, steps of a turn, the shape of synthetic pictures (None: Fashion-MNIST),
# and what the loss stays below: the few steps of a large model need not lower it, but NaN and infinity end the run.
Work = collections.namedtuple("Work", "batch rate steps shape limit", defaults=(BATCH, LEARNING_RATE, 40, None, 3))
WORK = {"lenet": Work(), "resnet8": Work(), "resnet18": Work(rate=0.1, steps=2, limit=math.inf),
        "alexnet": Work(batch=128, rate=0.01, steps=4, shape=(3, 64, 64), limit=math.inf),
        "vgg11": Work(batch=128, rate=0.01, steps=4, shape=(3, 32, 32), limit=math.inf)}
FORMATS = {"contiguous": torch.contiguous_format, "channels_last": torch.channels_last}


def arguments_parser(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--lockstep", required=True, help="the program to compare with")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each setting, at least 2")
    parser.add_argument("--steps", type=int, help="steps of a turn (default: 40, fewer of large models)")
    return parser


def prepare_torch(threads):
    torch.set_num_threads(threads)
    torch.set_num_interop_threads(1)
    torch.manual_seed(0)


def compiled(model, mode):
    # Here, for a run that does not compile need not wait for them.
    from torch._dynamo import config as dynamo
    from torch._inductor import config as inductor

    # Every setting compiles the same function; beyond the limit, torch would run it eagerly and only warn.
    dynamo.recompile_limit = 64
    dynamo.fail_on_recompile_limit_hit = True
    if TARGET == "avx2":
        inductor.cpp.simdlen = 256
    return torch.compile(model, mode=mode)


def read_idx(name, header):
    for path in (DATA / name, DATA / f"{name}.gz"):
        if path.exists():
            data = path.read_bytes()
            return numpy.frombuffer(gzip.decompress(data) if path.suffix == ".gz" else data, numpy.uint8)[header:]
    sys.exit(f"bench/peers: no {name} in {DATA}; install Debian's dataset-fashion-mnist")


def load_data(part="train"):
    images = torch.from_numpy(read_idx(f"{part}-images-idx3-ubyte", 16).copy()).view(-1, 1, 28, 28).float() / 255
    labels = torch.from_numpy(read_idx(f"{part}-labels-idx1-ubyte", 8).copy()).long()
    return images, labels


def data_for(work):
    if work.shape is None:
        return load_data()
    source = torch.Generator().manual_seed(0)
    count = 16 * work.batch
    return torch.rand(count, *work.shape, generator=source), torch.arange(count) % 10


class Loss(nn.Module):
    """A network and its mean loss in one module, so that one compiled graph holds both."""

    def __init__(self, memory_format, model="lenet"):
        super().__init__()
        self.network = NETWORKS[model]()
        self.cross_entropy = nn.CrossEntropyLoss()
        self.to(memory_format=FORMATS[memory_format])

    def forward(self, x, y):
        return self.cross_entropy(self.network(x), y)


class Setting:
    """One way to train: `model` gives the loss of a process's part of the minibatch; `name` is its row of the table."""

    def __init__(self, name, model, mode, data, work=Work(), processes=1):
        self.name = name
        self.optimizer = torch.optim.SGD(model.parameters(), lr=work.rate, fused=True)
        self.loss_of = model if MODES[mode] is None else compiled(model, MODES[mode])
        self.images, self.labels = data
        self.batch = work.batch // processes
        self.limit = work.limit
        self.steps_per_epoch = -(-EXAMPLES // work.batch)
        self.position = 0
        self.seconds = []

    def step(self):
        first, last = self.position, self.position + self.batch
        self.position = last % (len(self.labels) - self.batch)
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss_of(self.images[first:last], self.labels[first:last])
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def warm_up(self):
        for _ in range(3):  # compiles, and tunes
            self.step()

    def turn(self, steps):
        """Seconds per epoch at the pace of `steps` steps; one more comes first and is not counted."""
        self.step()
        start = time.perf_counter()
        total = torch.zeros(())
        for _ in range(steps):
            total += self.step()
        loss = total.item() / steps
        self.seconds.append((time.perf_counter() - start) / steps * self.steps_per_epoch)
        if not loss < self.limit:
            sys.exit(f"bench/peers: {self.name} does not learn, its loss is {loss}")


def in_format(data, memory_format):
    return data[0].contiguous(memory_format=FORMATS[memory_format]), data[1]


def lockstep_turn(binary, options):
    """What `lockstep bench` measures in two seconds with `options`, a mapping from option to value."""
    command = [binary, "bench", "--step-only", "--json", "--seconds", "2"]
    for option, value in options.items():
        command += [option, str(value)]
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment).stdout)


def spread(samples):
    low, middle, high = statistics.quantiles(samples, n=4, method="inclusive")
    return f"{middle:8.2f}{f'{low:.2f}-{high:.2f}':>16}"


def print_rows(samples, unit):
    """Medians and quartiles by name, Lockstep last, then the ratio to PyTorch's best."""
    medians = {name: statistics.median(values) for name, values in samples.items()}
    best = min((name for name in samples if name != "Lockstep"), key=medians.get)
    width = max(map(len, samples)) + 2
    print(f"{'':<{width}}{unit:>8}{'quartiles':>16}")
    for name, values in samples.items():
        print(f"{name:<{width}}{spread(values)}{'  best' if name == best else ''}")
    print(f"best PyTorch seconds / Lockstep seconds: {medians[best] / medians['Lockstep']:.2f}", flush=True)


def print_table(heading, settings, reports):
    """The turns of PyTorch's settings and Lockstep's reports."""
    print(f"\n{reports[-1]['model']}, {heading}, {len(reports)} turns each; PyTorch {torch.__version__} "
          f"({torch.backends.cpu.get_cpu_capability()}), Lockstep ({reports[-1]['target']}, "
          f"{reports[-1]['convolution']} convolution)")
    samples = {"PyTorch " + setting.name: setting.seconds for setting in settings}
    samples["Lockstep"] = [report["step"]["seconds_per_epoch"] for report in reports]
    print_rows(samples, "s/epoch")
