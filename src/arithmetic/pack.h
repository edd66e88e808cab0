// A pack: 16 consecutive examples of the global minibatch, one per lane. It is never divided.
#pragma once

namespace lockstep::arithmetic {

inline constexpr int kPack = 16;

// Packs of a minibatch of `examples`; the last may have absent lanes.
constexpr int pack_count(int examples) { return (examples + kPack - 1) / kPack; }

}  // namespace lockstep::arithmetic
