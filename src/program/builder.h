// What the nodes of a graph need to become instructions: buffers, the buffer each value is in, and gradients.
// Nodes go forward in model order, then backward in reverse order.
#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program/compile.h"
#include "program/node.h"
#include "program/program.h"

namespace lockstep::program {

class Builder {
 public:
  // Makes the buffer of the input and one for each parameter. Requires: nodes are valid as long as this is
  // used.
  Builder(const model::Model& model, const std::vector<Node>& nodes, const CompileOptions& options);

  void forward();
  // Requires: add_sums() and forward() were called. `dz`: the gradient of the last node's value.
  void backward(BufferId dz);

  // ---- buffers and instructions
  BufferId add_buffer(std::string name, Role role, std::size_t elements);
  BufferId add_activation(std::string name, const Shape& shape);
  // Statistics, `row` of them for each of the groups of packs; see Table.
  BufferId add_table(std::string name, std::size_t row, const PackGroups& groups);
  const Buffer& buffer(BufferId id) const { return program_.buffers[static_cast<std::size_t>(id)]; }
  void emit(Instruction instruction) { work_.back().instructions.push_back(std::move(instruction)); }
  void emit_prepare(Instruction instruction) { prepares_.push_back(std::move(instruction)); }

  // Ends the segment over packs: the rows that its packs make meet, then `between` runs over elements, and
  // what is emitted from then on runs over packs again.
  void meet(Meeting meeting, Instruction between);

  // ---- values
  BufferId input(const Node& node, std::size_t operand = 0) const;
  BufferId output(const Node& node) const { return values_[static_cast<std::size_t>(node.value)]; }
  BufferId last_output() const { return values_.back(); }
  BufferId labels() const { return labels_; }
  BufferId add_output(const Node& node);               // a new buffer
  void set_output(const Node& node, BufferId buffer);  // a buffer that exists
  // From a node to the one that reads its value and emits the instruction, with what is added to it.
  void postpone(const Node& node, Instruction instruction);
  Instruction postponed(int value) const { return postponed_.at(value); }
  // From a node's forward pass to its backward pass.
  void keep(const Node& node, std::string_view what, BufferId buffer);
  BufferId kept(const Node& node, std::string_view what) const;

  // ---- gradients of values
  // Does a parameter lie before the value, so that its gradient matters?
  bool wants_gradient(int value) const { return wanted_[static_cast<std::size_t>(value)]; }
  // Of the node's output, complete. Others may read this buffer, too: see overwritable().
  BufferId gradient(const Node& node) const { return gradients_[static_cast<std::size_t>(node.value)]; }
  // Where an instruction that reads `gradient` may put its result: in place, or in a new buffer of that name
  // if the gradient of another value lies in the buffer, too.
  BufferId overwritable(BufferId gradient, std::string name);
  // Back through the relu that gave the node's output: a buffer that `node` alone has. Where gradients have
  // just met, and nodes are fused, one instruction does both.
  BufferId gradient_before_relu(const Node& node);
  // A reader's gradient of one of its inputs. The gradients of several readers meet by a chain of adds in the
  // order of these calls, which is the law's. Requires: the reader has emitted all that reads its own
  // gradient.
  void add_gradient(const Node& reader, std::size_t operand, BufferId gradient);

  // ---- parameters, by their index in model::parameters_of
  BufferId parameter(int index) const { return program_.parameters[static_cast<std::size_t>(index)]; }
  void add_sums();             // a partial sum and a mean gradient for each one that a gradient changes
  BufferId sum_of(int index);  // the partial sum, which is complete after the instruction that comes next

  Program& program() { return program_; }
  // Puts the segments together.
  Program finish();

 private:
  std::ptrdiff_t holders(BufferId gradient) const;

  const std::vector<Node>& nodes_;
  const bool fuses_;
  Program program_;
  const std::vector<model::Parameter> parameters_;
  std::vector<Instruction> prepares_;
  std::vector<Segment> work_{{"packs", Segment::Over::packs, {}}};
  BufferId labels_ = -1;
  std::vector<BufferId> values_;  // by value
  std::vector<bool> wanted_;      // by value
  std::vector<BufferId>
      gradients_;                   // by value; -1: no reader has given one yet, or nothing needs it any more
  std::vector<BufferId> partials_;  // by parameter; -1 where there is none
  std::map<std::pair<int, std::string>, BufferId> kept_;
  std::map<int, Instruction> postponed_;  // by value
};

}  // namespace lockstep::program
