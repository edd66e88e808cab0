#include "measure/unordered_exchange.h"

#include <algorithm>
#include <map>
#include <set>

namespace lockstep::measure {
namespace {

using program::EventId;
using program::ExchangeInstruction;
using program::Join;
using program::Program;
using program::Receive;
using program::Region;
using program::Send;

std::vector<arithmetic::JoinPair> one_after_the_other(std::size_t sums) {
  std::vector<arithmetic::JoinPair> pairs;
  for (int from = 1; from < static_cast<int>(sums); ++from) pairs.push_back({0, from});
  return pairs;
}

bool is_partial(const Program& program, const Region& region) {
  return program.buffers[static_cast<std::size_t>(region.buffer)].role == program::Role::partial;
}

// All but the first subtree of a sum, which stays where it is or is not sent.
bool is_further_subtree(const Program& program, const Region& region) {
  return is_partial(program, region) && region.row > 0;
}

// By (from, to): which messages of the pair are left out.
using LeftOut = std::map<std::pair<int, int>, std::vector<bool>>;

LeftOut left_out_of(const std::vector<Program>& programs) {
  LeftOut left_out;
  for (std::size_t rank = 0; rank < programs.size(); ++rank) {
    for (const ExchangeInstruction& instruction : programs[rank].exchange) {
      if (const auto* const send = std::get_if<Send>(&instruction.operation))
        left_out[{static_cast<int>(rank), send->to}].push_back(
            is_further_subtree(programs[rank], send->region));
    }
  }
  return left_out;
}

// Rewrites one rank's list.
class Rewriter {
 public:
  Rewriter(const Program& program, int rank, const LeftOut& left_out)
      : program_(program), rank_(rank), left_out_(left_out) {
    for (const program::Segment& segment : program.segments) {
      if (segment.over == program::Segment::Over::packs)
        held_ = arithmetic::cover(program.packs, segment.packs).size();
    }
  }

  std::vector<ExchangeInstruction> rewrite() {
    for (const ExchangeInstruction& instruction : program_.exchange) {
      if (const auto* const send = std::get_if<Send>(&instruction.operation)) {
        if (is_partial(program_, send->region)) add_own(send->region.buffer, instruction.waits);
        if (!is_further_subtree(program_, send->region)) result_.push_back(instruction);
      } else if (const auto* const receive = std::get_if<Receive>(&instruction.operation)) {
        keep_or_leave_out(*receive, instruction);
      } else {
        result_.push_back(rewritten(instruction));
      }
    }
    for (ExchangeInstruction& instruction : result_)
      std::erase_if(instruction.waits, [this](EventId event) { return lost_.contains(event); });
    return std::move(result_);
  }

  // Receives that are left out signal nothing; what waits for them waits for the others.
  const std::set<EventId>& lost() const { return lost_; }

 private:
  // Before the sum is used in any other way.
  void add_own(program::BufferId partial, const std::vector<EventId>& waits) {
    if (held_ < 2 || !added_.insert(partial).second) return;
    const std::size_t elements = program_.buffers[static_cast<std::size_t>(partial)].elements;
    Join join{Join::Operator::add, {}, one_after_the_other(held_), {partial, 0, elements}};
    for (std::size_t row = 0; row < held_; ++row)
      join.inputs.push_back({partial, 0, elements, static_cast<int>(row)});
    result_.push_back({std::move(join), waits});
  }

  void keep_or_leave_out(const Receive& receive, const ExchangeInstruction& instruction) {
    const std::size_t message = received_[receive.from]++;
    if (!left_out_.at({receive.from, rank_})[message]) return result_.push_back(instruction);
    lost_.insert(instruction.signals.begin(), instruction.signals.end());
    const Region& region = receive.region;
    gone_.emplace(region.buffer, region.first);
  }

  ExchangeInstruction rewritten(ExchangeInstruction instruction) {
    auto& join = std::get<Join>(instruction.operation);
    if (join.op != Join::Operator::mean) return instruction;
    for (const Region& input : join.inputs) {
      if (is_partial(program_, input)) add_own(input.buffer, instruction.waits);
    }
    std::erase_if(join.inputs, [this](const Region& input) {
      return is_further_subtree(program_, input) || gone_.contains({input.buffer, input.first});
    });
    join.pairs = one_after_the_other(join.inputs.size());
    return instruction;
  }

  const Program& program_;
  const int rank_;
  const LeftOut& left_out_;
  std::size_t held_ = 0;  // subtrees of this rank
  std::vector<ExchangeInstruction> result_;
  std::set<program::BufferId> added_;                         // partial sums that are one sum now
  std::map<int, std::size_t> received_;                       // by rank: messages so far
  std::set<std::pair<program::BufferId, std::size_t>> gone_;  // places that nothing arrives at
  std::set<EventId> lost_;
};

// Events that are still signalled get the numbers from 0 on.
void number_events(Program& program, const std::set<EventId>& lost) {
  std::vector<EventId> number(static_cast<std::size_t>(program.events));
  int next = 0;
  for (EventId event = 0; event < program.events; ++event)
    number[static_cast<std::size_t>(event)] = lost.contains(event) ? -1 : next++;
  program.events = next;
  const auto renumber = [&](std::vector<EventId>& events) {
    for (EventId& event : events) event = number[static_cast<std::size_t>(event)];
  };
  for (ExchangeInstruction& instruction : program.exchange) {
    renumber(instruction.waits);
    renumber(instruction.signals);
  }
  for (program::Segment& segment : program.segments) {
    renumber(segment.waits);
    for (program::Instruction& instruction : segment.instructions) renumber(instruction.signals);
  }
}

}  // namespace

std::vector<Program> without_order(std::vector<Program> programs) {
  const LeftOut left_out = left_out_of(programs);
  for (std::size_t rank = 0; rank < programs.size(); ++rank) {
    Rewriter rewriter(programs[rank], static_cast<int>(rank), left_out);
    programs[rank].exchange = rewriter.rewrite();
    number_events(programs[rank], rewriter.lost());
  }
  return programs;
}

}  // namespace lockstep::measure
