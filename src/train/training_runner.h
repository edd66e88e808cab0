// A job on a crew, ready to step.
#pragma once
#include <utility>

#include "train/job.h"

namespace lockstep::train {

// What the bits do not depend on.
struct Machine {
  device::Order order = device::Order::pack;
  const program::exchange::Kind* exchange = nullptr;  // null: the best
  bool shard_optimizer = false;
  bool record = false;  // hashes of all parameters after every step
  bool trace = false;
  std::vector<double> shares = {};  // packs go to devices in these proportions; empty: see calibrate.h
};

inline Machine with_shares(Machine machine, std::vector<double> shares) {
  machine.shares = std::move(shares);
  return machine;
}

// How the machine splits the job's steps over `ranks` ranks; `shares_cores`: more threads than cores.
program::DataPlan data_plan(const Machine& machine, int ranks, bool shares_cores);

// The programs of all ranks: what a training runs, and what --print-program prints.
run::Programs training_programs(const Job& job, const program::DataPlan& plan);

// For an epoch of that number of examples. Holds no weights yet. Throws Error(usage) if a batch norm cannot
// be trained with its minibatches. Requires: crew outlives it.
std::unique_ptr<run::Runner> make_training_runner(run::Crew& crew, const Job& job, const Machine& machine,
                                                  std::size_t examples);

}  // namespace lockstep::train
