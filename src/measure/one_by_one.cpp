#include "measure/one_by_one.h"

#include "measure/instruction_work.h"

namespace lockstep::measure {

std::vector<program::Program> one_by_one(const program::Program& program, std::size_t segment) {
  std::vector<program::Program> singles;
  const program::Segment& packs = program.segments[segment];
  for (const program::Instruction& instruction : packs.instructions) {
    program::Program& single = singles.emplace_back(program);
    single.purpose = program::Purpose::timing;
    single.segments = {{kernel_name(instruction), packs.over, {instruction}, packs.packs}};
    single.segments[0].instructions[0].signals.clear();
    single.exchange.clear();
    single.events = 0;
  }
  return singles;
}

}  // namespace lockstep::measure
