// The closed sets of a program: the kinds of nodes and of instructions. This is the one list of them; each is
// declared in the file of its kind, and what it needs is asked of it there. A kind that leaves something out
// does not compile where its set is visited.
#pragma once
#include <variant>

#include "program/layers/add.h"
#include "program/layers/batch_norm.h"
#include "program/layers/convolution.h"
#include "program/layers/dropout.h"
#include "program/layers/flatten.h"
#include "program/layers/pool.h"
#include "program/layers/relu.h"
#include "program/step_instructions.h"

namespace lockstep::program {

using NodeKind =
    std::variant<ConvolutionNode, ReluNode, PoolNode, FlattenNode, AddNode, BatchNormNode, DropoutNode>;

using Operation =
    std::variant<Load, Prepare, Forward, ReluForward, ReluBackward, PoolForward, PoolBackward, Unpool, Add,
                 Dropout, Loss, InputGradient, WeightGradient, UnpoolWeightGradient, NormStatistics,
                 NormCoefficients, RunningCoefficients, NormForward, NormSums, NormFactors, NormInputGradient,
                 NormRunning, Check, Update, Look>;

}  // namespace lockstep::program
