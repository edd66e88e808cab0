// A step as data: buffers by id, and segments of instructions. The device runs this list and nothing else;
// what is not in it does not happen.
#pragma once
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "arithmetic/update_rule.h"
#include "model/state.h"
#include "program/geometry.h"

namespace lockstep::program {

using BufferId = int;

enum class Role {
  activation,  // floats of a pack, [channel][y][x][lane]
  mask,        // one bit a float of a pack: relu blocked it
  labels,      // of a pack
  parameter,   // in canonical order, as a file has it
  prepared,    // a parameter as the device's kernels want it; its size is the device's business
  partial,     // sums over packs, still in the pack tree
  gradient,    // a finished mean
  state,       // what the update rule keeps for a parameter, or for the part of it that the device owns
  tally,       // counts of examples by class: seen, then right
};

struct Buffer {
  std::string name;
  Role role;
  std::size_t elements;  // of an example for activation and mask; of the whole otherwise
};

// In brackets: inputs -> outputs.
struct Load {  // [] -> [activation, labels]; the examples are an input of the step
  Shape shape;
};
struct Prepare {  // [parameter] -> [prepared]
  enum class Use {
    forward,
    input_gradient,
    frequencies,  // of fast convolution, for both
  };
  Convolution convolution;
  Use use = Use::forward;
};
struct Forward {  // [x, prepared, bias] -> [y] or, pooled, [y, mask]
  Convolution convolution;
  Epilogue epilogue = Epilogue::none;
};
struct ReluForward {};   // [x] -> [y]
struct ReluBackward {};  // [dy, y] -> [dx]
struct PoolForward {     // [x] -> [y]
  Pool pool;
};
struct PoolBackward {  // [dy] or, for a maximum, [dy, x] -> [dx]
  Pool pool;
};
struct Unpool {  // [dy, mask] -> [dx]: back through an average pool and the relu before it
  Pool pool;
};
struct Add {};  // [a, b] -> [a + b], perhaps in place: a residual sum, or gradients that meet at a value
struct Loss {   // [z, labels] -> [losses, sum, tally, dz]; evaluation goes without dz
  int classes = 0;
};
struct InputGradient {  // [dy, prepared] -> [dx]
  Convolution convolution;
};
struct WeightGradient {  // [x, dy] -> [weight partial, bias partial]
  Convolution convolution;
};
struct UnpoolWeightGradient {  // [x, dy, mask] -> [weight partial, bias partial]: dy is never written out
  Convolution convolution;
  Pool pool;
};
struct Check {};  // [gradient]: the step ends with an error unless all of it is finite
struct Update {   // [parameter, gradient, the rule's states..] -> [parameter, the states..]
  arithmetic::UpdateKind rule = arithmetic::UpdateKind::sgd;
};

using Operation =
    std::variant<Load, Prepare, Forward, ReluForward, ReluBackward, PoolForward, PoolBackward, Unpool, Add,
                 Loss, InputGradient, WeightGradient, UnpoolWeightGradient, Check, Update>;

struct Instruction {
  Operation operation;
  std::string layer;  // the layers it stands for: conv1+relu1+pool1
  std::vector<BufferId> inputs, outputs;
};

// All of a segment is done before the next one starts.
struct Segment {
  enum class Over {
    packs,     // every instruction for each pack of the device
    elements,  // every instruction once, its elements divided among the threads
    exchange,  // the exchange's list for the packs of the step, which starts while packs still run
  };
  std::string name;
  Over over = Over::packs;
  std::vector<Instruction> instructions;
};

// A sum over the minibatch: partial sums that an exchange turns into a gradient.
struct Sum {
  BufferId partial = -1, gradient = -1;
  BufferId parameter = -1;            // whose gradient it is; -1: the loss
  std::vector<BufferId> states = {};  // of the parameter, in the rule's order
  std::size_t states_first = 0;       // the element of the parameter that the states start at
};

// A tensor of the training's state, and the part of it that the device has.
struct StatePart {
  model::StateTensor tensor;
  BufferId buffer = -1;
  std::size_t first = 0;  // the element of the tensor that the buffer starts at
};

struct Program {
  std::vector<Buffer> buffers;
  std::vector<Segment> segments;
  Shape input;
  int classes = 0;

  // Where the caller finds things. Parameters and gradients are in model order.
  std::vector<BufferId> parameters, gradients;
  std::vector<Sum> sums;  // in the order they become complete
  // How every parameter is updated, by Update instructions or, if it is sharded, by the exchange.
  arithmetic::UpdateKind rule = arithmetic::UpdateKind::sgd;
  std::vector<StatePart> state;  // all of it, as model::state_tensors() lists it; evaluation has none
  BufferId loss = -1;            // gradient-like: one element, the mean loss
  BufferId tally = -1;
};

std::string_view operation_name(const Operation& operation);

// Throws Error(ours) if an instruction names a buffer that does not exist or has the wrong role or number.
void check_program(const Program& program);

}  // namespace lockstep::program
