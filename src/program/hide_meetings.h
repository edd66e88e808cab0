// Work that a device does while statistics travel. The rows of a meeting are made by one segment over packs,
// and the segment behind the meeting waits until they have met. Between the two this puts a segment "packs
// meanwhile" with
//   - what the rows do not depend on, of the segment that makes them: the gradients of the weights before the
//     batch norm, the way back through a shortcut;
//   - what does not depend on the statistics, of the segment that reads them: a shortcut's convolution.
// It is a list scheduling with two places for every instruction: an instruction moves unless one that stays
// has to come behind it (or, of the later segment, before it). Only instructions that use no buffer of each
// other change their order, so no bit changes.
//
// What a moved instruction takes or gives may have to outlive its segment, and then it needs a place for
// every pack of the device. The gradient before a batch norm is written over the gradient behind it where
// nothing else reads that one: both are needed for all packs anyway. Beyond this, instructions move only as
// long as the numbers of a pack that outlive a segment grow by at most an eighth (kMostGrowth). One rank
// alone waits for nobody: its programs stay as they are. hide_meetings_test.cpp looks at what stands where.
#pragma once
#include "program/program.h"

namespace lockstep::program {

inline constexpr double kMostGrowth = 1.0 / 8;

// `step` is what compile.h makes. The sums stay in the order in which they become complete.
Program hide_meetings(Program step);

}  // namespace lockstep::program
