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
  return text + " direct";
}

// The geometry of an operation, for those that have one.
struct SizesOf {
  std::string operator()(const Load& load) const { return to_string(load.shape); }
  std::string operator()(const Prepare& p) const {
    return p.use == Prepare::Use::forward ? "for forward" : "for input gradient";
  }
  std::string operator()(const PoolForward& p) const { return sizes_of(p.pool); }
  std::string operator()(const PoolBackward& p) const { return sizes_of(p.pool); }
  std::string operator()(const Unpool& p) const { return sizes_of(p.pool); }
  std::string operator()(const Loss& loss) const { return fmt::format("{} classes", loss.classes); }
  template <class Other>
  std::string operator()(const Other& other) const {
    if constexpr (requires { other.convolution; }) return sizes(other.convolution);
    return {};
  }

  static std::string sizes_of(const Pool& p) {
    return fmt::format("{} {}x{}, {} -> {}", p.kind == Pool::Kind::average ? "average" : "maximum",
                       p.window.height, p.window.width, to_string(p.input), to_string(p.output));
  }
};

}  // namespace

std::string to_text(const Program& program) {
  std::string text;
  for (const Segment& segment : program.segments) {
    text += fmt::format(
        "segment {}, {}\n", segment.name,
        segment.over == Segment::Over::packs ? "for each pack" : "elements divided among threads");
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
