// Atomic operations and shuffles: where lanes meet inside one instruction.
#include <algorithm>
#include <atomic>
#include <bit>

#include "exec/memory_access.h"
#include "exec/memory_forms.h"

namespace standin {
namespace {

using ptx::Space;

struct Add {
  static auto of(auto a, auto b, auto) { return static_cast<decltype(a)>(a + b); }
};
struct And {
  static auto of(auto a, auto b, auto) { return a & b; }
};
struct Or {
  static auto of(auto a, auto b, auto) { return a | b; }
};
struct Xor {
  static auto of(auto a, auto b, auto) { return a ^ b; }
};
struct Minimum {
  static auto of(auto a, auto b, auto) { return b < a ? b : a; }
};
struct Maximum {
  static auto of(auto a, auto b, auto) { return a < b ? b : a; }
};
struct Exchange {
  static auto of(auto, auto b, auto) { return b; }
};
struct CompareAndSwap {
  static auto of(auto a, auto b, auto c) { return a == b ? c : a; }
};

// T is what is computed with, U the unsigned integer of its width.
template <Space space, class Operation, class T, class U>
void atomic(Warp& warp, const Op& op) {
  const std::uint64_t* const addresses = warp.lanes<const std::uint64_t>(op.s[0]);
  const T* const b = warp.lanes<const T>(op.s[1]);
  const T* const c = warp.lanes<const T>(op.s[2]);
  U* const d = warp.lanes<U>(op.d[0]);
  for (const std::uint8_t lane : warp.order) {
    if ((warp.active >> lane & 1u) == 0) continue;
    std::byte* const place =
        locate<space>(warp, op, addresses[lane] + op.immediate, sizeof(U), lane, Access::update);
    const std::atomic_ref<U> memory(*reinterpret_cast<U*>(place));
    U old = memory.load();
    while (!memory.compare_exchange_weak(
        old, std::bit_cast<U>(static_cast<T>(Operation::of(std::bit_cast<T>(old), b[lane], c[lane]))))) {
    }
    d[lane] = old;
  }
}

template <class Operation, class T, class U>
Form with_space(Space space) {
  const std::array<int, 5> bits{kBits<U>, 64, kBits<U>, kBits<U>};
  switch (space) {
    case Space::shared:
      return {atomic<Space::shared, Operation, T, U>, atomic<Space::shared, Operation, T, U>, bits};
    case Space::none:
      return {atomic<Space::none, Operation, T, U>, atomic<Space::none, Operation, T, U>, bits};
    case Space::global:
      return {atomic<Space::global, Operation, T, U>, atomic<Space::global, Operation, T, U>, bits};
    default:
      return {};
  }
}

enum class Mode { up, down, butterfly, index };

template <Mode mode>
void shuffle(Warp& warp, const Op& op) {
  const std::uint32_t* const values = warp.lanes<const std::uint32_t>(op.s[0]);
  const std::uint32_t* const b = warp.lanes<const std::uint32_t>(op.s[1]);
  const std::uint32_t* const c = warp.lanes<const std::uint32_t>(op.s[2]);
  const std::uint32_t* const members = warp.lanes<const std::uint32_t>(op.s[3]);
  std::uint32_t result[kLanes];
  Pred inside[kLanes];
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if ((warp.active >> lane & 1u) == 0) continue;
    if ((members[lane] & warp.present & ~warp.active) != 0) {
      throw Problem(Code::launch_failed,
                    "shfl.sync: thread {} names lanes {:#x} as members, but only {:#x} arrive together",
                    warp.thread[lane], members[lane], warp.active);
    }
    const std::uint32_t amount = b[lane] & 0x1f;
    const std::uint32_t segment = c[lane] >> 8 & 0x1f;
    const std::uint32_t clamp = c[lane] & 0x1f;
    const std::uint32_t most = (lane & segment) | (clamp & ~segment);
    const std::uint32_t least = lane & segment;
    std::uint32_t from = 0;
    bool valid = false;
    switch (mode) {
      case Mode::up:
        from = lane - amount;
        valid = static_cast<std::int32_t>(from) >= static_cast<std::int32_t>(most);
        break;
      case Mode::down:
        from = lane + amount;
        valid = from <= most;
        break;
      case Mode::butterfly:
        from = lane ^ amount;
        valid = from <= most;
        break;
      case Mode::index:
        from = least | (amount & ~segment);
        valid = from <= most;
    }
    if (!valid) from = lane;
    if ((warp.active >> from & 1u) == 0) {
      throw Problem(Code::launch_failed, "shfl.sync: thread {} reads lane {}, which does not take part",
                    warp.thread[lane], from);
    }
    result[lane] = values[from];
    inside[lane] = valid ? Pred::yes : Pred::no;
  }
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if ((warp.active >> lane & 1u) == 0) continue;
    warp.lanes<std::uint32_t>(op.d[0])[lane] = result[lane];
    warp.lanes<Pred>(op.d[1])[lane] = inside[lane];
  }
}

}  // namespace

Form atomic_form(Space space, std::string_view name) {
  using Word = std::uint32_t;
  using Long = std::uint64_t;
  if (name == "add.u32" || name == "add.s32") return with_space<Add, Word, Word>(space);
  if (name == "add.u64") return with_space<Add, Long, Long>(space);
  if (name == "add.f32") return with_space<Add, float, Word>(space);
  if (name == "add.f64") return with_space<Add, double, Long>(space);
  if (name == "and.b32") return with_space<And, Word, Word>(space);
  if (name == "or.b32") return with_space<Or, Word, Word>(space);
  if (name == "xor.b32") return with_space<Xor, Word, Word>(space);
  if (name == "min.u32") return with_space<Minimum, Word, Word>(space);
  if (name == "max.u32") return with_space<Maximum, Word, Word>(space);
  if (name == "min.s32") return with_space<Minimum, std::int32_t, Word>(space);
  if (name == "max.s32") return with_space<Maximum, std::int32_t, Word>(space);
  if (name == "min.u64") return with_space<Minimum, Long, Long>(space);
  if (name == "max.u64") return with_space<Maximum, Long, Long>(space);
  if (name == "exch.b32") return with_space<Exchange, Word, Word>(space);
  if (name == "exch.b64") return with_space<Exchange, Long, Long>(space);
  if (name == "cas.b32") return with_space<CompareAndSwap, Word, Word>(space);
  if (name == "cas.b64") return with_space<CompareAndSwap, Long, Long>(space);
  return {};
}

Form shuffle_form(std::string_view mode) {
  const std::array<int, 5> bits{32, 32, 32, 32, 32};
  if (mode == "up") return {shuffle<Mode::up>, shuffle<Mode::up>, bits};
  if (mode == "down") return {shuffle<Mode::down>, shuffle<Mode::down>, bits};
  if (mode == "bfly") return {shuffle<Mode::butterfly>, shuffle<Mode::butterfly>, bits};
  if (mode == "idx") return {shuffle<Mode::index>, shuffle<Mode::index>, bits};
  return {};
}

}  // namespace standin
