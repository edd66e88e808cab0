// Runs one launch of a decoded kernel, on the calling thread.
//
// Blocks run one after the other, and so do the warps of a block from barrier to barrier, in an order drawn
// from the seed; some blocks also get their threads dealt to the warps at random, so that nothing can rely on
// neighbours keeping step. Inside a warp the lanes with the lowest operation go first until they meet others.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "exec/program.h"
#include "exec/shared_memory.h"

namespace standin {

enum class Access { read, write, update };

// A stretch of device memory that was found accessible.
struct Window {
  std::uint64_t begin = 1;
  std::uint64_t end = 0;
  std::byte* host = nullptr;  // of `begin`
};

// Device memory as one device sees it.
class AddressSpace {
 public:
  virtual ~AddressSpace() = default;
  // The allocation that holds [address, address + bytes), or throws Problem that says what is there instead.
  virtual Window find(std::uint64_t address, std::uint64_t bytes, Access access) const = 0;
};

struct Launch {
  const Program* program = nullptr;
  const AddressSpace* memory = nullptr;
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::uint64_t dynamic_shared = 0;
  std::vector<std::byte> parameters;
  std::uint64_t seed = 0;
  bool shuffled = true;
  std::uint64_t budget = 0;  // instructions a thread may take
};

// Gives the number of instructions all threads executed together. Throws Problem.
std::uint64_t run(const Launch& launch);

class Machine;

// 32 threads that share an operation counter as long as they agree.
struct Warp {
  alignas(64) std::uint32_t blend[kLanes];  // all ones for an active lane
  std::byte* registers;
  std::byte* local;
  Machine* machine;
  std::uint32_t active;
  std::uint32_t present;
  std::uint32_t waiting;
  std::uint32_t exited;
  std::uint64_t issued;
  std::uint32_t thread[kLanes];
  std::uint32_t pc[kLanes];
  std::uint8_t order[kLanes];  // in which lanes go where they could collide

  template <class T>
  T* lanes(std::uint32_t place) const {
    return reinterpret_cast<T*>(registers + place);
  }
};

class Machine {
 public:
  explicit Machine(const Launch& launch);
  std::uint64_t run();

  const Launch& launch() const { return launch_; }
  SharedMemory& shared() { return shared_; }
  Window& window(const Op& op) { return windows_[op.window]; }
  std::byte* parameters() { return parameters_.data(); }
  std::uint64_t local_bytes() const { return program_.local_bytes; }

 private:
  void deal_threads(bool at_random);
  void fill_specials(Warp& warp, const std::array<std::uint32_t, 3>& block);
  void run_block(std::uint64_t block, bool deal_at_random);
  bool release_barrier(const std::array<std::uint32_t, 3>& block);
  void run_warp(Warp& warp, const std::array<std::uint32_t, 3>& block);
  void run_together(Warp& warp, std::uint32_t limit);
  void compute_predicated(Warp& warp, const Op& op);
  [[noreturn]] void fail(const Problem& problem, std::int32_t line,
                         const std::array<std::uint32_t, 3>& block) const;
  std::uint64_t next_random();

  const Launch& launch_;
  const Program& program_;
  const std::uint32_t threads_;
  SharedMemory shared_;
  std::vector<Window> windows_;
  std::vector<std::byte> parameters_;
  std::vector<std::byte> registers_;
  std::vector<std::byte> locals_;
  std::vector<Warp> warps_;
  std::vector<std::uint32_t> dealt_;  // the thread of each lane of each warp
  std::uint64_t random_;
  std::uint64_t executed_ = 0;
  std::int32_t line_ = 0;  // of the operation under way
};

}  // namespace standin
