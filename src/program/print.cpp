#include "program/print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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
  if (c.taps() == 1 && c.input.flat() && c.groups == 1) return text;
  text += fmt::format(", {}x{}", c.kernel.height, c.kernel.width);
  if (c.stride != Extent{1, 1}) text += fmt::format(" stride {}x{}", c.stride.height, c.stride.width);
  if (c.padding != Extent{0, 0}) text += fmt::format(" padding {}x{}", c.padding.height, c.padding.width);
  if (c.groups != 1) text += fmt::format(" in {} groups", c.groups);
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
  std::string operator()(const NormStatistics& n) const { return to_string(n.shape); }
  std::string operator()(const NormCoefficients& n) const { return groups(n.first, n.last); }
  std::string operator()(const RunningCoefficients&) const { return {}; }
  std::string operator()(const NormForward& n) const { return norm(n); }
  std::string operator()(const NormSums& n) const { return norm(n); }
  std::string operator()(const NormFactors& n) const { return groups(n.first, n.last); }
  std::string operator()(const NormInputGradient& n) const { return norm(n); }
  std::string operator()(const NormRunning& n) const { return groups(0, n.groups); }
  std::string operator()(const Dropout& d) const { return to_string(d.kept); }
  std::string operator()(const Check&) const { return {}; }
  std::string operator()(const Update& u) const {
    return fmt::format("elements {} to {}", u.part.first, u.part.first + u.part.count);
  }
  std::string operator()(const Look&) const { return {}; }

  static std::string groups(int first, int last) { return fmt::format("groups {} to {}", first, last); }
  template <class Norm>
  static std::string norm(const Norm& n) {
    std::string text = to_string(n.shape);
    if (n.groups.packs > 0) text += fmt::format(", groups of {} packs", n.groups.packs);
    return text + (n.relu ? ", relu" : "");
  }
  static std::string sizes_of(const Pool& p) {
    return fmt::format("{} {}x{}, {} -> {}", p.kind == Pool::Kind::average ? "average" : "maximum",
                       p.window.height, p.window.width, to_string(p.input), to_string(p.output));
  }
};

struct ExchangeText {
  const Program& program;

  std::string name(const Region& region) const {
    const Buffer& buffer = program.buffers[static_cast<std::size_t>(region.buffer)];
    std::string text = buffer.name;
    if (region.count != buffer.elements)
      text += fmt::format("[{}, {})", region.first, region.first + region.count);
    if (buffer.role == Role::partial) text += fmt::format(" subtree {}", region.row);
    if (buffer.role == Role::activation)
      text += fmt::format(" packs {} to {}", region.row, region.row + region.rows);
    return text;
  }
  std::string operator()(const Send& o) const {
    return fmt::format("send {} to rank {}", name(o.region), o.to);
  }
  std::string operator()(const Receive& o) const {
    return fmt::format("receive {} from rank {}", name(o.region), o.from);
  }
  std::string operator()(const Join& o) const {
    return fmt::format("{} of {} into {}", words_for(o.op), o.inputs.size(), name(o.output));
  }

  static std::string_view words_for(Join::Operator op) {
    switch (op) {
      case Join::Operator::add:
        return "sum";
      case Join::Operator::mean:
        return "mean";
      case Join::Operator::maximum:
        return "maximum";
      case Join::Operator::statistics:
        return "statistics";
      case Join::Operator::integer_add:
        return "count";
      case Join::Operator::both:
        return "agreement";
    }
    return {};
  }
};

std::string words_for(const std::vector<EventId>& events, std::string_view word) {
  return events.empty() ? std::string() : fmt::format("  {} {}", word, fmt::join(events, ", "));
}

std::string_view words_for(Segment::Over over) {
  switch (over) {
    case Segment::Over::packs:
      return "for each pack";
    case Segment::Over::elements:
      return "elements divided among threads";
    case Segment::Over::host:
      return "by the thread that drives the device";
  }
  return {};
}

}  // namespace

std::string to_text(const Instruction& instruction) {
  const std::string_view name = operation_name(instruction.operation);
  return instruction.layer.empty() ? std::string(name) : fmt::format("{} of {}", name, instruction.layer);
}

std::string to_text(const ExchangeInstruction& instruction, const Program& program) {
  return std::visit(ExchangeText{program}, instruction.operation);
}

std::string to_text(const Program& program) {
  std::string text;
  for (const Segment& segment : program.segments) {
    text += fmt::format("segment {}, {}", segment.name, words_for(segment.over));
    if (segment.over == Segment::Over::packs && program.packs > 0)
      text += fmt::format(", {} to {} of {}", segment.packs.first, segment.packs.last, program.packs);
    text += words_for(segment.waits, "after") + '\n';
    for (const Instruction& i : segment.instructions) {
      text += fmt::format("  {:<25}{:<20}{:<46}{}", operation_name(i.operation), i.layer,
                          std::visit(SizesOf{}, i.operation), names(program, i.inputs));
      if (!i.outputs.empty()) text += " -> " + names(program, i.outputs);
      text += words_for(i.signals, "signals") + '\n';
    }
  }
  if (!program.exchange.empty()) text += "exchange, beside the work\n";
  for (const ExchangeInstruction& i : program.exchange)
    text += "  " + to_text(i, program) + words_for(i.waits, "after") + words_for(i.signals, "signals") + '\n';
  return text;
}

}  // namespace lockstep::program
