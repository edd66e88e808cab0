// The lists of several ranks, made operation by operation in one global order. Each operation gets waits for
// everything before it that touches the same numbers and that the order of a list does not put before it. So
// the lists are legal by construction.
#pragma once
#include <vector>

#include "program/rank_builder.h"

namespace lockstep::random_program {

class LegalLists {
 public:
  void add(program::RankBuilder rank);
  program::RankBuilder& at(int rank) { return ranks_[static_cast<std::size_t>(rank)].builder; }
  std::vector<program::Program> programs();

  enum class Opens { where_needed, always };
  // `opens`: does the instruction open a segment, over these packs?
  void append_work(int rank, program::Instruction instruction, arithmetic::PackRange packs, Opens opens);
  void append_message(int from, const program::Region& source, int to, const program::Region& target);
  void append_join(int rank, program::Join join);

 private:
  // An operation that has been appended, as later ones see it.
  struct Access {
    program::Region region;
    bool writes = false;
    bool work = false, message = false;  // else a join
    std::size_t segment = 0, index = 0;  // of the instruction
  };
  struct ListedRank {
    program::RankBuilder builder;
    std::vector<Access> accesses = {};
  };

  program::Region all_rows(int rank, program::BufferId id);
  program::EventId event_of(int rank, const Access& access);
  std::vector<program::EventId> waits_for(int rank, const std::vector<Access>& wanted, bool for_work);
  void remember(int rank, const std::vector<Access>& accesses);
  void append_exchange(int rank, program::ExchangeInstruction instruction, std::vector<Access> accesses);

  std::vector<ListedRank> ranks_;
};

}  // namespace lockstep::random_program
