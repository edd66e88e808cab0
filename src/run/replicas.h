// Are the replicas of a training still equal, and still finite? After every step each rank looks at a part
// of its parameters, on its own thread and where they lie, and sends the parts' hashes to the first rank,
// which compares them. A look at everything takes the same way.
//
// Small parameters are looked at in every step: they are mostly biases, which begin at zero and grow, and a
// number that grows can lose a wrong last bit to rounding before its part has its turn. Of the others each
// step has one part in kParts, from 8 devices on in twice as many, and so on. Cost: an update touches every
// number in every step, a look at most two in kParts.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/hash.h"
#include "device/device.h"

namespace lockstep::run {

// Elements [first, first + count) of a parameter; parameters count in model order.
struct ParameterPart {
  std::size_t parameter = 0, first = 0, count = 0;
  bool operator==(const ParameterPart&) const = default;
};

// The smallest parameters, as many as have no more than `most` numbers together, in model order.
std::vector<std::size_t> small_parameters(std::span<const std::size_t> sizes, std::size_t most);

// Part `index` of `parts` equal ones of all parameters, which stand one behind the other.
std::vector<ParameterPart> part_of_parameters(std::span<const std::size_t> sizes, std::size_t index,
                                              std::size_t parts);

// What is wrong with a parameter.
struct ReplicaFinding {
  enum class Kind {
    parted,      // not all devices have the same bits
    not_finite,  // all of them have a NaN or an infinity: an update overflowed
  };
  Kind kind = Kind::parted;
  std::size_t parameter = 0;
  // Of those that parted: who has other bits than the largest group of equals, or every device if there is no
  // such group. Devices that are not finite: all.
  std::vector<int> devices = {};
  std::int64_t step = 0;        // after which it was found
  std::int64_t well_after = 0;  // the last step after which this part is known to have been well
};

// Who is outvoted: see ReplicaFinding::devices. Empty if all are equal.
std::vector<int> outvoted(std::span<const Hash128> hashes);

class Replicas {
 public:
  static constexpr std::int64_t kParts = 64;
  static constexpr std::size_t kAlways = 256;  // numbers that cost nothing: small parameters may have as many
  // A device that works in the background would be waited for after each step. Where there is one, all
  // parameters are looked at, once in so many steps.
  static constexpr std::int64_t kBackgroundSteps = 128;

  struct Options {
    int ranks = 1;
    bool record = false;      // hash every parameter after every step, the tensors dealt over the ranks
    bool background = false;  // one of the devices works in the background
  };
  Replicas(const program::Program& program, const Options& options);

  // Everything is well after so many steps.
  void begin_after(std::int64_t steps) { well_after_ = begun_after_ = steps; }

  // What is going to be looked at after a step: its part, or everything.
  void plan_step(std::int64_t step);
  void plan_all(std::int64_t step);

  // Writes to `counts` what the rank sees: of each part the hash in two numbers, and whether it is finite;
  // then, with `record`, the hash of each parameter whose index mod ranks is the rank. On the device's own
  // thread. Ranks may do so at the same time.
  void look(int rank, const device::Executable& executable, std::span<std::int64_t> counts) const;

  // From what all ranks wrote, by rank: what is wrong, if anything.
  std::optional<ReplicaFinding> verdict(std::span<const std::span<const std::int64_t>> looks);

  // From the same: the hash of each parameter, from the replica of rank `parameter mod ranks`; empty without
  // `record`.
  std::vector<Hash128> recorded(std::span<const std::span<const std::int64_t>> looks) const;

 private:
  std::int64_t well_after(std::size_t part) const;

  const Options options_;
  const std::vector<program::BufferId> ids_;
  const std::vector<std::size_t> sizes_;  // of the parameters
  const std::vector<std::size_t> small_;  // parameters that are looked at in every step
  const std::vector<std::size_t> large_;  // sizes of the others; the small ones have 0
  std::vector<ParameterPart> parts_;      // that are looked at now
  bool all_ = false, records_ = false;
  std::int64_t step_ = 0;
  std::int64_t begun_after_ = 0, well_after_ = 0;
};

}  // namespace lockstep::run
