// A kernel decoded once: operations over 32 lanes with every register resolved to a place in the register
// file.
//
// A register is an array of 32 values, one a lane, of its own width; a predicate is 32 words of all ones or
// all zeros. Constants and special registers are places like any other, filled before the first operation
// runs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace standin {

constexpr int kLanes = 32;
constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

// Where generic addresses of the spaces that are no device memory begin: no host or device address is that
// high.
constexpr std::uint64_t kSharedWindow = std::uint64_t{1} << 56;
constexpr std::uint64_t kLocalWindow = std::uint64_t{2} << 56;
constexpr std::uint64_t kParamWindow = std::uint64_t{3} << 56;

enum class Pred : std::uint32_t { no = 0, yes = ~std::uint32_t{0} };

struct Warp;
struct Op;
using Handler = void (*)(Warp&, const Op&);

struct Op {
  enum class Kind : std::uint8_t { compute, branch, branch_table, exit, barrier };
  Handler full = nullptr;    // all 32 lanes are active
  Handler masked = nullptr;  // some are
  std::uint32_t d[4] = {};   // places of results and sources, in bytes
  std::uint32_t s[4] = {};
  std::uint64_t immediate = 0;  // the offset of an address
  std::uint32_t predicate = kNowhere;
  std::uint32_t target = 0;  // of a branch: an operation, or the first entry of its table
  std::uint32_t targets = 0;
  std::uint32_t window = 0;  // remembers the allocation this operation found last
  std::int32_t line = 0;
  Kind kind = Kind::compute;
  bool predicate_negated = false;
};

enum class Special {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  dynamic_shared,
};

struct SpecialPlace {
  Special special;
  std::uint32_t place;
};

struct Constant {
  std::uint32_t place;
  int bits;
  std::uint64_t value;
};

struct Parameter {
  std::uint32_t at;
  std::uint32_t bytes;
};

struct Program {
  std::string name;
  std::vector<Op> ops;
  std::vector<std::uint32_t> branch_targets;
  std::vector<Constant> constants;
  std::vector<SpecialPlace> specials;
  std::vector<Parameter> parameters;
  std::uint32_t parameter_bytes = 0;
  std::uint32_t register_bytes = 0;
  std::uint64_t static_shared = 0;
  std::uint64_t local_bytes = 0;
  std::uint32_t windows = 0;
  std::uint32_t most_threads = 1024;
  std::uint32_t required[3] = {0, 0, 0};
  bool has_barrier = false;
  bool exchanges_lanes = false;     // shuffles: a warp must be 32 neighbouring threads
  bool shares_small_parts = false;  // 8- or 16-bit accesses to shared memory: races are watched byte by byte
  std::shared_ptr<const std::vector<std::string>> source;  // the PTX by lines
};

}  // namespace standin
