#!/usr/bin/env python3
"""Times LeNet's training step in DistributedDataParallel on gloo, in turns with as many devices of Lockstep.

A process per device, each of one thread on a core of its own with its share of every minibatch of 256. Prints medians
as seconds per epoch (235 steps) and how many times Lockstep is faster than PyTorch's best.
"""
import os
import sys
import tempfile

import training  # before torch: it chooses the instruction set
from torch import distributed, multiprocessing
from torch.nn.parallel import DistributedDataParallel

DDP_OPTIONS = {"defaults": {}, "bucket view + static graph": {"gradient_as_bucket_view": True, "static_graph": True}}


def share_of(data, rank, processes):
    """This rank's part of each minibatch: the mean of the ranks' mean losses is then the mean over the minibatch."""
    whole = len(data[1]) // training.BATCH * training.BATCH
    return [part[:whole].unflatten(0, (-1, processes, training.BATCH // processes))[:, rank].flatten(0, 1).contiguous()
            for part in data]


def make_settings(rank, processes):
    data = share_of(training.load_data(), rank, processes)
    return [training.Setting(f"{mode}, {memory_format}, {options}",
                          DistributedDataParallel(training.Loss(memory_format), **DDP_OPTIONS[options]), mode,
                          training.in_format(data, memory_format), processes=processes)
            for mode in training.MODES for memory_format in training.FORMATS for options in DDP_OPTIONS]


def run_rank(rank, arguments, cores, barrier, meeting_file):
    os.sched_setaffinity(0, {cores[rank]})  # first, for gloo's threads inherit it
    training.prepare_torch(threads=1)
    distributed.init_process_group("gloo", f"file://{meeting_file}", rank=rank, world_size=arguments.processes)
    settings = make_settings(rank, arguments.processes)
    for setting in settings:
        setting.warm_up()
    reports = []
    for _ in range(arguments.rounds):
        for setting in settings:
            setting.turn(arguments.steps or training.Work().steps)
        barrier.wait()
        if rank == 0:
            os.sched_setaffinity(0, cores)  # Lockstep's process inherits it
            reports.append(training.lockstep_turn(arguments.lockstep,
                                               {"--devices": arguments.processes, "--threads": 1}))
            os.sched_setaffinity(0, {cores[rank]})
        barrier.wait()  # a semaphore: meanwhile the other ranks sleep
    if rank == 0:
        training.print_table(f"{arguments.processes} devices of 1 thread", settings, reports)
    distributed.destroy_process_group()


def main():
    parser = training.arguments_parser(__doc__)
    parser.add_argument("--processes", type=int, default=2, help="processes, and devices of Lockstep")
    arguments = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    if not 1 <= arguments.processes <= len(cores) or training.BATCH % arguments.processes:
        sys.exit(f"ddp.py: --processes {arguments.processes} must divide {training.BATCH} and have a core each; "
                 f"there are {len(cores)}")

    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # all ranks are on this host
    barrier = multiprocessing.get_context("spawn").Barrier(arguments.processes)
    with tempfile.TemporaryDirectory() as directory:
        try:
            multiprocessing.spawn(run_rank, (arguments, cores, barrier, f"{directory}/ranks"), arguments.processes)
        except multiprocessing.ProcessExitedException as error:
            sys.exit(f"ddp.py: {error}")


if __name__ == "__main__":
    main()
