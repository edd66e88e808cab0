#include "program/simulation.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/error.h"
#include "program/statistics_rows.h"

namespace lockstep::program {
namespace {

std::vector<Region> regions_of(const ExchangeInstruction& instruction) {
  if (const auto* const send = std::get_if<Send>(&instruction.operation)) return {send->region};
  if (const auto* const receive = std::get_if<Receive>(&instruction.operation)) return {receive->region};
  const Join& join = std::get<Join>(instruction.operation);
  std::vector<Region> regions = join.inputs;
  regions.push_back(join.output);
  return regions;
}

}  // namespace

Simulation::Simulation(std::span<const Program> programs, std::optional<unsigned> seed, Pieces pieces,
                       Terms terms)
    : terms_(std::move(terms)) {
  if (seed) random_.emplace(*seed);
  ranks_.reserve(programs.size());
  for (const Program& program : programs) {
    SimulatedRank& rank = ranks_.emplace_back(SimulatedRank{&program});
    rank.happened.assign(static_cast<std::size_t>(program.events), false);
    cut_memory(rank, pieces);
    put_what_nothing_makes(ranks_.size() - 1);
  }
}

void Simulation::put_what_nothing_makes(std::size_t r) {
  const Program& program = *ranks_[r].program;
  std::vector<bool> made(program.buffers.size(), false);
  for (const Segment& segment : program.segments) {
    for (const Instruction& instruction : segment.instructions) {
      for (const BufferId output : instruction.outputs) made[static_cast<std::size_t>(output)] = true;
    }
  }
  for (std::size_t b = 0; b < made.size(); ++b) {
    if (made[b] || program.buffers[b].role != Role::counts) continue;
    const Term term = terms_.leaf(fmt::format("{} of {}", program.buffers[b].name, r));
    for (Term* const place : whole(r, static_cast<BufferId>(b))) *place = term;
  }
  const auto packs = std::ranges::find(program.segments, Segment::Over::packs, &Segment::over);
  if (packs == program.segments.end()) return;
  for (const Sum& sum : program.sums) {
    if (!made[static_cast<std::size_t>(sum.partial)]) put_partials(r, packs->packs, sum.partial);
  }
}

void Simulation::put_partials(std::size_t r, arithmetic::PackRange packs, BufferId partial) {
  const Program& program = *ranks_[r].program;
  const auto sum = std::ranges::find(program.sums, partial, &Sum::partial);
  const Join::Operator op = sum == program.sums.end() ? Join::Operator::add : sum->op;
  const std::vector<arithmetic::PackRange> held = arithmetic::cover(program.packs, packs);
  for (std::size_t row = 0; row < held.size(); ++row) {
    const Term term = terms_.pack_tree(op, held[row].first, held[row].last);
    Region region{partial, 0, program.buffers[static_cast<std::size_t>(partial)].elements};
    region.row = static_cast<int>(row);
    for (Term* const place : places(r, region)) *place = term;
  }
}

void Simulation::cut_memory(SimulatedRank& rank, Pieces pieces) {
  const Program& program = *rank.program;
  std::vector<std::vector<std::size_t>> cuts(program.buffers.size());
  std::vector<int> rows(program.buffers.size(), 1);
  for (std::size_t b = 0; b < cuts.size(); ++b) cuts[b] = {0, program.buffers[b].elements};
  const auto cut = [&](BufferId buffer, std::size_t first, std::size_t count) {
    std::vector<std::size_t>& at = cuts[static_cast<std::size_t>(buffer)];
    at.insert(at.end(), {first, first + count});
  };
  for (const ExchangeInstruction& instruction : program.exchange) {
    for (const Region& region : regions_of(instruction)) {
      cut(region.buffer, region.first, region.count);
      int& most = rows[static_cast<std::size_t>(region.buffer)];
      most = std::max(most, region.row + region.rows);
    }
  }
  for (const Segment& segment : program.segments) {
    for (const Instruction& instruction : segment.instructions) {
      for (const StatisticsRows& table : statistics_rows(instruction)) {
        for (std::size_t first = 0; first < program.buffers[static_cast<std::size_t>(table.buffer)].elements;
             first += table.row)
          cut(table.buffer, first, table.row);
      }
    }
  }
  // A parameter and its gradient are cut alike.
  for (const Sum& sum : program.sums) {
    if (sum.parameter < 0) continue;
    std::vector<std::size_t>& gradient = cuts[static_cast<std::size_t>(sum.gradient)];
    std::vector<std::size_t>& parameter = cuts[static_cast<std::size_t>(sum.parameter)];
    gradient.insert(gradient.end(), parameter.begin(), parameter.end());
    parameter = gradient;
  }
  for (const Segment& segment : program.segments) {
    const auto subtrees = static_cast<int>(arithmetic::cover(program.packs, segment.packs).size());
    for (std::size_t b = 0; b < rows.size(); ++b) {
      if (program.buffers[b].role == Role::partial) rows[b] = std::max(rows[b], subtrees);
    }
  }
  for (std::size_t b = 0; b < cuts.size(); ++b) {
    if (pieces == Pieces::elements) {
      cuts[b].resize(program.buffers[b].elements + 1);
      std::iota(cuts[b].begin(), cuts[b].end(), std::size_t{0});
    }
    std::ranges::sort(cuts[b]);
    cuts[b].erase(std::unique(cuts[b].begin(), cuts[b].end()), cuts[b].end());
    std::vector<std::vector<Term>> terms(static_cast<std::size_t>(rows[b]),
                                         std::vector<Term>(cuts[b].size() - 1, kNothing));
    rank.memory.push_back({std::move(cuts[b]), std::move(terms)});
  }
}

std::pair<std::size_t, std::size_t> Simulation::pieces(const Held& held, const Region& region) {
  const auto index = [&](std::size_t element) {
    return static_cast<std::size_t>(std::ranges::lower_bound(held.cuts, element) - held.cuts.begin());
  };
  return {index(region.first), index(region.first + region.count)};
}

std::vector<Term*> Simulation::places(std::size_t rank, const Region& region) {
  Held& held = ranks_[rank].memory[static_cast<std::size_t>(region.buffer)];
  const auto [first, last] = pieces(held, region);
  std::vector<Term*> places;
  places.reserve((last - first) * static_cast<std::size_t>(region.rows));
  for (int row = region.row; row < region.row + region.rows; ++row) {
    for (std::size_t piece = first; piece < last; ++piece)
      places.push_back(&held.rows[static_cast<std::size_t>(row)][piece]);
  }
  return places;
}

std::vector<Term*> Simulation::whole(std::size_t rank, BufferId buffer) {
  return places(rank, {buffer, 0, ranks_[rank].program->buffers[static_cast<std::size_t>(buffer)].elements});
}

std::vector<Term> Simulation::at(std::size_t rank, const Region& region) const {
  const Held& held = ranks_[rank].memory[static_cast<std::size_t>(region.buffer)];
  const auto [first, last] = pieces(held, region);
  std::vector<Term> terms;
  for (int row = region.row; row < region.row + region.rows; ++row) {
    const std::vector<Term>& all = held.rows[static_cast<std::size_t>(row)];
    terms.insert(terms.end(), all.begin() + static_cast<std::ptrdiff_t>(first),
                 all.begin() + static_cast<std::ptrdiff_t>(last));
  }
  return terms;
}

bool Simulation::may_start(const SimulatedRank& rank, const std::vector<EventId>& waits) {
  return std::ranges::all_of(waits,
                             [&](EventId event) { return rank.happened[static_cast<std::size_t>(event)]; });
}

void Simulation::signal(SimulatedRank& rank, const std::vector<EventId>& events) {
  for (const EventId event : events) rank.happened[static_cast<std::size_t>(event)] = true;
}

bool Simulation::lingers(unsigned one_in) { return random_ && (*random_)() % one_in != 0; }

bool Simulation::run() {
  std::vector<std::size_t> order(ranks_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (bool moved = true; moved;) {
    moved = false;
    if (random_) std::ranges::shuffle(order, *random_);
    for (const std::size_t rank : order) {
      do {
        const bool worked = work(rank), exchanged = exchange(rank);
        moved = moved || worked || exchanged;
        if (!worked && !exchanged) break;
      } while (!random_);
    }
    if (random_) std::ranges::shuffle(ready_, *random_);
    moved = moved || !ready_.empty();
    for (const Pair& pair : std::exchange(ready_, {})) deliver(pair);
  }
  return std::ranges::all_of(ranks_,
                             [](const SimulatedRank& rank) {
                               return rank.segment == rank.program->segments.size() &&
                                      rank.next == rank.program->exchange.size();
                             }) &&
         std::ranges::all_of(channels_, [](const auto& channel) {
           return channel.second.sent.empty() && channel.second.wanted.empty();
         });
}

// One instruction of the work, now or later.
bool Simulation::work(std::size_t r) {
  SimulatedRank& rank = ranks_[r];
  if (rank.segment == rank.program->segments.size()) return false;
  const Segment& segment = rank.program->segments[rank.segment];
  if (rank.instruction == 0 && !may_start(rank, segment.waits)) return false;
  if (lingers(4)) return true;
  if (rank.instruction < segment.instructions.size()) {
    const Instruction& instruction = segment.instructions[rank.instruction];
    compute(r, segment, instruction);
    signal(rank, instruction.signals);
  }
  if (++rank.instruction >= segment.instructions.size()) {
    rank.instruction = 0;
    ++rank.segment;
  }
  return true;
}

void Simulation::compute(std::size_t r, const Segment& segment, const Instruction& instruction) {
  const Program& program = *ranks_[r].program;
  for (const BufferId output : instruction.outputs) {
    const Buffer& buffer = program.buffers[static_cast<std::size_t>(output)];
    if (buffer.role == Role::partial) {
      put_partials(r, segment.packs, output);
    } else if (buffer.role == Role::counts) {
      const Term term = terms_.leaf(fmt::format("{} of {}", operation_name(instruction.operation), r));
      for (Term* const place : whole(r, output)) *place = term;
    }
  }
  if (const auto* const check = std::get_if<Check>(&instruction.operation)) {
    for (std::size_t i = 0; i < check->parts.size(); ++i) {
      for (const Term term : at(r, {instruction.inputs[i], check->parts[i].first, check->parts[i].count}))
        gradients_read_.insert(term);
    }
  }
  if (const auto* const update_ = std::get_if<Update>(&instruction.operation))
    update(r, instruction, update_->part);
  norm(r, segment, instruction);
}

void Simulation::update(std::size_t r, const Instruction& instruction, Part part) {
  verdicts_.insert(*whole(r, instruction.inputs[0]).front());
  const std::vector<Term> gradient = at(r, {instruction.inputs[2], part.first, part.count});
  const std::vector<Term*> parameter = places(r, {instruction.outputs[0], part.first, part.count});
  check(gradient.size() == parameter.size(), "{} is updated by {} pieces of a gradient in {}",
        instruction.layer, gradient.size(), parameter.size());
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    gradients_read_.insert(gradient[i]);
    *parameter[i] = terms_.updated_by(gradient[i]);
  }
}

// One instruction of the exchange, as far as it depends on this rank alone.
bool Simulation::exchange(std::size_t r) {
  SimulatedRank& rank = ranks_[r];
  if (rank.next == rank.program->exchange.size()) return false;
  const ExchangeInstruction& instruction = rank.program->exchange[rank.next];
  if (!may_start(rank, instruction.waits)) return false;
  ++rank.next;
  const auto post = [&](const Pair& pair, std::deque<const ExchangeInstruction*> Channel::*side) {
    Channel& channel = channels_[pair];
    (channel.*side).push_back(&instruction);
    // The message that this one completes, if it is the channel's first.
    if (!channel.sent.empty() && !channel.wanted.empty() && (channel.*side).size() == 1)
      ready_.push_back(pair);
  };
  if (const auto* const send = std::get_if<Send>(&instruction.operation)) {
    post({r, static_cast<std::size_t>(send->to)}, &Channel::sent);
  } else if (const auto* const receive = std::get_if<Receive>(&instruction.operation)) {
    post({static_cast<std::size_t>(receive->from), r}, &Channel::wanted);
  } else {
    join(r, std::get<Join>(instruction.operation));
    signal(rank, instruction.signals);
  }
  return true;
}

void Simulation::join(std::size_t r, const Join& join) {
  const std::vector<Term*> outputs = places(r, join.output);
  std::vector<std::vector<Term*>> inputs;
  inputs.reserve(join.inputs.size());
  for (const Region& input : join.inputs) inputs.push_back(places(r, input));
  const bool counts = join.op == Join::Operator::integer_add || join.op == Join::Operator::both;
  for (std::size_t piece = 0; piece < outputs.size(); ++piece) {
    std::vector<Term> values;
    values.reserve(inputs.size());
    for (const std::vector<Term*>& input : inputs) values.push_back(*input.at(piece));
    for (const arithmetic::JoinPair& pair : join.pairs) {
      Term& into = values[static_cast<std::size_t>(pair.into)];
      into = terms_.join(join.op, into, values[static_cast<std::size_t>(pair.from)]);
    }
    for (std::size_t i = 0; !counts && i < inputs.size(); ++i) *inputs[i][piece] = terms_.used_up();
    *outputs[piece] = join.op == Join::Operator::mean ? terms_.mean(values[0]) : values[0];
  }
}

// The first message of a channel arrives, now or later.
void Simulation::deliver(const Pair& pair) {
  if (lingers(3)) return ready_.push_back(pair);
  Channel& channel = channels_[pair];
  const ExchangeInstruction& sent = *channel.sent.front();
  const ExchangeInstruction& wanted = *channel.wanted.front();
  const std::vector<Term> source = at(pair.first, std::get<Send>(sent.operation).region);
  const std::vector<Term*> target = places(pair.second, std::get<Receive>(wanted.operation).region);
  check(source.size() == target.size(), "rank {} sends {} pieces, rank {} receives {}", pair.first,
        source.size(), pair.second, target.size());
  for (std::size_t p = 0; p < source.size(); ++p) *target[p] = source[p];
  signal(ranks_[pair.first], sent.signals);
  signal(ranks_[pair.second], wanted.signals);
  channel.sent.pop_front();
  channel.wanted.pop_front();
  if (!channel.sent.empty() && !channel.wanted.empty()) ready_.push_back(pair);
}

}  // namespace lockstep::program
