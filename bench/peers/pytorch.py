#!/usr/bin/env python3
"""Times a training step in one process of PyTorch, in every setting that may be its best, in turns with Lockstep.

Prints medians as seconds per epoch (235 steps) and how many times Lockstep is faster than PyTorch's best.
"""
import training


def main():
    parser = training.arguments_parser(__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--model", choices=training.NETWORKS, default="lenet")
    arguments = parser.parse_args()

    training.prepare_torch(arguments.threads)
    data = training.load_data()
    settings = [training.Setting(f"{mode}, {memory_format}", training.Loss(memory_format, arguments.model), mode,
                              training.in_format(data, memory_format))
                for mode in training.MODES for memory_format in training.FORMATS]
    for setting in settings:
        setting.warm_up()
    reports = []
    for _ in range(arguments.rounds):
        for setting in settings:
            setting.turn(arguments.steps)
        reports.append(training.lockstep_turn(arguments.lockstep, {"--model": arguments.model, "--threads": arguments.threads}))
    training.print_table(f"{arguments.threads} thread(s)", settings, reports)


if __name__ == "__main__":
    main()
