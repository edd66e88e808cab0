#!/usr/bin/env python3
"""Carries the weights of resnet18 to the book's PyTorch network and back.

Lockstep trains on the first 256 pictures of Fashion-MNIST. PyTorch loads weights.safetensors with
load_state_dict(strict=True) and evaluates them; Lockstep evaluates and trains from what PyTorch saves, whose tensors must
have the hash of the run's. Prints both losses; ends with 1 if they differ by more than 1e-4 or the hashes differ.
"""
import argparse
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

import networks
import torch
import training
from safetensors.torch import load_file, save_file


def write_data(folder):
    """The first pictures as IDX files; gives the test set."""
    for part, count in (("train", 256), ("t10k", 64)):
        images, labels = training.load_data(part)
        images, labels = images[:count], labels[:count]
        pixels = (images * 255).round().to(torch.uint8).numpy().tobytes()
        (folder / f"{part}-images-idx3-ubyte").write_bytes(struct.pack(">4I", 0x803, count, 28, 28) + pixels)
        (folder / f"{part}-labels-idx1-ubyte").write_bytes(struct.pack(">2I", 0x801, count)
                                                           + labels.to(torch.uint8).numpy().tobytes())
    return images, labels


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lockstep", required=True, help="the program")
    arguments = parser.parse_args()

    def lockstep(*words):
        command = [arguments.lockstep, *map(str, words), "--json"]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=folder).stdout)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        images, labels = write_data(folder)
        run = lockstep("train", "resnet18", "--data", folder, "--batch", 64, "--lr", 0.05, "--epochs", 1, "--out", "run")
        network = networks.resnet18().eval()
        network.load_state_dict(load_file(folder / "run/weights.safetensors"), strict=True)
        with torch.no_grad():
            loss = torch.nn.functional.cross_entropy(network(images), labels).item()
        save_file(network.state_dict(), folder / "back.safetensors")
        back = lockstep("eval", "back.safetensors", "--model", "resnet18", "--data", folder)
        further = lockstep("train", "resnet18", "--data", folder, "--load", "back.safetensors", "--batch", 256,
                           "--epochs", 1, "--out", "further")
    print(f"loss of Lockstep {run['loss']:.6f}, of PyTorch {loss:.6f}, of Lockstep with PyTorch's file {back['loss']:.6f}")
    print(f"hash of the run's weights {run['weights']}, of PyTorch's file {back['weights']}; trained on: {further['weights']}")
    if back["weights"] != run["weights"] or not abs(loss - run["loss"]) < 1e-4:
        sys.exit("bench/peers: the weights did not come through")


if __name__ == "__main__":
    main()
