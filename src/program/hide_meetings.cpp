#include "program/hide_meetings.h"

#include <algorithm>
#include <span>
#include <utility>

#include "program/crossing.h"

namespace lockstep::program {
namespace {

bool have_in_common(const std::vector<BufferId>& a, const std::vector<BufferId>& b) {
  return std::ranges::find_first_of(a, b) != a.end();
}

bool uses(const Instruction& instruction, BufferId buffer) {
  return std::ranges::find(instruction.inputs, buffer) != instruction.inputs.end() ||
         std::ranges::find(instruction.outputs, buffer) != instruction.outputs.end();
}

// Must the two stay in this order?
bool depends(const Instruction& later, const Instruction& earlier) {
  return have_in_common(later.inputs, earlier.outputs) || have_in_common(later.outputs, earlier.inputs) ||
         have_in_common(later.outputs, earlier.outputs);
}

// Bits that the buffer has for an example; of buffers that hold numbers of packs.
std::size_t bits_of_example(const Buffer& buffer) {
  switch (buffer.role) {
    case Role::activation:
      return 32 * buffer.elements;
    case Role::mask:
      return buffer.elements;
    case Role::labels:
      return 8;
    case Role::parameter:
    case Role::prepared:
    case Role::partial:
    case Role::gradient:
    case Role::state:
    case Role::inbox:
    case Role::statistics:
    case Role::counts:
      break;
  }
  return 0;
}

class Hiding {
 public:
  explicit Hiding(Program step)
      : step_(std::move(step)),
        most_(static_cast<std::size_t>(static_cast<double>(bits_that_cross()) * (1 + kMostGrowth))) {}

  Program run() {
    write_gradients_in_place();
    for (std::size_t meeting = 0; meeting < step_.meetings.size(); ++meeting) hide(meeting);
    sort_sums();
    return std::move(step_);
  }

 private:
  std::vector<Instruction>& list(std::size_t segment) { return step_.segments[segment].instructions; }

  std::size_t bits_that_cross() const {
    const std::vector<bool> crosses = crosses_segments(step_);
    std::size_t bits = 0;
    for (std::size_t b = 0; b < crosses.size(); ++b)
      if (crosses[b]) bits += bits_of_example(step_.buffers[b]);
    return bits;
  }

  std::vector<Instruction*> all_instructions() {
    std::vector<Instruction*> all;
    for (Segment& segment : step_.segments)
      for (Instruction& instruction : segment.instructions) all.push_back(&instruction);
    return all;
  }

  void write_gradients_in_place() {
    const std::vector<Instruction*> all = all_instructions();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!std::holds_alternative<NormInputGradient>(all[i]->operation)) continue;
      const BufferId dy = all[i]->inputs[0], dx = all[i]->outputs[0];
      const auto later = std::span(all).subspan(i + 1);
      if (std::ranges::any_of(later, [&](const Instruction* other) { return uses(*other, dy); })) continue;
      std::ranges::replace(all[i]->outputs, dx, dy);
      for (Instruction* const other : later) {
        std::ranges::replace(other->inputs, dx, dy);
        std::ranges::replace(other->outputs, dx, dy);
      }
      step_.buffers[static_cast<std::size_t>(dx)].elements = 0;
    }
  }

  void hide(std::size_t meeting) {
    const std::size_t makes = step_.meetings[meeting].segment, meanwhile = makes + 1;
    step_.segments.insert(step_.segments.begin() + static_cast<std::ptrdiff_t>(meanwhile),
                          {"packs meanwhile", Segment::Over::packs, {}});
    move_what_may_be_late(makes, meanwhile);
    move_what_may_be_early(meanwhile + 2, meanwhile);
    if (list(meanwhile).empty()) {
      step_.segments.erase(step_.segments.begin() + static_cast<std::ptrdiff_t>(meanwhile));
      return;
    }
    for (std::size_t later = meeting + 1; later < step_.meetings.size(); ++later)
      ++step_.meetings[later].segment;
  }

  // From the last one on, each to the front of what goes on meanwhile.
  void move_what_may_be_late(std::size_t from, std::size_t to) {
    for (std::size_t i = list(from).size(); i-- > 0;) {
      const Instruction& instruction = list(from)[i];
      const auto behind = std::span(list(from)).subspan(i + 1);
      if (makes_rows(instruction) ||
          std::ranges::any_of(behind, [&](const Instruction& stays) { return depends(stays, instruction); }))
        continue;
      move_if_it_fits({from, i}, {to, 0});
    }
  }

  // From the first one on, each behind what goes on meanwhile.
  void move_what_may_be_early(std::size_t from, std::size_t to) {
    for (std::size_t i = 0; i < list(from).size();) {
      const Instruction& instruction = list(from)[i];
      const auto keeps = [&](const Instruction& stays) { return depends(instruction, stays); };
      const bool bound = makes_rows(instruction) || std::ranges::any_of(list(from - 1), keeps) ||
                         std::ranges::any_of(std::span(list(from)).first(i), keeps);
      if (bound || !move_if_it_fits({from, i}, {to, list(to).size()})) ++i;
    }
  }

  struct Spot {
    std::size_t segment, instruction;
  };
  void move(Spot from, Spot to) {
    std::vector<Instruction>&source = list(from.segment), &target = list(to.segment);
    target.insert(target.begin() + static_cast<std::ptrdiff_t>(to.instruction),
                  std::move(source[from.instruction]));
    source.erase(source.begin() + static_cast<std::ptrdiff_t>(from.instruction));
  }
  bool move_if_it_fits(Spot from, Spot to) {
    move(from, to);
    if (bits_that_cross() <= most_) return true;
    move(to, from);
    return false;
  }

  // Where the rows of a meeting are complete says Meeting::segment.
  bool makes_rows(const Instruction& instruction) const {
    return std::ranges::any_of(step_.meetings,
                               [&](const Meeting& meeting) { return uses(instruction, meeting.by_pack); });
  }

  void sort_sums() {
    const std::vector<Instruction*> all = all_instructions();
    const auto complete = [&](const Sum& sum) {
      return std::ranges::find_if(all,
                                  [&](const Instruction* i) {
                                    return std::ranges::find(i->outputs, sum.partial) != i->outputs.end();
                                  }) -
             all.begin();
    };
    std::ranges::stable_sort(step_.sums, {}, complete);
  }

  Program step_;
  const std::size_t most_;  // bits of an example that may outlive a segment
};

}  // namespace

Program hide_meetings(Program step) { return Hiding(std::move(step)).run(); }

}  // namespace lockstep::program
