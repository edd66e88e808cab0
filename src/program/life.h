// When the numbers of a pack are needed: from the first instruction that uses a buffer to the last.
#pragma once
#include <limits>
#include <vector>

#include "program/nest.h"
#include "program/program.h"

namespace lockstep::program {

// Instructions over packs are numbered through all segments. A buffer is needed from `first` to `last`, both
// included.
struct Life {
  int first = 0, last = -1;  // -1: no instruction over packs uses the buffer
  int copies = 1;            // packs whose numbers a workspace holds at once
  bool used() const { return last >= first; }
  bool meets(const Life& other) const { return first <= other.last && other.first <= last; }
};

// From before the step to after it.
inline constexpr Life kAlways{-1, std::numeric_limits<int>::max()};

// By buffer, for buffers that do not outlive their segment (program/crossing.h).
//
// Where packs go one by one, the numbers of the first pack of a group wait while the others follow. So a
// buffer that is used inside and outside the grouped instructions has a copy for each pack of the group; it
// is needed from the start of the segment if it is used before the grouped instructions, and to the end of
// the segment if it is used after them.
std::vector<Life> lives_of(const Program& program, const Nest& nest);

// May the instruction write its output over this input? See InPlace.
bool may_overwrite(const Instruction& instruction, std::size_t input);

}  // namespace lockstep::program
