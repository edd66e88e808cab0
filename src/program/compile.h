// Model to program.
#pragma once
#include "program/exchange/exchange.h"
#include "program/program.h"

namespace lockstep::program {

struct CompileOptions {
  bool trim = true;
  bool fuse = true;  // the bits are equal either way; without it every layer's output stands in a buffer
  arithmetic::UpdateKind rule = arithmetic::UpdateKind::sgd;  // of a training

  // Not null: owners update their shards by this exchange, and each device has the states of its own shard.
  const exchange::Kind* shard_optimizer = nullptr;
  int device = 0, devices = 1;
};

// One step of training: prepare the weights, all packs forward and backward, exchange, update.
Program compile_training(const model::Model& model, const CompileOptions& options = {});

// Forward only: the mean loss and, by class, how many were seen and how many were right.
Program compile_evaluation(const model::Model& model, const CompileOptions& options = {});

// Elements of the program's sums, and which of them belong to a parameter, as an exchange wants them.
exchange::Setting sums_of(const Program& program);

}  // namespace lockstep::program
