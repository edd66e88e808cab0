#!/usr/bin/env python3
"""Times a training step in one process of PyTorch, in every setting that may be its best, in turns with Lockstep.

Prints medians as seconds per epoch (235 steps) and how many times Lockstep is faster than PyTorch's best.
"""
import os

import training


def main():
    parser = training.arguments_parser(__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--model", choices=training.NETWORKS, default="lenet")
    arguments = parser.parse_args()

    training.prepare_torch(arguments.threads)
    work = training.WORK[arguments.model]
    data = training.data_for(work)
    settings = [training.Setting(f"{mode}, {memory_format}", training.Loss(memory_format, arguments.model), mode,
                              training.in_format(data, memory_format), work)
                for mode in training.MODES for memory_format in training.FORMATS]
    for setting in settings:
        setting.warm_up()
    reports = []
    for _ in range(arguments.rounds):
        for setting in settings:
            setting.turn(arguments.steps or work.steps)
        reports.append(training.lockstep_turn(arguments.lockstep, {"--model": arguments.model, "--batch": work.batch,
                                                                   "--threads": arguments.threads}))
    allocator = "jemalloc" if "jemalloc" in os.environ.get("LD_PRELOAD", "") else "the C library's allocator"
    training.print_table(f"{arguments.threads} thread(s), minibatches of {work.batch}, PyTorch with {allocator}", settings,
                         reports)


if __name__ == "__main__":
    main()
