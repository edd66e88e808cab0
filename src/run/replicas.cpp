#include "run/replicas.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace lockstep::run {
namespace {

constexpr std::size_t kSmallShare = 256;  // small parameters are at most one number in this many

// Steps until a part has its turn again. Many devices share cores, so that their looks add up.
std::int64_t turns(int ranks) { return Replicas::kParts * std::max(1, ranks / 4); }

std::vector<std::size_t> sizes_of_parameters(const program::Program& program) {
  std::vector<std::size_t> sizes;
  sizes.reserve(program.parameters.size());
  for (const program::BufferId id : program.parameters)
    sizes.push_back(program.buffers[static_cast<std::size_t>(id)].elements);
  return sizes;
}

std::size_t sum(std::span<const std::size_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
}

std::vector<std::size_t> without(std::vector<std::size_t> sizes, std::span<const std::size_t> parameters) {
  for (const std::size_t p : parameters) sizes[p] = 0;
  return sizes;
}

// A step looks at each parameter in one part at most.
constexpr std::size_t kNumbersOfAPart = 3;
std::size_t place_of_record(std::size_t parameters, std::size_t parameter) {
  return kNumbersOfAPart * parameters + 2 * parameter;
}

void put(const Hash128& hash, std::span<std::int64_t> counts) {
  counts[0] = std::bit_cast<std::int64_t>(hash.high);
  counts[1] = std::bit_cast<std::int64_t>(hash.low);
}
Hash128 hash_at(std::span<const std::int64_t> counts) {
  return {std::bit_cast<std::uint64_t>(counts[0]), std::bit_cast<std::uint64_t>(counts[1])};
}

// No early end and no call: the compiler makes vectors of it.
bool all_finite(std::span<const float> numbers) {
  constexpr std::uint32_t kExponent = 0x7f800000;
  std::uint32_t bad = 0;
  for (const float number : numbers)
    bad |= (std::bit_cast<std::uint32_t>(number) & kExponent) == kExponent ? 1U : 0U;
  return bad == 0;
}

}  // namespace

std::vector<std::size_t> small_parameters(std::span<const std::size_t> sizes, std::size_t most) {
  std::vector<std::size_t> by_size(sizes.size());
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
  std::ranges::stable_sort(by_size, {}, [&](std::size_t p) { return sizes[p]; });
  std::size_t count = 0, numbers = 0;
  while (count < by_size.size() && numbers + sizes[by_size[count]] <= most)
    numbers += sizes[by_size[count++]];
  by_size.resize(count);
  std::ranges::sort(by_size);
  return by_size;
}

std::vector<ParameterPart> part_of_parameters(std::span<const std::size_t> sizes, std::size_t index,
                                              std::size_t parts) {
  const std::size_t all = sum(sizes);
  const std::size_t first = all * index / parts, last = all * (index + 1) / parts;
  std::vector<ParameterPart> found;
  std::size_t begin = 0;  // of the parameter, among all numbers
  for (std::size_t p = 0; p < sizes.size(); begin += sizes[p++]) {
    const std::size_t from = std::max(first, begin), to = std::min(last, begin + sizes[p]);
    if (from < to) found.push_back({p, from - begin, to - from});
  }
  return found;
}

std::vector<int> outvoted(std::span<const Hash128> hashes) {
  if (std::ranges::all_of(hashes, [&](const Hash128& hash) { return hash == hashes[0]; })) return {};
  const auto votes_for = [&](const Hash128& hash) { return std::ranges::count(hashes, hash); };
  const Hash128 best = *std::ranges::max_element(hashes, {}, votes_for);
  const bool alone_at_the_top = std::ranges::all_of(
      hashes, [&](const Hash128& hash) { return hash == best || votes_for(hash) < votes_for(best); });
  std::vector<int> devices;
  for (std::size_t d = 0; d < hashes.size(); ++d) {
    if (!alone_at_the_top || hashes[d] != best) devices.push_back(static_cast<int>(d));
  }
  return devices;
}

Replicas::Replicas(const program::Program& program, const Options& options)
    : options_(options),
      ids_(program.parameters),
      sizes_(sizes_of_parameters(program)),
      small_(small_parameters(sizes_, std::max(kAlways, sum(sizes_) / kSmallShare))),
      large_(without(sizes_, small_)) {}

void Replicas::plan_step(std::int64_t step) {
  step_ = step;
  records_ = options_.record;
  all_ = options_.background && step % kBackgroundSteps == 0;
  parts_.clear();
  if (options_.background && !all_) return;
  if (all_) {
    parts_ = part_of_parameters(sizes_, 0, 1);
    return;
  }
  for (const std::size_t p : small_) parts_.push_back({p, 0, sizes_[p]});
  const std::vector<ParameterPart> large =
      part_of_parameters(large_, static_cast<std::size_t>(step % turns(options_.ranks)),
                         static_cast<std::size_t>(turns(options_.ranks)));
  parts_.insert(parts_.end(), large.begin(), large.end());
}

void Replicas::plan_all(std::int64_t step) {
  step_ = step;
  records_ = false;
  all_ = true;
  parts_ = part_of_parameters(sizes_, 0, 1);
}

void Replicas::look(int rank, const device::Executable& executable, std::span<std::int64_t> counts) const {
  std::size_t at = 0;
  for (const ParameterPart& part : parts_) {
    const std::span<const float> numbers =
        executable.parameter(ids_[part.parameter]).subspan(part.first, part.count);
    put(hash128(std::as_bytes(numbers)), counts.subspan(at));
    counts[at + 2] = all_finite(numbers) ? 1 : 0;
    at += kNumbersOfAPart;
  }
  if (!records_) return;
  for (auto p = static_cast<std::size_t>(rank); p < ids_.size();
       p += static_cast<std::size_t>(options_.ranks))
    put(hash128(std::as_bytes(executable.parameter(ids_[p]))),
        counts.subspan(place_of_record(ids_.size(), p)));
}

std::vector<Hash128> Replicas::recorded(std::span<const std::span<const std::int64_t>> looks) const {
  std::vector<Hash128> hashes;
  for (std::size_t p = 0; records_ && p < ids_.size(); ++p)
    hashes.push_back(hash_at(looks[p % looks.size()].subspan(place_of_record(ids_.size(), p))));
  return hashes;
}

std::optional<ReplicaFinding> Replicas::verdict(std::span<const std::span<const std::int64_t>> looks) {
  std::vector<Hash128> hashes(looks.size());
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    bool any_finite = false;
    for (std::size_t rank = 0; rank < looks.size(); ++rank) {
      const std::span<const std::int64_t> look = looks[rank].subspan(i * kNumbersOfAPart);
      hashes[rank] = hash_at(look);
      any_finite = any_finite || look[2] != 0;
    }
    ReplicaFinding finding{.parameter = parts_[i].parameter, .step = step_, .well_after = well_after(i)};
    if (!any_finite) {  // before their bits are compared: those of a NaN are outside the law
      finding.kind = ReplicaFinding::Kind::not_finite;
      finding.devices.resize(looks.size());
      std::iota(finding.devices.begin(), finding.devices.end(), 0);
      return finding;
    }
    finding.devices = outvoted(hashes);
    if (!finding.devices.empty()) return finding;
  }
  if (all_) well_after_ = step_;
  return std::nullopt;
}

// In a step, small parameters had their last turn in the step before, and a part of the others
// in the last round.
std::int64_t Replicas::well_after(std::size_t part) const {
  const std::int64_t last_turn = part < small_.size() ? step_ - 1 : step_ - turns(options_.ranks);
  return !all_ && last_turn > begun_after_ ? std::max(well_after_, last_turn) : well_after_;
}

}  // namespace lockstep::run
