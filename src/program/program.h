// A step of one rank as data: buffers by id, and two lists of instructions that events tie together. A rank
// runs these lists from top to bottom and nothing else; what is not in them does not happen.
//
//   work      segments of instructions over packs or elements. A segment starts when the events
//             that it waits for have been signalled; an instruction signals its events when it
//             is done for the last pack.
//   exchange  sends, receives and joins. Each starts after the one before it has started, when
//             the events that it waits for have been signalled.
//             A join is done before the next one starts; a message is on its way
//             meanwhile.
//
// An event is signalled once a step. What order and events leave open may happen at once: program/order.h
// holds every set of programs against that.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "arithmetic/tree.h"
#include "arithmetic/update_rule.h"
#include "model/state.h"
#include "program/geometry.h"
#include "program/region.h"

namespace lockstep::program {

using EventId = int;

enum class Role {
  activation,  // floats of a pack, [channel][y][x][lane]
  mask,        // one bit a float of a pack: relu blocked it
  labels,      // of a pack
  parameter,   // in canonical order, as a file has it
  prepared,    // a parameter as the device's kernels want it; its size is the device's business
  partial,     // sums over packs, still in the pack tree
  gradient,    // a finished mean
  state,       // what the update rule keeps for a parameter, or for the part of it that the device owns
  inbox,       // floats that other ranks send
  statistics,  // floats of a step that all packs may read, [pack or group of packs][number][channel]
  counts,      // 64-bit integers, which lie in the host's memory: examples by class, verdicts, hashes
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
struct Forward {  // [x, prepared] or, with a bias, [x, prepared, bias] -> [y] or, pooled, [y, mask]
  Convolution convolution;
  Epilogue epilogue = Epilogue::none;
};
struct ReluForward {};  // [x] -> [y]
// [dy, y] -> [dx], or, where gradients have met, [a, y, b] -> [dx]: dy is a + b. Perhaps over dy, a or b.
struct ReluBackward {};
struct PoolForward {  // [x] -> [y]
  Pool pool;
};
struct PoolBackward {  // [dy] or, for a maximum, [dy, x] -> [dx]
  Pool pool;
};
struct Unpool {  // [dy, mask] -> [dx]: back through an average pool and the relu before it
  Pool pool;
};
// [a, b] -> [a + b], perhaps in place: a residual sum, or gradients that meet at a value.
struct Add {
  bool relu = false;  // the sum is behind a relu
};
// [x] -> [y] or, going back, [dy] -> [dx], perhaps in place. Both draw the same words.
struct Dropout {
  std::uint32_t stream = 0;
  std::uint32_t threshold = 0;  // a word's upper 24 bits, as a number, keep the element from here on
  float scale = 1;              // of what is kept
  Shape whole = {}, kept = {};  // of the untrimmed layer, whose elements are counted, and of the buffers
};
struct Loss {  // [z, labels] -> [losses, sum, counts, dz]; evaluation goes without dz
  int classes = 0;
};
struct InputGradient {  // [dy, prepared] -> [dx]
  Convolution convolution;
};
struct WeightGradient {  // [x, dy] -> [weight partial] or, with a bias, [weight partial, bias partial]
  Convolution convolution;
};
struct UnpoolWeightGradient {  // [x, dy, mask] -> the same: dy is never written out
  Convolution convolution;
  Pool pool;
};
// Elements [first, first + count) of a tensor.
struct Part {
  std::size_t first = 0, count = 0;
  bool operator==(const Part&) const = default;
};
struct Check {  // [gradient..] -> [verdict]: 1 if these parts of the gradients are finite, else 0
  std::vector<Part> parts = {};
};
struct Update {  // [verdict, parameter, gradient, the rule's states..] -> [parameter, the states..]; nothing
                 // if the verdict is 0
  arithmetic::UpdateKind rule = arithmetic::UpdateKind::sgd;
  Part part = {};       // of the parameter and its gradient; the states start at Sum::states_first
  bool decays = false;  // weight decay applies to the parameter
};
// Which packs share the statistics of a batch norm: so many consecutive ones of the minibatch; 0: all.
struct PackGroups {
  int packs = 0;
  int of(int pack) const { return packs == 0 ? 0 : pack / packs; }
  int count(int all) const { return packs == 0 ? 1 : (all + packs - 1) / packs; }
  bool operator==(const PackGroups&) const = default;
};
// Batch norm (docs/arithmetic.md). For each channel, statistics hold of every pack and of every group
//   triples       number of values, their mean, the sum of their squared deviations from it
//   sums          of dy (dbeta), of dy * h (dgamma)
// and of every group what the packs of the group are computed with
//   coefficients  mean, r, scale, shift
//   factors       a, b, e
// each number for all channels before the next one: [pack or group][number][channel].
struct NormStatistics {  // over packs: [x] -> [triples by pack]
  Shape shape;
};
struct NormCoefficients {  // over elements: [triples by group, gamma, beta] -> [coefficients]
  int channels = 0;
  float eps = 0;
  int first = 0, last = 1;  // groups
};
struct RunningCoefficients {  // over elements: [running mean, running var, gamma, beta] -> [coefficients],
                              // one group
  int channels = 0;
  float eps = 0;
};
// Over packs: [x, coefficients] or, in a residual sum, [x, coefficients, addend] -> [y], perhaps in place.
struct NormForward {
  Shape shape;
  PackGroups groups;
  bool relu = false;  // y is behind a relu; the addend is added before
};
// Over packs: [dy, x, coefficients] -> [sums by pack, gamma partial, beta partial].
// With relu, dy counts where y > 0, else +0; y is computed again from x.
struct NormSums {
  Shape shape;
  PackGroups groups;
  bool relu = false;
};
struct NormFactors {  // over elements: [triples by group, coefficients, sums by group] -> [factors]
  int channels = 0;
  int first = 0, last = 1;  // groups
};
struct NormInputGradient {  // over packs: [dy, x, coefficients, factors] -> [dx], perhaps over dy; relu: as
                            // in NormSums
  Shape shape;
  PackGroups groups;
  bool relu = false;
};
// Over elements: [verdict, triples by group, running mean, running var] -> [running mean, running var];
// nothing if the verdict is 0. Takes all groups, in order.
struct NormRunning {
  int channels = 0;
  float momentum = 0;
  int groups = 1;
};
struct Look {};  // [verdict, parameter..] -> [counts]: hashes of the parameters; see run/replicas.h

using Operation =
    std::variant<Load, Prepare, Forward, ReluForward, ReluBackward, PoolForward, PoolBackward, Unpool, Add,
                 Dropout, Loss, InputGradient, WeightGradient, UnpoolWeightGradient, NormStatistics,
                 NormCoefficients, RunningCoefficients, NormForward, NormSums, NormFactors, NormInputGradient,
                 NormRunning, Check, Update, Look>;

struct Instruction {
  Operation operation;
  std::string layer;  // the layers it stands for: conv1+relu1+pool1
  std::vector<BufferId> inputs, outputs;
  std::vector<EventId> signals = {};
};

// All of a segment is done before the next one starts.
struct Segment {
  enum class Over {
    packs,     // every instruction for each pack of the range
    elements,  // every instruction once, its elements divided among the threads
    host,      // every instruction once, by the thread that drives the device
  };
  std::string name;
  Over over = Over::packs;
  std::vector<Instruction> instructions;
  arithmetic::PackRange packs = {};  // of the minibatch
  std::vector<EventId> waits = {};
};

// ---- the exchange

struct Send {
  int to = 0;
  Region region = {};
};
struct Receive {
  int from = 0;
  Region region = {};
};
// Inputs meet pair by pair, value[into] = value[into] op value[from]; value[0] goes to the output. Floats are
// used up. Inputs of floats are partial sums and inboxes; the output is a gradient, or the first input
// itself.
struct Join {
  enum class Operator {
    add,          // floats; the finished sum is stored as sum + 0
    mean,         // the same, then divided by the examples of the step
    maximum,      // floats
    statistics,   // floats [3][channels]: number of values, their mean, the sum of their squared deviations
    integer_add,  // counts
    both,         // counts: 1 if both are 1, else 0
  };
  Operator op = Operator::mean;
  std::vector<Region> inputs = {};
  std::vector<arithmetic::JoinPair> pairs = {};
  Region output = {};
};

struct ExchangeInstruction {
  std::variant<Send, Receive, Join> operation;
  std::vector<EventId> waits = {};
  // Of a send: the receiver has taken the numbers. Of a receive: they have arrived. Of a join: it is done.
  std::vector<EventId> signals = {};
};

// A sum over the minibatch: partial sums that an exchange turns into a gradient.
struct Sum {
  BufferId partial = -1, gradient = -1;
  BufferId parameter = -1;                   // whose gradient it is; -1: the loss
  Join::Operator op = Join::Operator::mean;  // how partial sums meet and end
  std::vector<BufferId> states = {};         // of the parameter, in the rule's order
  std::size_t states_first = 0;              // the element of the parameter that the states start at
  bool decays = false;                       // weight decay applies to the parameter
};

// A tensor of the training's state, and the part of it that the device has.
struct StatePart {
  model::StateTensor tensor;
  BufferId buffer = -1;
  std::size_t first = 0;  // the element of the tensor that the buffer starts at
};

// Of a step that is not yet dealt to ranks. A buffer of statistics that has one row of them; every rank's
// has one for each group of packs of the minibatch. By pack: groups of one.
struct Table {
  BufferId buffer = -1;
  PackGroups groups = {};
};

// Of a step that is not yet dealt to ranks: what has to happen between two segments over packs. The rows that
// the packs of a group made meet, by the pack tree of the group, whose packs are numbered from its first.
struct Meeting {
  std::size_t segment = 0;  // its packs make the rows; the segment behind it waits for the groups of its rank
  BufferId by_pack = -1, by_group = -1;
  Join::Operator op = Join::Operator::statistics;
  PackGroups groups = {};
  // Ranks that have no packs of a group need its row, too.
  bool to_all_ranks = false;
};

enum class Purpose {
  training,
  evaluation,
  timing,       // a training step whose result is thrown away
  replay,       // a part of a step that is run again to look at it
  examination,  // of the replicas
};

struct Program {
  Purpose purpose = Purpose::training;
  std::vector<Buffer> buffers;
  std::vector<Segment> segments;              // the work
  std::vector<ExchangeInstruction> exchange;  // beside the work
  int events = 0;                             // ids are below
  int packs = 0;  // of the minibatch; 0: not yet dealt to ranks (program/data_parallel.h)
  Shape input;
  int classes = 0;

  // Of a step that is not yet dealt to ranks.
  std::vector<Table> tables;
  std::vector<Meeting> meetings;     // in the order of the segments
  std::vector<Instruction> running;  // come with the update; the verdict is going to be their first input

  // Where the caller finds things. Parameters and gradients are in model order; the gradient of a parameter
  // that no gradient changes is -1.
  std::vector<BufferId> parameters, gradients;
  std::vector<Sum> sums;  // in the order they become complete
  // How every parameter is updated.
  arithmetic::UpdateKind rule = arithmetic::UpdateKind::sgd;
  std::vector<StatePart> state;  // all of it, as model::state_tensors() lists it; evaluation has none
  // Outputs of a step, the same on every rank: gradient-like, one element, the mean loss; counts of examples
  // by class, seen, then right; counts, one element, 1 unless a check failed.
  BufferId loss = -1, tally = -1, verdict = -1;
  BufferId looks = -1;                   // counts that this rank's Look writes
  std::vector<BufferId> received_looks;  // of the first rank, by rank: the counts of each
};

std::string_view operation_name(const Operation& operation);

// The first segment over packs; others run over the same packs. Requires: there is one.
const Segment& packs_of(const Program& program);
Segment& packs_of(Program& program);

// How many bytes a region of the program has.
std::size_t region_bytes(const Program& program, const Region& region);

// Throws Error(ours) if an instruction names a buffer that does not exist or has the wrong role or number.
void check_program(const Program& program);

}  // namespace lockstep::program
