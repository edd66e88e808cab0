// Programs of all ranks, run on symbols instead of numbers: a sum is the text of its additions.
//
// Memory is modelled as the transport treats it: a message is copied at any moment after both sides have
// started it, so a list that writes what it has sent too early shows here.
#pragma once
#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "program/program.h"

namespace lockstep::program {

// The pack tree as plain recursion.
inline std::string tree_text(int first, int last) {
  if (last - first == 1) return std::to_string(first);
  int left = 1;
  while (2 * left < last - first) left *= 2;
  return fmt::format("({}+{})", tree_text(first, first + left), tree_text(first + left, last));
}

// Runs the lists of all ranks under an interleaving drawn from `seed`.
class Simulation {
 public:
  Simulation(std::span<const Program> programs, unsigned seed) : random_(seed) {
    for (const Program& program : programs) ranks_.push_back({&program});
    for (Rank& rank : ranks_) find_cuts(rank);
  }

  // False if no rank can move before all of them are done.
  bool run() {
    std::vector<std::function<bool()>> moves;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      moves.emplace_back([this, r] { return work(r); });
      moves.emplace_back([this, r] { return advance(r); });
      for (std::size_t from = 0; from < ranks_.size(); ++from)
        moves.emplace_back([this, from, r] { return deliver(from, r); });
    }
    for (bool moved = true; moved;) {
      moved = false;
      std::ranges::shuffle(moves, random_);
      for (const auto& move : moves) moved = move() || moved;
    }
    return std::ranges::all_of(ranks_,
                               [](const Rank& rank) {
                                 return rank.segment == rank.program->segments.size() &&
                                        rank.next == rank.program->exchange.size();
                               }) &&
           std::ranges::all_of(channels_, [](const auto& channel) {
             return channel.second.sent.empty() && channel.second.wanted.empty();
           });
  }

  // The text of every piece of a region.
  std::vector<std::string> at(std::size_t rank, const Region& region) {
    std::vector<std::string> texts;
    for (const Piece& piece : pieces(ranks_[rank], region)) {
      const auto found = ranks_[rank].memory.find(piece);
      texts.push_back(found == ranks_[rank].memory.end() ? "nothing" : found->second);
    }
    return texts;
  }

 private:
  struct Piece {  // from one place where any region begins or ends to the next
    BufferId buffer;
    int row;
    std::size_t first;
    auto operator<=>(const Piece&) const = default;
  };
  struct Rank {
    const Program* program = nullptr;
    std::map<Piece, std::string> memory = {};
    std::size_t segment = 0, instruction = 0;  // of the work, next
    std::size_t next = 0;                      // of the exchange
    std::set<EventId> happened = {};
    std::map<BufferId, std::set<std::size_t>> cuts = {};
  };
  struct Channel {
    std::deque<const ExchangeInstruction*> sent, wanted;
  };

  static void cut(Rank& rank, const Region& region) {
    rank.cuts[region.buffer].insert(region.first);
    rank.cuts[region.buffer].insert(region.first + region.count);
  }
  static void find_cuts(Rank& rank) {
    for (std::size_t b = 0; b < rank.program->buffers.size(); ++b)
      cut(rank, {static_cast<BufferId>(b), 0, rank.program->buffers[b].elements});
    for (const ExchangeInstruction& i : rank.program->exchange) {
      if (const auto* const send = std::get_if<Send>(&i.operation)) cut(rank, send->region);
      if (const auto* const receive = std::get_if<Receive>(&i.operation)) cut(rank, receive->region);
      const auto* const join = std::get_if<Join>(&i.operation);
      if (join == nullptr) continue;
      cut(rank, join->output);
      for (const Region& input : join->inputs) cut(rank, input);
    }
    for (const Segment& segment : rank.program->segments) {
      for (const Instruction& i : segment.instructions) std::visit(RowCuts{rank, i}, i.operation);
    }
    // An update and its gradient are cut alike.
    for (const Sum& sum : rank.program->sums) {
      if (sum.parameter < 0) continue;
      std::set<std::size_t> both = rank.cuts[sum.gradient];
      both.merge(std::set(rank.cuts[sum.parameter]));
      rank.cuts[sum.gradient] = rank.cuts[sum.parameter] = both;
    }
  }
  // Statistics are cut into their rows.
  struct RowCuts {
    Rank& rank;
    const Instruction& instruction;
    void rows(BufferId buffer, int channels, int numbers) const {
      const auto row = static_cast<std::size_t>(channels) * static_cast<std::size_t>(numbers);
      const std::size_t all = rank.program->buffers[static_cast<std::size_t>(buffer)].elements;
      EXPECT_EQ(all % row, 0U) << instruction.layer;
      for (std::size_t first = 0; first < all; first += row) cut(rank, {buffer, first, row});
    }
    template <class Other>
    void operator()(const Other&) const {}
    void operator()(const NormStatistics& n) const { rows(instruction.outputs[0], n.shape.channels, 3); }
    void operator()(const NormSums& n) const { rows(instruction.outputs[0], n.shape.channels, 2); }
    void operator()(const NormCoefficients& n) const {
      rows(instruction.inputs[0], n.channels, 3);
      rows(instruction.outputs[0], n.channels, 4);
    }
    void operator()(const NormFactors& n) const {
      rows(instruction.inputs[2], n.channels, 2);
      rows(instruction.outputs[0], n.channels, 3);
    }
    void operator()(const NormRunning& n) const { rows(instruction.inputs[1], n.channels, 3); }
  };
  static std::vector<Piece> pieces(Rank& rank, const Region& region) {
    std::vector<Piece> list;
    for (int row = region.row; row < region.row + region.rows; ++row) {
      for (const std::size_t first : rank.cuts[region.buffer]) {
        if (first >= region.first && first < region.first + region.count)
          list.push_back({region.buffer, row, first});
      }
    }
    return list;
  }
  static Region whole(const Rank& rank, BufferId buffer) {
    return {buffer, 0, rank.program->buffers[static_cast<std::size_t>(buffer)].elements};
  }
  void write(Rank& rank, const Region& region, const std::string& text) {
    for (const Piece& piece : pieces(rank, region)) rank.memory[piece] = text;
  }
  static bool may_start(const Rank& rank, const std::vector<EventId>& waits) {
    return std::ranges::all_of(waits, [&](EventId event) { return rank.happened.contains(event); });
  }

  // One instruction of the work, now or later.
  bool work(std::size_t r) {
    Rank& rank = ranks_[r];
    if (rank.segment == rank.program->segments.size()) return false;
    const Segment& segment = rank.program->segments[rank.segment];
    if (rank.instruction == 0 && !may_start(rank, segment.waits)) return false;
    if (random_() % 4 != 0) return true;
    if (rank.instruction < segment.instructions.size()) {
      const Instruction& instruction = segment.instructions[rank.instruction];
      compute(rank, segment, instruction);
      rank.happened.insert(instruction.signals.begin(), instruction.signals.end());
    }
    if (++rank.instruction >= segment.instructions.size()) {
      rank.instruction = 0;
      ++rank.segment;
    }
    return true;
  }

  void compute(Rank& rank, const Segment& segment, const Instruction& instruction) {
    for (const BufferId output : instruction.outputs) {
      const Role role = rank.program->buffers[static_cast<std::size_t>(output)].role;
      if (role == Role::partial) {
        const auto held = arithmetic::cover(rank.program->packs, segment.packs);
        for (std::size_t row = 0; row < held.size(); ++row) {
          Region region = whole(rank, output);
          region.row = static_cast<int>(row);
          write(rank, region, tree_text(held[row].first, held[row].last));
        }
      } else if (role == Role::counts) {
        write(rank, whole(rank, output),
              fmt::format("{} of {}", operation_name(instruction.operation), &rank - ranks_.data()));
      }
    }
    std::visit(Norms{*this, rank, segment, instruction}, instruction.operation);
    if (const auto* const update = std::get_if<Update>(&instruction.operation)) {
      const Region part{instruction.outputs[0], update->part.first, update->part.count};
      for (const Piece& piece : pieces(rank, part))
        rank.memory[piece] = "updated by " + rank.memory[{instruction.inputs[2], 0, piece.first}];
      seen_verdicts_.insert(rank.memory[{instruction.inputs[0], 0, 0}]);
    }
  }

  // What batch norms read and write beside the numbers of a pack.
  struct Norms {
    Simulation& simulation;
    Rank& rank;
    const Segment& segment;
    const Instruction& instruction;

    std::string& row(BufferId buffer, int channels, int numbers, int number) const {
      const int first = channels * numbers * number;
      return rank.memory[{buffer, 0, static_cast<std::size_t>(first)}];
    }
    void packs(BufferId buffer, int channels, int numbers) const {
      for (int pack = segment.packs.first; pack < segment.packs.last; ++pack)
        row(buffer, channels, numbers, pack) = std::to_string(pack);
    }
    template <class Norm>
    void reads(const Norm& n, std::size_t operand, int numbers) const {
      for (int pack = segment.packs.first; pack < segment.packs.last; ++pack) {
        const int group = n.groups.of(pack);
        const std::string& text = row(instruction.inputs[operand], n.shape.channels, numbers, group);
        simulation.read_statistics_.insert({group, text});
      }
    }
    template <class Other>
    void operator()(const Other&) const {}
    void operator()(const NormStatistics& n) const { packs(instruction.outputs[0], n.shape.channels, 3); }
    void operator()(const NormSums& n) const {
      packs(instruction.outputs[0], n.shape.channels, 2);
      reads(n, 2, 4);
    }
    void operator()(const NormForward& n) const { reads(n, 1, 4); }
    void operator()(const NormInputGradient& n) const {
      reads(n, 2, 4);
      reads(n, 3, 3);
    }
    void operator()(const NormCoefficients& n) const {
      for (int g = n.first; g < n.last; ++g)
        row(instruction.outputs[0], n.channels, 4, g) =
            "coefficients of " + row(instruction.inputs[0], n.channels, 3, g);
    }
    void operator()(const NormFactors& n) const {
      for (int g = n.first; g < n.last; ++g)
        row(instruction.outputs[0], n.channels, 3, g) = fmt::format(
            "factors of {}, {}, {}", row(instruction.inputs[0], n.channels, 3, g),
            row(instruction.inputs[1], n.channels, 4, g), row(instruction.inputs[2], n.channels, 2, g));
    }
    void operator()(const NormRunning& n) const {
      for (const BufferId running : instruction.outputs) {
        std::string text = "running";
        for (int g = 0; g < n.groups; ++g) text += " " + row(instruction.inputs[1], n.channels, 3, g);
        simulation.write(rank, whole(rank, running), text);
      }
    }
  };

  bool advance(std::size_t r) {
    Rank& rank = ranks_[r];
    if (rank.next == rank.program->exchange.size()) return false;
    const ExchangeInstruction& instruction = rank.program->exchange[rank.next];
    if (!may_start(rank, instruction.waits)) return false;
    ++rank.next;
    if (const auto* const send = std::get_if<Send>(&instruction.operation)) {
      channels_[{r, static_cast<std::size_t>(send->to)}].sent.push_back(&instruction);
    } else if (const auto* const receive = std::get_if<Receive>(&instruction.operation)) {
      channels_[{static_cast<std::size_t>(receive->from), r}].wanted.push_back(&instruction);
    } else {
      join(rank, std::get<Join>(instruction.operation));
      rank.happened.insert(instruction.signals.begin(), instruction.signals.end());
    }
    return true;
  }

  void join(Rank& rank, const Join& join) {
    const std::vector<Piece> outputs = pieces(rank, join.output);
    std::vector<std::vector<Piece>> inputs;
    for (const Region& input : join.inputs) inputs.push_back(pieces(rank, input));
    for (std::size_t p = 0; p < outputs.size(); ++p) {
      std::vector<std::string> values;
      for (const auto& input : inputs) values.push_back(rank.memory[input.at(p)]);
      for (const arithmetic::JoinPair& pair : join.pairs)
        values[static_cast<std::size_t>(pair.into)] =
            fmt::format("({}+{})", values[static_cast<std::size_t>(pair.into)],
                        values[static_cast<std::size_t>(pair.from)]);
      const bool counts = join.op == Join::Operator::integer_add || join.op == Join::Operator::both;
      for (std::size_t i = 0; !counts && i < inputs.size(); ++i) rank.memory[inputs[i][p]] = "used up";
      rank.memory[outputs[p]] = (join.op == Join::Operator::mean ? "mean " : "") + values[0];
    }
  }

  bool deliver(std::size_t from, std::size_t to) {
    Channel& channel = channels_[{from, to}];
    if (channel.sent.empty() || channel.wanted.empty()) return false;
    if (random_() % 3 == 0) return true;
    const ExchangeInstruction& sent = *channel.sent.front();
    const ExchangeInstruction& wanted = *channel.wanted.front();
    const std::vector<Piece> source = pieces(ranks_[from], std::get<Send>(sent.operation).region);
    const std::vector<Piece> target = pieces(ranks_[to], std::get<Receive>(wanted.operation).region);
    EXPECT_EQ(source.size(), target.size()) << "from " << from << " to " << to;
    for (std::size_t p = 0; p < std::min(source.size(), target.size()); ++p)
      ranks_[to].memory[target[p]] = ranks_[from].memory[source[p]];
    ranks_[from].happened.insert(sent.signals.begin(), sent.signals.end());
    ranks_[to].happened.insert(wanted.signals.begin(), wanted.signals.end());
    channel.sent.pop_front();
    channel.wanted.pop_front();
    return true;
  }

 public:
  // What updates were told, on any rank.
  const std::set<std::string>& verdicts() const { return seen_verdicts_; }
  // Which group's statistics packs were computed with, and what they were, on any rank.
  const std::set<std::pair<int, std::string>>& read_statistics() const { return read_statistics_; }

 private:
  std::mt19937 random_;
  std::vector<Rank> ranks_;
  std::map<std::pair<std::size_t, std::size_t>, Channel> channels_;
  std::set<std::string> seen_verdicts_;
  std::set<std::pair<int, std::string>> read_statistics_;
};

}  // namespace lockstep::program
