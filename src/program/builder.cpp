#include "program/builder.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"

namespace lockstep::program {

Builder::Builder(const model::Model& model, const std::vector<Node>& nodes, const CompileOptions& options)
    : nodes_(nodes),
      fuses_(options.fuse),
      parameters_(model::parameters_of(model)),
      wanted_(nodes.size() + 1, false),
      gradients_(nodes.size() + 1, -1) {
  // What is not needed of the picture is not loaded, but the program's input is the whole picture.
  program_.input = model.input;
  for (const model::Parameter& p : parameters_)
    program_.parameters.push_back(add_buffer(p.name, Role::parameter, p.elements()));
  for (const Node& node : nodes) {
    bool wanted = std::visit([](const auto& kind) { return kind.kTrained; }, node.kind);
    for (const int value : node.inputs) wanted = wanted || wants_gradient(value);
    wanted_[static_cast<std::size_t>(node.value)] = wanted;
  }
}

void Builder::forward() {
  values_.assign(nodes_.size() + 1, -1);
  values_[0] = add_activation("input", program_.input);
  labels_ = add_buffer("labels", Role::labels, 1);
  emit({Load{program_.input}, "input", {}, {values_[0], labels_}});
  for (const Node& node : nodes_) {
    std::visit([&](const auto& kind) { kind.forward(*this, node); }, node.kind);
  }
}

void Builder::backward(BufferId dz) {
  gradients_.back() = dz;
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    const Node& node = nodes_[i];
    if (!wants_gradient(node.value)) continue;
    std::visit([&](const auto& kind) { kind.backward(*this, node); }, node.kind);
    gradients_[static_cast<std::size_t>(node.value)] = -1;
  }
}

BufferId Builder::add_buffer(std::string name, Role role, std::size_t elements) {
  program_.buffers.push_back({std::move(name), role, elements});
  return static_cast<BufferId>(program_.buffers.size()) - 1;
}

BufferId Builder::add_activation(std::string name, const Shape& shape) {
  return add_buffer(std::move(name), Role::activation, static_cast<std::size_t>(shape.elements()));
}

BufferId Builder::add_table(std::string name, std::size_t row, const PackGroups& groups) {
  const BufferId id = add_buffer(std::move(name), Role::statistics, row);
  program_.tables.push_back({id, groups});
  return id;
}

void Builder::meet(Meeting meeting, Instruction between) {
  meeting.segment = work_.size();  // the preparation stands before all others
  program_.meetings.push_back(meeting);
  const std::string name(operation_name(between.operation));
  work_.push_back({name, Segment::Over::elements, {std::move(between)}});
  work_.push_back({"packs", Segment::Over::packs, {}});
}

BufferId Builder::input(const Node& node, std::size_t operand) const {
  return values_[static_cast<std::size_t>(node.inputs[operand])];
}

BufferId Builder::add_output(const Node& node) {
  const BufferId y = add_activation(node.name, node.output);
  set_output(node, y);
  return y;
}

void Builder::set_output(const Node& node, BufferId buffer) {
  values_[static_cast<std::size_t>(node.value)] = buffer;
}

void Builder::postpone(const Node& node, Instruction instruction) {
  postponed_.emplace(node.value, std::move(instruction));
}

void Builder::keep(const Node& node, std::string_view what, BufferId buffer) {
  kept_[{node.value, std::string(what)}] = buffer;
}

BufferId Builder::kept(const Node& node, std::string_view what) const {
  return kept_.at({node.value, std::string(what)});
}

// Values whose gradients lie in the buffer and are still needed.
std::ptrdiff_t Builder::holders(BufferId gradient) const { return std::ranges::count(gradients_, gradient); }

BufferId Builder::overwritable(BufferId gradient, std::string name) {
  if (holders(gradient) == 1) return gradient;
  return add_buffer(std::move(name), Role::activation, buffer(gradient).elements);
}

BufferId Builder::gradient_before_relu(const Node& node) {
  const BufferId dy = gradient(node), y = output(node);
  std::vector<Instruction>& work = work_.back().instructions;
  if (fuses_ && !work.empty() && holders(dy) == 1) {
    Instruction& last = work.back();
    if (std::holds_alternative<Add>(last.operation) && last.outputs[0] == dy) {
      last = {ReluBackward{}, node.name, {last.inputs[0], y, last.inputs[1]}, {dy}};
      return dy;
    }
  }
  const BufferId to = overwritable(dy, node.name + ".dy");
  emit({ReluBackward{}, node.name, {dy, y}, {to}});
  return to;
}

void Builder::add_gradient(const Node& reader, std::size_t operand, BufferId gradient) {
  BufferId& sum = gradients_[static_cast<std::size_t>(reader.inputs[operand])];
  if (sum < 0) {
    sum = gradient;
    return;
  }
  // In place in the first one's buffer; if that belongs to another value, too, in the next one's.
  const bool next_is_free = holders(sum) > 1 && holders(gradient) == 0;
  const BufferId to = next_is_free ? gradient : overwritable(sum, reader.name + ".sum");
  emit({Add{}, reader.name, {sum, gradient}, {to}});
  sum = to;
}

void Builder::add_sums() {
  for (const model::Parameter& p : parameters_) {
    partials_.push_back(p.trained() ? add_buffer(p.name + ".partial", Role::partial, p.elements()) : -1);
    program_.gradients.push_back(p.trained() ? add_buffer(p.name + ".gradient", Role::gradient, p.elements())
                                             : -1);
  }
}

BufferId Builder::sum_of(int index) {
  const auto p = static_cast<std::size_t>(index);
  check(partials_[p] >= 0, "no gradient changes {}", parameters_[p].name);
  program_.sums.push_back({partials_[p], program_.gradients[p], program_.parameters[p]});
  return partials_[p];
}

Program Builder::finish() {
  program_.segments = {{"prepare", Segment::Over::elements, std::move(prepares_)}};
  std::ranges::move(work_, std::back_inserter(program_.segments));
  check_program(program_);
  return std::move(program_);
}

}  // namespace lockstep::program
