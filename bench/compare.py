#!/usr/bin/env python3
"""Compares the speed of two builds of Lockstep, in turns: is the second slower than the first?

    bench/compare.py OLD NEW --pairs 40 -- --threads 1
    bench/compare.py OLD NEW --pairs 40 --eval RUN

OLD and NEW are programs (build/release/lockstep of two clones). What stands behind `--` goes to `lockstep bench
--step-only`. With --eval, `lockstep eval RUN` is timed instead, from the start of the program to its end. A pair is one run
of each, in an order that changes from pair to pair. Prints OLD's time divided by NEW's: the median over the pairs, its
quartiles, and the interval that holds the true median with 95 % (from the order of the pairs' ratios alone, so it holds
for noise of any distribution).
"""
import argparse
import json
import math
import statistics
import subprocess
import sys
import time


def step_seconds(program, options, seconds):
    command = [program, "bench", "--step-only", "--seconds", str(seconds), "--json", *options]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return json.loads(output)["step"]["seconds_per_epoch"]


def eval_seconds(program, run):
    start = time.perf_counter()
    subprocess.run([program, "eval", run], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def interval_of_median(ordered):
    """The narrowest pair of order statistics that holds the median with 95 %, or all values where there are few."""
    count, outside = len(ordered), 0.0
    for first in range((count + 1) // 2):
        outside += 2 * math.comb(count, first) / 2**count
        if outside > 0.05:
            return ordered[max(first - 1, 0)], ordered[min(count - first, count - 1)]
    return ordered[0], ordered[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=1, help="of each run of bench")
    parser.add_argument("--eval", metavar="RUN", help="time `lockstep eval RUN` instead of a step")
    words = sys.argv[1:]
    own = words.index("--") if "--" in words else len(words)
    arguments, bench_options = parser.parse_args(words[:own]), words[own + 1:]

    def measure(program):
        if arguments.eval:
            return eval_seconds(program, arguments.eval)
        return step_seconds(program, bench_options, arguments.seconds)

    ratios = []
    for pair in range(arguments.pairs):
        times = {}
        for side in ("old", "new") if pair % 2 == 0 else ("new", "old"):
            times[side] = measure(getattr(arguments, side))
        ratios.append(times["old"] / times["new"])
        print(f"pair {pair + 1}: {ratios[-1]:.3f}", file=sys.stderr)
    ratios.sort()
    lower, _, upper = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
    low, high = interval_of_median(ratios)
    print(f"new against old: {statistics.median(ratios):.3f}, quartiles {lower:.3f} to {upper:.3f}, "
          f"95 % of the median {low:.3f} to {high:.3f}, {len(ratios)} pairs")


if __name__ == "__main__":
    main()
