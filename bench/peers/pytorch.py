#!/usr/bin/env python3
"""Times LeNet's training step in one process of PyTorch, in every setting that may be its best, in turns with Lockstep.

Prints medians as seconds per epoch (235 steps) and how many times Lockstep is faster than PyTorch's best.
"""
import lenet


def main():
    parser = lenet.arguments_parser(__doc__)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()

    lenet.prepare_torch(arguments.threads)
    data = lenet.load_data()
    settings = [lenet.Setting(f"{mode}, {memory_format}", lenet.Loss(memory_format), mode,
                              lenet.in_format(data, memory_format))
                for mode in lenet.MODES for memory_format in lenet.FORMATS]
    for setting in settings:
        setting.warm_up()
    reports = []
    for _ in range(arguments.rounds):
        for setting in settings:
            setting.turn(arguments.steps)
        reports.append(lenet.lockstep_turn(arguments.lockstep, {"--threads": arguments.threads}))
    lenet.print_table(f"{arguments.threads} thread(s)", settings, reports)


if __name__ == "__main__":
    main()
