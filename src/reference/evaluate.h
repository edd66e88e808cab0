// Naive twin of evaluation: how a model does on examples it does not learn from.
#pragma once
#include "reference/step.h"

namespace lockstep::reference {

struct Evaluation {
  float loss = 0;  // mean over the batch
  int correct = 0;
};

Evaluation evaluate(const model::Model& model, std::span<const Tensor> parameters, const Batch& batch);

}  // namespace lockstep::reference
