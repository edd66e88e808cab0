// Loads, stores, atomic operations and exchanges between lanes.
#pragma once

#include <string_view>

#include "exec/lanewise.h"
#include "ptx/text.h"

namespace standin {

struct MemoryShape {
  ptx::Space space;  // none: a generic address
  int bits;          // of one element
  int count;         // 1, 2 or 4 elements
  int address_bits;  // of the register with the address
};

// Sources: the address. Results: the elements.
Form load_form(const MemoryShape& shape);
// Sources: the address, then the elements, which stand in the operation's d.
Form store_form(const MemoryShape& shape);

// "add.u32" and its like. Sources: the address, one value, and for "cas" a second. No handlers if it is not
// known.
Form atomic_form(ptx::Space space, std::string_view operation);

// "bfly", "up", "down", "idx". Sources: the value, the lane, the clamp, the members; the second result is a
// predicate.
Form shuffle_form(std::string_view mode);

}  // namespace standin
