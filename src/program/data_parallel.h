// Data parallelism: every rank has the whole network and a share of the packs. The programs of all ranks, as
// a pure function of the step, the plan and the number of packs.
//
// A sum's exchange starts when its last pack has been added, beside the packs that are still computed. The
// owner of an element joins the subtrees of all ranks and sends the mean to all. Then every rank checks all
// gradients and updates its whole replica or, with a sharded optimizer, each owner checks and updates its
// part, the ranks agree on the verdict, and parameters travel instead of gradients. Last, every rank hashes a
// part of its replica for the first rank to compare.
#pragma once
#include <vector>

#include "program/exchange/exchange.h"
#include "program/program.h"

namespace lockstep::program {

struct DataPlan {
  int ranks = 1;
  const exchange::Kind* exchange = nullptr;  // null: the best
  bool shard_optimizer = false;              // owners update their parts
  std::size_t smallest_bucket = exchange::kSmallestBucket;
  std::vector<double> shares = {};  // packs go to ranks in these proportions; empty: equal shares
};

// The packs of each rank.
std::vector<arithmetic::PackRange> shares_of(const DataPlan& plan, int packs);

// Which elements of the step's sums belong to which rank.
std::vector<exchange::Shard> shards_of(const Program& step, const DataPlan& plan);

// `step` is what compile.h makes. By rank.
std::vector<Program> data_parallel(const Program& step, const DataPlan& plan, int packs);

}  // namespace lockstep::program
