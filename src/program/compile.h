// Model to program, before the work is split over ranks: what is computed for every pack, and the sums that
// packs make. program/data_parallel.h adds the rest of the step.
#pragma once
#include "program/program.h"

namespace lockstep::program {

struct CompileOptions {
  bool trim = true;
  bool fuse = true;  // the bits are equal either way; without it every layer's output stands in a buffer
  arithmetic::UpdateKind rule = arithmetic::UpdateKind::sgd;  // of a training
};

// One step of training: prepare the weights, then all packs forward and backward.
Program compile_training(const model::Model& model, const CompileOptions& options = {});

// Forward only: the loss and, by class, how many were seen and how many were right.
Program compile_evaluation(const model::Model& model, const CompileOptions& options = {});

}  // namespace lockstep::program
