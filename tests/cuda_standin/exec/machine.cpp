// The schedule of a launch: blocks, warps, divergence and barriers.
#include "exec/machine.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

namespace standin {
namespace {

constexpr std::uint32_t kNever = ~std::uint32_t{0};
constexpr std::uint32_t kUninitialised = 0xffc0dead;  // a NaN that shows

std::uint32_t product(const std::array<std::uint32_t, 3>& sizes) { return sizes[0] * sizes[1] * sizes[2]; }

std::array<std::uint32_t, 3> split(std::uint64_t index, const std::array<std::uint32_t, 3>& sizes) {
  return {static_cast<std::uint32_t>(index % sizes[0]),
          static_cast<std::uint32_t>(index / sizes[0] % sizes[1]),
          static_cast<std::uint32_t>(index / sizes[0] / sizes[1])};
}

std::string name_of(const std::array<std::uint32_t, 3>& at) {
  return fmt::format("({},{},{})", at[0], at[1], at[2]);
}

void set_active(Warp& warp, std::uint32_t active) {
  warp.active = active;
#pragma omp simd
  for (std::uint32_t i = 0; i < kLanes; ++i) warp.blend[i] = 0u - (active >> i & 1u);
}

// The lanes in which the operation's predicate holds, active or not.
std::uint32_t holding(const Warp& warp, const Op& op) {
  const std::uint32_t* const words = warp.lanes<const std::uint32_t>(op.predicate);
  std::uint32_t bits = 0;
#pragma omp simd reduction(| : bits)
  for (std::uint32_t i = 0; i < kLanes; ++i) bits |= words[i] & 1u << i;
  return op.predicate_negated ? ~bits : bits;
}

bool goes_back(const Op& op, std::uint32_t pc) { return op.kind == Op::Kind::branch && op.target <= pc; }

void send(Warp& warp, std::uint32_t lanes, std::uint32_t to) {
  for (std::uint32_t i = 0; i < kLanes; ++i) {
    if ((lanes >> i & 1u) != 0) warp.pc[i] = to;
  }
}

void send_by_table(Warp& warp, const Program& program, const Op& op, std::uint32_t lanes) {
  for (std::uint32_t i = 0; i < kLanes; ++i) {
    if ((lanes >> i & 1u) == 0) continue;
    const std::uint32_t index = warp.lanes<const std::uint32_t>(op.s[0])[i];
    if (index >= op.targets) {
      throw Problem(Code::launch_failed, "brx.idx: index {} of a table of {}", index, op.targets);
    }
    warp.pc[i] = program.branch_targets[op.target + index];
  }
}

// Where all active lanes go on after an operation that computes nothing; kNever if they do not go on
// together, and then every lane has been sent where it goes.
std::uint32_t next_together(Warp& warp, const Program& program, const Op& op, std::uint32_t pc) {
  const std::uint32_t active = warp.active;
  const std::uint32_t holds = active & (op.predicate == kNowhere ? ~0u : holding(warp, op));
  if (holds == 0) return pc + 1;
  switch (op.kind) {
    case Op::Kind::branch:
      if (holds == active) return op.target;
      send(warp, holds, op.target);
      break;
    case Op::Kind::branch_table:
      send_by_table(warp, program, op, holds);
      break;
    case Op::Kind::exit:
      warp.exited |= holds;
      break;
    default:  // a barrier
      warp.waiting |= holds;
      send(warp, holds, pc);
  }
  send(warp, active & ~holds, pc + 1);
  return kNever;
}

template <class T>
void broadcast(std::byte* place, std::uint64_t value) {
  T* const lanes = reinterpret_cast<T*>(place);
  std::fill(lanes, lanes + kLanes, static_cast<T>(value));
}

}  // namespace

Machine::Machine(const Launch& launch)
    : launch_(launch),
      program_(*launch.program),
      threads_(product(launch.block)),
      shared_(program_.static_shared + launch.dynamic_shared, program_.shares_small_parts),
      windows_(program_.windows),
      parameters_(launch.parameters),
      random_(launch.seed) {
  const std::size_t warps = (threads_ + kLanes - 1) / kLanes;
  const std::size_t files = program_.has_barrier ? warps : 1;  // without barriers warps follow one another
  registers_.resize(files * program_.register_bytes + 64);
  locals_.resize(warps * kLanes * program_.local_bytes);
  std::byte* const first =
      registers_.data() + (64 - reinterpret_cast<std::uintptr_t>(registers_.data()) % 64) % 64;
  for (std::size_t file = 0; file < files; ++file) {
    for (const Constant& constant : program_.constants) {
      std::byte* const place = first + file * program_.register_bytes + constant.place;
      switch (constant.bits) {
        case 8:
          broadcast<std::uint8_t>(place, constant.value);
          break;
        case 16:
          broadcast<std::uint16_t>(place, constant.value);
          break;
        case 64:
          broadcast<std::uint64_t>(place, constant.value);
          break;
        default:
          broadcast<std::uint32_t>(place, constant.value);
      }
    }
  }
  warps_.resize(warps);
  for (std::size_t w = 0; w < warps; ++w) {
    Warp& warp = warps_[w];
    warp.machine = this;
    warp.registers = first + (program_.has_barrier ? w : 0) * program_.register_bytes;
    warp.local = locals_.data() + w * kLanes * program_.local_bytes;
    const std::uint32_t lanes =
        std::min<std::uint32_t>(kLanes, threads_ - static_cast<std::uint32_t>(w) * kLanes);
    warp.present = lanes == kLanes ? ~0u : (1u << lanes) - 1;
    std::iota(warp.order, warp.order + kLanes, std::uint8_t{0});
  }
  dealt_.resize(threads_);
}

std::uint64_t Machine::next_random() {  // splitmix64
  random_ += 0x9e3779b97f4a7c15;
  std::uint64_t z = random_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

void Machine::deal_threads(bool at_random) {
  std::iota(dealt_.begin(), dealt_.end(), 0u);
  if (at_random) {
    for (std::size_t i = dealt_.size(); i > 1; --i) std::swap(dealt_[i - 1], dealt_[next_random() % i]);
  }
  for (std::uint32_t i = 0; i < threads_; ++i) warps_[i / kLanes].thread[i % kLanes] = dealt_[i];
}

void Machine::fill_specials(Warp& warp, const std::array<std::uint32_t, 3>& block) {
  for (const SpecialPlace& special : program_.specials) {
    std::uint32_t* const lanes = warp.lanes<std::uint32_t>(special.place);
    const auto which = static_cast<std::size_t>(special.special);
    for (std::size_t i = 0; i < kLanes; ++i) {
      const std::uint32_t thread = (warp.present >> i & 1u) != 0 ? warp.thread[i] : 0;
      switch (special.special) {
        case Special::laneid:
          lanes[i] = thread % kLanes;
          break;
        case Special::warpid:
          lanes[i] = thread / kLanes;
          break;
        case Special::nwarpid:
          lanes[i] = static_cast<std::uint32_t>(warps_.size());
          break;
        case Special::dynamic_shared:
          lanes[i] = static_cast<std::uint32_t>(launch_.dynamic_shared);
          break;
        default:
          lanes[i] = which < 3   ? split(thread, launch_.block)[which]
                     : which < 6 ? launch_.block[which - 3]
                     : which < 9 ? block[which - 6]
                                 : launch_.grid[which - 9];
      }
    }
  }
}

std::uint64_t Machine::run() {
  std::vector<std::uint64_t> order(std::uint64_t{launch_.grid[0]} * launch_.grid[1] * launch_.grid[2]);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  if (launch_.shuffled) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[next_random() % i]);
    for (Warp& warp : warps_) {
      for (std::size_t i = kLanes; i > 1; --i) std::swap(warp.order[i - 1], warp.order[next_random() % i]);
    }
  }
  // Threads dealt at random diverge more, which costs time: the first block and every fourth of the others.
  const bool may_deal = launch_.shuffled && !program_.exchanges_lanes;
  for (std::size_t i = 0; i < order.size(); ++i) {
    run_block(order[i], may_deal && (i == 0 || next_random() % 4 == 0));
  }
  return executed_;
}

void Machine::run_block(std::uint64_t index, bool deal_at_random) {
  const std::array<std::uint32_t, 3> block = split(index, launch_.grid);
  deal_threads(deal_at_random);
  shared_.begin_block();
  for (std::size_t at = 0; at + 4 <= locals_.size(); at += 4) {
    std::memcpy(locals_.data() + at, &kUninitialised, 4);
  }
  std::vector<Warp*> order;
  for (Warp& warp : warps_) {
    warp.waiting = warp.exited = 0;
    warp.issued = 0;
    std::fill(warp.pc, warp.pc + kLanes, 0u);
    if (program_.has_barrier) fill_specials(warp, block);
    order.push_back(&warp);
  }
  do {
    if (launch_.shuffled) {
      for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[next_random() % i]);
    }
    for (Warp* const warp : order) {
      if (!program_.has_barrier) fill_specials(*warp, block);
      run_warp(*warp, block);
    }
  } while (release_barrier(block));
}

// Lets the block pass the barrier its threads wait at; false if all threads have ended instead.
bool Machine::release_barrier(const std::array<std::uint32_t, 3>& block) {
  std::uint32_t at = kNever;
  std::uint32_t waiting_thread = 0;
  for (const Warp& warp : warps_) {
    for (std::uint32_t i = 0; i < kLanes; ++i) {
      if ((warp.waiting >> i & 1u) == 0) continue;
      if (at == kNever) {
        at = warp.pc[i];
        waiting_thread = warp.thread[i];
      } else if (at != warp.pc[i]) {
        fail(Problem(Code::launch_failed,
                     "barrier divergence: thread {} waits at the barrier of ptx line {}, thread {} at that "
                     "of line {}",
                     waiting_thread, program_.ops[at].line, warp.thread[i], program_.ops[warp.pc[i]].line),
             program_.ops[at].line, block);
      }
    }
  }
  if (at == kNever) return false;
  for (Warp& warp : warps_) {
    if (warp.exited != 0) {
      fail(Problem(
               Code::launch_failed,
               "barrier divergence: thread {} waits at a barrier that thread {} never reaches, it has ended",
               waiting_thread, warp.thread[std::countr_zero(warp.exited)]),
           program_.ops[at].line, block);
    }
    warp.waiting = 0;
    std::fill(warp.pc, warp.pc + kLanes, at + 1);
  }
  shared_.barrier();
  return true;
}

void Machine::run_warp(Warp& warp, const std::array<std::uint32_t, 3>& block) {
  try {
    for (;;) {
      const std::uint32_t runnable = warp.present & ~warp.waiting & ~warp.exited;
      if (runnable == 0) return;
      std::uint32_t lowest = kNever;
      std::uint32_t limit = kNever;  // where the lanes that run now meet others
      std::uint32_t together = 0;
      for (std::uint32_t i = 0; i < kLanes; ++i) {
        if ((runnable >> i & 1u) == 0) continue;
        if (warp.pc[i] < lowest) {
          limit = lowest;
          lowest = warp.pc[i];
          together = 1u << i;
        } else if (warp.pc[i] == lowest) {
          together |= 1u << i;
        } else {
          limit = std::min(limit, warp.pc[i]);
        }
      }
      set_active(warp, together);
      run_together(warp, limit);
    }
  } catch (const Problem& problem) {
    fail(problem, line_, block);
  }
}

void Machine::compute_predicated(Warp& warp, const Op& op) {
  const std::uint32_t all = warp.active;
  const std::uint32_t some = all & holding(warp, op);
  if (some == 0) return;
  if (some == all) {
    (all == ~0u ? op.full : op.masked)(warp, op);
    return;
  }
  set_active(warp, some);
  op.masked(warp, op);
  set_active(warp, all);
}

// Runs the active lanes until they part, wait, end or reach `limit`.
void Machine::run_together(Warp& warp, std::uint32_t limit) {
  const std::uint32_t active = warp.active;
  const bool full = active == ~0u;
  std::uint32_t pc = warp.pc[std::countr_zero(active)];
  std::uint64_t steps = 0;
  const Op* const ops = program_.ops.data();
  for (;;) {
    const Op& op = ops[pc];
    line_ = op.line;
    ++steps;
    if (op.kind == Op::Kind::compute) [[likely]] {
      if (op.predicate == kNowhere) [[likely]] {
        (full ? op.full : op.masked)(warp, op);
      } else {
        compute_predicated(warp, op);
      }
      if (++pc != limit) continue;
    } else {
      if (goes_back(op, pc) && warp.issued + steps > launch_.budget) {
        throw Problem(Code::launch_timeout, "endless loop: a thread took more than {} instructions",
                      launch_.budget);
      }
      pc = next_together(warp, program_, op, pc);
      if (pc < limit) continue;
    }
    if (pc != kNever) send(warp, active, pc);
    break;
  }
  warp.issued += steps;
  executed_ += steps * static_cast<std::uint64_t>(std::popcount(active));
}

void Machine::fail(const Problem& problem, std::int32_t line,
                   const std::array<std::uint32_t, 3>& block) const {
  const auto index = static_cast<std::size_t>(line - 1);
  const std::string text = line > 0 && index < program_.source->size() ? (*program_.source)[index] : "";
  throw Problem(problem.code(), "kernel {}, block {}, ptx line {} `{}`: {} (block of {} threads)",
                program_.name, name_of(block), line, text, problem.what(), name_of(launch_.block));
}

std::uint64_t run(const Launch& launch) { return Machine(launch).run(); }

}  // namespace standin
