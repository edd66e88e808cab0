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

std::string sizes_of(const Operation& operation) {
  return std::visit([](const auto& kind) { return kind.sizes(); }, operation);
}

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
                          sizes_of(i.operation), names(program, i.inputs));
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
