#include "program/access.h"

namespace lockstep::program {
namespace {

// Numbers of a row for each channel.
constexpr int kTriple = 3, kCoefficients = 4, kSums = 2, kFactors = 3;

Part rows(int channels, int numbers, int first, int last) {
  const auto row = static_cast<std::size_t>(channels) * static_cast<std::size_t>(numbers);
  return {static_cast<std::size_t>(first) * row, static_cast<std::size_t>(last - first) * row};
}

struct Reads {
  std::size_t operand;
  Part whole;

  template <class Other>
  Part operator()(const Other&) const {
    return whole;
  }
  Part operator()(const Check& check) const { return check.parts[operand]; }
  Part operator()(const Update& update) const { return operand == 1 || operand == 2 ? update.part : whole; }
  Part operator()(const NormCoefficients& n) const {
    return operand == 0 ? rows(n.channels, kTriple, n.first, n.last) : whole;
  }
  Part operator()(const NormFactors& n) const {
    const int numbers = operand == 0 ? kTriple : operand == 1 ? kCoefficients : kSums;
    return rows(n.channels, numbers, n.first, n.last);
  }
};

struct Writes {
  std::size_t operand;
  Part whole;
  const arithmetic::PackRange& packs;

  template <class Other>
  Part operator()(const Other&) const {
    return whole;
  }
  Part operator()(const Update& update) const { return operand == 0 ? update.part : whole; }
  Part operator()(const NormStatistics& n) const {
    return rows(n.shape.channels, kTriple, packs.first, packs.last);
  }
  Part operator()(const NormCoefficients& n) const {
    return rows(n.channels, kCoefficients, n.first, n.last);
  }
  Part operator()(const NormSums& n) const {
    return operand == 0 ? rows(n.shape.channels, kSums, packs.first, packs.last) : whole;
  }
  Part operator()(const NormFactors& n) const { return rows(n.channels, kFactors, n.first, n.last); }
};

Part whole(const Program& program, BufferId id) {
  return {0, program.buffers[static_cast<std::size_t>(id)].elements};
}

}  // namespace

Part part_read(const Program& program, const Instruction& instruction, std::size_t operand) {
  return std::visit(Reads{operand, whole(program, instruction.inputs[operand])}, instruction.operation);
}

Part part_written(const Program& program, const Segment& segment, const Instruction& instruction,
                  std::size_t operand) {
  return std::visit(Writes{operand, whole(program, instruction.outputs[operand]), segment.packs},
                    instruction.operation);
}

}  // namespace lockstep::program
