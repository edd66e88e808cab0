#include "program/looks.h"

#include <fmt/format.h>

namespace lockstep::program {

void send_looks(std::vector<RankBuilder>& ranks) {
  RankBuilder& first = ranks.front();
  if (first.program().received_looks.empty()) {
    first.program().received_looks.push_back(first.program().looks);
    for (std::size_t rank = 1; rank < ranks.size(); ++rank)
      first.program().received_looks.push_back(first.add_buffer(fmt::format("looks.{}", rank), Role::counts,
                                                                first.elements(first.program().looks)));
  }
  for (std::size_t rank = 1; rank < ranks.size(); ++rank) {
    RankBuilder& from = ranks[rank];
    from.send(0, from.whole(from.program().looks),
              {from.when_done(from.program().segments.back().instructions.back())});
    first.receive(static_cast<int>(rank), first.whole(first.program().received_looks[rank]));
  }
}

}  // namespace lockstep::program
