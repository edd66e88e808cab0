// The programs of all ranks, run on terms instead of numbers.
//
// Memory is treated as the transport treats it: a message is copied at any moment after both sides have
// started it, so a list that writes too early what it has sent shows here. Partial sums are what the pack
// tree says that a rank holds: from the start where no instruction makes them, because then the caller puts
// them there. Counts that no instruction makes are their buffer's own. Activations are not followed.
#pragma once
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "program/program.h"
#include "program/terms.h"

namespace lockstep::program {

class Simulation {
 public:
  // What is followed as one.
  enum class Pieces {
    between_cuts,  // from one place where any region begins or ends to the next: for lists in which both
                   // sides of a message are cut alike, as data parallelism's are
    elements,      // each element by itself: for any lists
  };

  // `seed` draws which rank, list or message goes on next; without it, each goes on as soon as it can.
  // `terms`: those of another simulation, so that the terms of both can be compared.
  // Requires: the programs outlive the simulation.
  explicit Simulation(std::span<const Program> programs, std::optional<unsigned> seed = {},
                      Pieces pieces = Pieces::between_cuts, Terms terms = {});

  // False if no rank can go on before all of them are done.
  bool run();

  // The terms of a region, piece by piece.
  std::vector<Term> at(std::size_t rank, const Region& region) const;
  // What updates were told, and what checks and updates read, on any rank.
  const std::set<Term>& verdicts() const { return verdicts_; }
  const std::set<Term>& gradients_read() const { return gradients_read_; }
  // Statistics that packs were computed with, on any rank.
  struct StatisticsRead {
    int group_packs = 0, group = 0;  // see PackGroups
    Term term = kNothing;
    auto operator<=>(const StatisticsRead&) const = default;
  };
  const std::set<StatisticsRead>& statistics_read() const { return statistics_read_; }
  Terms& terms() { return terms_; }

 private:
  struct Held {                     // the numbers of one buffer
    std::vector<std::size_t> cuts;  // sorted: a piece goes from each to the next
    std::vector<std::vector<Term>> rows;
  };
  struct SimulatedRank {
    const Program* program;
    std::vector<Held> memory = {};             // by buffer
    std::size_t segment = 0, instruction = 0;  // of the work, next
    std::size_t next = 0;                      // of the exchange
    std::vector<bool> happened = {};           // by event
  };
  struct Channel {  // from one rank to another
    std::deque<const ExchangeInstruction*> sent = {}, wanted = {};
  };
  struct Norms;                                      // what batch norms read and write
  using Pair = std::pair<std::size_t, std::size_t>;  // sender, receiver

  static void cut_memory(SimulatedRank& rank, Pieces pieces);
  void put_partials(std::size_t rank, arithmetic::PackRange packs, BufferId partial);
  void put_what_nothing_makes(std::size_t rank);
  // Pieces [first, last) of the buffer.
  static std::pair<std::size_t, std::size_t> pieces(const Held& held, const Region& region);
  std::vector<Term*> places(std::size_t rank, const Region& region);
  std::vector<Term*> whole(std::size_t rank, BufferId buffer);
  static bool may_start(const SimulatedRank& rank, const std::vector<EventId>& waits);
  static void signal(SimulatedRank& rank, const std::vector<EventId>& events);
  bool lingers(unsigned one_in);

  bool work(std::size_t rank);
  void compute(std::size_t rank, const Segment& segment, const Instruction& instruction);
  void norm(std::size_t rank, const Segment& segment, const Instruction& instruction);
  void update(std::size_t rank, const Instruction& instruction, Part part);
  bool exchange(std::size_t rank);
  void join(std::size_t rank, const Join& join);
  void deliver(const Pair& pair);

  std::optional<std::mt19937> random_;
  std::vector<SimulatedRank> ranks_;
  std::map<Pair, Channel> channels_;
  std::vector<Pair> ready_;  // channels whose first message both sides have started
  std::set<Term> verdicts_, gradients_read_;
  std::set<StatisticsRead> statistics_read_;
  Terms terms_;
};

}  // namespace lockstep::program
