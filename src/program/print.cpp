#include "program/print.h"

#include <fmt/format.h>

namespace lockstep::program {
namespace {

std::string names(const Program& program, const std::vector<BufferId>& ids) {
  std::string text;
  for (const BufferId id : ids) {
    if (!text.empty()) text += ", ";
    text += program.buffers[static_cast<std::size_t>(id)].name;
  }
  return text;
}

std::string sizes(const Convolution& c) {
  std::string text = fmt::format("{} -> {}", to_string(c.input), to_string(c.output));
  if (c.taps() == 1 && c.input.flat()) return text;
  text += fmt::format(", {}x{}", c.kernel.height, c.kernel.width);
  if (c.stride != Extent{1, 1}) text += fmt::format(" stride {}x{}", c.stride.height, c.stride.width);
  if (c.padding != Extent{0, 0}) text += fmt::format(" padding {}x{}", c.padding.height, c.padding.width);
  if (c.algorithms.winograd()) return text + fmt::format(" in {0}x{0} tiles", c.algorithms.tile);
  return text + " direct";
}

// The geometry of an operation, for those that have one.
struct SizesOf {
  std::string operator()(const Load& load) const { return to_string(load.shape); }
  std::string operator()(const Prepare& p) const {
    switch (p.use) {
      case Prepare::Use::forward:
        return "for forward";
      case Prepare::Use::input_gradient:
        return "for input gradient";
      case Prepare::Use::frequencies:
        return fmt::format("as frequencies of {0}x{0} tiles", p.convolution.algorithms.tile);
    }
    return "";
  }
  std::string operator()(const PoolForward& p) const { return sizes_of(p.pool); }
  std::string operator()(const PoolBackward& p) const { return sizes_of(p.pool); }
  std::string operator()(const Unpool& p) const { return sizes_of(p.pool); }
  std::string operator()(const Loss& loss) const { return fmt::format("{} classes", loss.classes); }
  std::string operator()(const Forward& f) const { return sizes(f.convolution); }
  std::string operator()(const InputGradient& g) const { return sizes(g.convolution); }
  std::string operator()(const WeightGradient& g) const { return sizes(g.convolution); }
  std::string operator()(const UnpoolWeightGradient& g) const { return sizes(g.convolution); }
  std::string operator()(const ReluForward&) const { return {}; }
  std::string operator()(const ReluBackward&) const { return {}; }
  std::string operator()(const Add&) const { return {}; }
  std::string operator()(const Check&) const { return {}; }
  std::string operator()(const Update&) const { return {}; }

  static std::string sizes_of(const Pool& p) {
    return fmt::format("{} {}x{}, {} -> {}", p.kind == Pool::Kind::average ? "average" : "maximum",
                       p.window.height, p.window.width, to_string(p.input), to_string(p.output));
  }
};

struct ExchangeText {
  const Program& program;

  std::string name(const exchange::Range& range) const {
    const Sum& sum = program.sums[static_cast<std::size_t>(range.sum)];
    const BufferId named = sum.parameter >= 0 ? sum.parameter : sum.gradient;
    return fmt::format("{}[{}, {})", program.buffers[static_cast<std::size_t>(named)].name, range.first,
                       range.first + range.count);
  }
  std::string name(const exchange::Place& place) const {
    switch (place.of) {
      case exchange::Place::Of::held:
        return fmt::format("partial sum {} of {}", place.slot, name(place.range));
      case exchange::Place::Of::inbox:
        return "partial sum of " + name(place.range);
      case exchange::Place::Of::gradient:
        return "gradient of " + name(place.range);
      case exchange::Place::Of::parameter:
        return name(place.range);
      case exchange::Place::Of::verdict:
        break;
    }
    return "verdict";
  }
  std::string operator()(const exchange::Send& o) const {
    return fmt::format("send {} to device {}", name(o.place), o.to);
  }
  std::string operator()(const exchange::Receive& o) const {
    return fmt::format("receive {} from device {}", name(o.place), o.from);
  }
  std::string operator()(const exchange::Join& o) const {
    return fmt::format("join {} partial sums of {}", o.subtrees.size(), name(o.range));
  }
  std::string operator()(const exchange::Check&) const { return "check"; }
  std::string operator()(const exchange::Agree&) const { return "agree"; }
  std::string operator()(const exchange::Update& o) const { return "update " + name(o.range); }
};

std::string_view words_for(Segment::Over over) {
  switch (over) {
    case Segment::Over::packs:
      return "for each pack";
    case Segment::Over::elements:
      return "elements divided among threads";
    case Segment::Over::exchange:
      return "beginning while packs still run";
  }
  return {};
}

}  // namespace

std::string to_text(const Instruction& instruction) {
  const std::string_view name = operation_name(instruction.operation);
  return instruction.layer.empty() ? std::string(name) : fmt::format("{} of {}", name, instruction.layer);
}

std::string to_text(const exchange::Instruction& instruction, const Program& program) {
  return std::visit(ExchangeText{program}, instruction.operation);
}

std::string to_text(const exchange::List& list, const Program& program) {
  std::string text;
  for (const exchange::Instruction& instruction : list) text += "  " + to_text(instruction, program) + '\n';
  return text;
}

std::string to_text(const Program& program) {
  std::string text;
  for (const Segment& segment : program.segments) {
    text += fmt::format("segment {}, {}\n", segment.name, words_for(segment.over));
    for (const Instruction& i : segment.instructions) {
      text += fmt::format("  {:<25}{:<20}{:<46}{}", operation_name(i.operation), i.layer,
                          std::visit(SizesOf{}, i.operation), names(program, i.inputs));
      if (!i.outputs.empty()) text += " -> " + names(program, i.outputs);
      text += '\n';
    }
  }
  return text;
}

}  // namespace lockstep::program
