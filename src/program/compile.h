// Model to program.
#pragma once
#include "program/program.h"

namespace lockstep::program {

struct CompileOptions {
  bool trim = true;
  bool fuse = true;  // the bits are equal either way; without it every layer's output stands in a buffer
};

// One step of training: prepare the weights, all packs forward and backward, mean gradients, update.
Program compile_training(const model::Model& model, const CompileOptions& options = {});

// Forward only: the mean loss and, by class, how many were seen and how many were right.
Program compile_evaluation(const model::Model& model, const CompileOptions& options = {});

}  // namespace lockstep::program
