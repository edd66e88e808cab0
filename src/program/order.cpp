#include "program/order.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "program/access.h"
#include "program/print.h"

namespace lockstep::program {
namespace {

constexpr int kAllRows = 1 << 30;

// Where a node stands: the n-th of a list, or in none.
struct Position {
  int list = -1, index = 0;
};

struct OrderPoint {
  int rank = 0;
  Position position = {};
  std::vector<int> next = {};
  const Instruction* work = nullptr;
  const ExchangeInstruction* exchange = nullptr;
};

struct Access {
  Region region;
  bool writes = false, by_exchange = false;
  int start = 0, end = 0;  // nodes
};

class OrderCheck {
 public:
  explicit OrderCheck(std::span<const Program> programs)
      : programs_(programs), accesses_(programs.size()), lists_(2 * programs.size()) {
    for (std::size_t rank = 0; rank < programs.size(); ++rank) add_program(static_cast<int>(rank));
    connect_messages();
  }

  void run() {
    sort();
    for (std::size_t rank = 0; rank < programs_.size(); ++rank) check_accesses(static_cast<int>(rank));
  }

 private:
  using Events = std::vector<std::vector<int>>;  // by event: nodes

  int add_node(int rank, int list, const Instruction* work, const ExchangeInstruction* exchange) {
    Position position;
    if (list >= 0) position = {list, lists_[static_cast<std::size_t>(list)]++};
    nodes_.push_back({rank, position, {}, work, exchange});
    return static_cast<int>(nodes_.size()) - 1;
  }
  void connect(int from, int to) { nodes_[static_cast<std::size_t>(from)].next.push_back(to); }
  const Program& program(int rank) const { return programs_[static_cast<std::size_t>(rank)]; }

  void add_program(int rank) {
    const auto events = static_cast<std::size_t>(program(rank).events);
    Events signals(events), waits(events);
    touched_.assign(program(rank).buffers.size(), false);
    for (const ExchangeInstruction& instruction : program(rank).exchange) note_touched(instruction);
    add_work(rank, signals, waits);
    add_exchange(rank, signals, waits);
    for (std::size_t event = 0; event < events; ++event) {
      check(signals[event].size() == 1, "rank {}: event {} is signalled by {} instructions", rank, event,
            signals[event].size());
      for (const int waiter : waits[event]) connect(signals[event].front(), waiter);
    }
  }

  void note_touched(const ExchangeInstruction& instruction) {
    const auto note = [this](const Region& region) {
      touched_.at(static_cast<std::size_t>(region.buffer)) = true;
    };
    if (const auto* const join = std::get_if<Join>(&instruction.operation)) {
      note(join->output);
      for (const Region& input : join->inputs) note(input);
    } else {
      note(region_of(instruction));
    }
  }

  static const Region& region_of(const ExchangeInstruction& instruction) {
    const auto* const send = std::get_if<Send>(&instruction.operation);
    return send != nullptr ? send->region : std::get<Receive>(instruction.operation).region;
  }

  void note(const std::vector<EventId>& ids, Events& events, int node) const {
    for (const EventId id : ids) {
      check(id >= 0 && static_cast<std::size_t>(id) < events.size(), "event {} of {}", id, events.size());
      events[static_cast<std::size_t>(id)].push_back(node);
    }
  }

  void add_work(int rank, Events& signals, Events& waits) {
    int last = -1;
    const auto append = [&](int node) {
      if (last >= 0) connect(last, node);
      last = node;
    };
    for (const Segment& segment : program(rank).segments) {
      const int start = add_node(
          rank, 2 * rank, segment.instructions.empty() ? nullptr : segment.instructions.data(), nullptr);
      append(start);
      note(segment.waits, waits, start);
      for (const Instruction& instruction : segment.instructions) {
        append(add_node(rank, 2 * rank, &instruction, nullptr));
        note(instruction.signals, signals, last);
        add_accesses(rank, segment, instruction, start, last);
      }
    }
  }

  // What exchanges do not touch is ordered by the work list.
  void add_accesses(int rank, const Segment& segment, const Instruction& instruction, int start, int end) {
    const auto add = [&](BufferId buffer, Part part, bool writes) {
      if (!touched_[static_cast<std::size_t>(buffer)] || part.count == 0) return;
      accesses_[static_cast<std::size_t>(rank)].push_back(
          {{buffer, part.first, part.count, 0, kAllRows}, writes, false, start, end});
    };
    for (std::size_t i = 0; i < instruction.inputs.size(); ++i)
      add(instruction.inputs[i], part_read(program(rank), instruction, i), false);
    for (std::size_t i = 0; i < instruction.outputs.size(); ++i)
      add(instruction.outputs[i], part_written(program(rank), segment, instruction, i), true);
  }

  void add_exchange(int rank, Events& signals, Events& waits) {
    int last = -1;
    for (const ExchangeInstruction& instruction : program(rank).exchange) {
      const int start = add_node(rank, 2 * rank + 1, nullptr, &instruction);
      if (last >= 0) connect(last, start);
      note(instruction.waits, waits, start);
      const auto* const join = std::get_if<Join>(&instruction.operation);
      const int end = add_node(rank, join != nullptr ? 2 * rank + 1 : -1, nullptr, &instruction);
      connect(start, end);
      last = join != nullptr ? end : start;
      note(instruction.signals, signals, end);
      std::vector<Access>& accesses = accesses_[static_cast<std::size_t>(rank)];
      if (join != nullptr) {
        const bool uses_up = join->op != Join::Operator::integer_add && join->op != Join::Operator::both;
        for (const Region& input : join->inputs) accesses.push_back({input, uses_up, true, start, end});
        accesses.push_back({join->output, true, true, start, end});
        continue;
      }
      const auto* const send = std::get_if<Send>(&instruction.operation);
      accesses.push_back({region_of(instruction), send == nullptr, true, start, end});
      const int peer = send != nullptr ? send->to : std::get<Receive>(instruction.operation).from;
      if (peer < 0 || peer >= static_cast<int>(programs_.size()) || peer == rank)
        check(false, "{}: no such rank", named(start));
      (send != nullptr ? sends_[{rank, peer}] : receives_[{peer, rank}]).emplace_back(start, end);
    }
  }

  std::size_t bytes_of(int node) const {
    const OrderPoint& n = nodes_[static_cast<std::size_t>(node)];
    return region_bytes(program(n.rank), region_of(*n.exchange));
  }

  // The messages of a pair of ranks match in the order of their lists.
  void connect_messages() {
    for (const auto& [pair, sends] : sends_) {
      const auto& receives = receives_[pair];
      check(sends.size() == receives.size(), "rank {} sends {} messages to rank {}, which receives {}",
            pair.first, sends.size(), pair.second, receives.size());
      for (std::size_t i = 0; i < sends.size(); ++i) {
        if (bytes_of(sends[i].first) != bytes_of(receives[i].first))
          check(false, "{}, {} bytes; {}, {} bytes", named(sends[i].first), bytes_of(sends[i].first),
                named(receives[i].first), bytes_of(receives[i].first));
        connect(sends[i].first, receives[i].second);
        connect(receives[i].second, sends[i].second);
      }
    }
    for (const auto& [pair, receives] : receives_)
      check(sends_.contains(pair), "rank {} receives {} messages of rank {}, which sends none", pair.second,
            receives.size(), pair.first);
  }

  std::string named(int node) const {
    const OrderPoint& n = nodes_[static_cast<std::size_t>(node)];
    if (n.work != nullptr) return fmt::format("rank {}, {}", n.rank, to_text(*n.work));
    if (n.exchange != nullptr)
      return fmt::format("rank {}, {}", n.rank, to_text(*n.exchange, program(n.rank)));
    return fmt::format("rank {}, a segment without instructions", n.rank);
  }

  // Kahn's algorithm; a node's clock has, for each list, how many of its nodes come before.
  void sort() {
    std::vector<int> left(nodes_.size(), 0), ready;
    for (const OrderPoint& node : nodes_) {
      for (const int next : node.next) ++left[static_cast<std::size_t>(next)];
    }
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      if (left[node] == 0) ready.push_back(static_cast<int>(node));
    }
    clocks_.assign(nodes_.size() * lists_.size(), 0);
    std::size_t sorted = 0;
    for (; !ready.empty(); ++sorted) {
      const int node = ready.back();
      ready.pop_back();
      const Position position = nodes_[static_cast<std::size_t>(node)].position;
      int* const clock = clock_of(node);
      if (position.list >= 0) clock[position.list] = position.index + 1;
      for (const int next : nodes_[static_cast<std::size_t>(node)].next) {
        int* const later = clock_of(next);
        for (std::size_t list = 0; list < lists_.size(); ++list)
          later[list] = std::max(later[list], clock[list]);
        if (--left[static_cast<std::size_t>(next)] == 0) ready.push_back(next);
      }
    }
    if (sorted == nodes_.size()) return;
    const auto waiting = std::ranges::find_if(left, [](int count) { return count > 0; });
    check(false, "the programs wait for each other for ever: {}",
          named(static_cast<int>(waiting - left.begin())));
  }

  int* clock_of(int node) { return clocks_.data() + static_cast<std::size_t>(node) * lists_.size(); }

  // A message that is done stands in no list: what follows it on this rank does.
  bool before(int end, int start) {
    const OrderPoint& node = nodes_[static_cast<std::size_t>(end)];
    if (end == start) return true;
    if (node.position.list >= 0) return clock_of(start)[node.position.list] > node.position.index;
    return std::ranges::any_of(node.next, [&](int next) { return next == start || before(next, start); });
  }

  void check_accesses(int rank) {
    std::vector<Access>& accesses = accesses_[static_cast<std::size_t>(rank)];
    std::ranges::sort(accesses, {},
                      [](const Access& a) { return std::pair(a.region.buffer, a.region.first); });
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      const Access& a = accesses[i];
      for (std::size_t j = i + 1; j < accesses.size(); ++j) {
        const Access& b = accesses[j];
        if (b.region.buffer != a.region.buffer || b.region.first >= a.region.first + a.region.count) break;
        if ((!a.by_exchange && !b.by_exchange) || (!a.writes && !b.writes) || !a.region.overlaps(b.region))
          continue;
        if (a.start == b.start || before(a.end, b.start) || before(b.end, a.start)) continue;
        check(false, "nothing orders two accesses to {}: {}; {}",
              program(rank).buffers[static_cast<std::size_t>(a.region.buffer)].name, named(a.start),
              named(b.start));
      }
    }
  }

  const std::span<const Program> programs_;
  std::vector<OrderPoint> nodes_;
  std::vector<std::vector<Access>> accesses_;  // by rank
  std::vector<int> lists_;                     // nodes in each: the work and the exchange of every rank
  std::vector<bool> touched_;                  // of the rank being added: buffers that its exchange names
  std::map<std::pair<int, int>, std::vector<std::pair<int, int>>> sends_,
      receives_;  // (from, to): start, end
  std::vector<int> clocks_;
};

}  // namespace

void check_order(std::span<const Program> programs) { OrderCheck(programs).run(); }

}  // namespace lockstep::program
