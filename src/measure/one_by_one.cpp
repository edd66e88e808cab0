#include "measure/one_by_one.h"

#include <utility>

#include "measure/instruction_work.h"

namespace lockstep::measure {

OneByOne one_by_one(program::Program program) {
  OneByOne result{std::move(program), 0};
  std::vector<program::Segment>& segments = result.program.segments;
  result.first_single = segments.size();
  std::vector<program::Segment> singles;
  for (const program::Segment& segment : segments) {
    if (segment.over != program::Segment::Over::packs) continue;
    for (const program::Instruction& i : segment.instructions) {
      singles.push_back({kernel_name(i), segment.over, {i}});
    }
  }
  segments.insert(segments.end(), singles.begin(), singles.end());
  return result;
}

}  // namespace lockstep::measure
