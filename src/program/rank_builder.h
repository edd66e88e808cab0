// One rank's program while it is split off a step: adds buffers, events and instructions of the exchange.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "program/program.h"

namespace lockstep::program {

class RankBuilder {
 public:
  explicit RankBuilder(Program program) : program_(std::move(program)) {}

  BufferId add_buffer(std::string name, Role role, std::size_t elements);
  Region whole(BufferId buffer) const { return {buffer, 0, elements(buffer)}; }
  std::size_t elements(BufferId buffer) const {
    return program_.buffers[static_cast<std::size_t>(buffer)].elements;
  }

  // ---- events of the work
  // The partial sum, the counts or the rows of statistics that the packs make are complete. No event (and so
  // nothing to wait for) where no instruction makes them.
  std::vector<EventId> when_complete(BufferId output);
  // No pack is worked on any more.
  std::vector<EventId> when_packs_are_done();
  // The instruction is done.
  EventId when_done(Instruction& instruction);

  // ---- the exchange
  void send(int to, const Region& region, std::vector<EventId> waits = {});
  EventId receive(int from, const Region& region, std::vector<EventId> waits = {});  // it has arrived
  EventId join(Join join, std::vector<EventId> waits);                               // it is done

  Program& program() { return program_; }

 private:
  Program program_;
};

}  // namespace lockstep::program
