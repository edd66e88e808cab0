#include "device/gpu/gpu_memory.h"

#include <algorithm>
#include <array>

#include <fmt/ranges.h>

#include "base/error.h"

namespace lockstep::device::gpu {
namespace {

using program::Role;

constexpr std::size_t kFloat = sizeof(float);
constexpr std::size_t kPartFloats = kPartAlignment / kFloat;
constexpr auto kPack = static_cast<std::size_t>(arithmetic::kPack);

std::size_t aligned(std::size_t floats) { return (floats + kPartFloats - 1) / kPartFloats * kPartFloats; }

constexpr const char* kRemedy = "use a smaller --batch or more devices";

std::string megabytes(std::size_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

// Of what has memory of its own.
std::size_t bytes_of(const program::Buffer& buffer, program::BufferId id, const MemorySizes& sizes) {
  const auto group = static_cast<std::size_t>(sizes.group);
  const auto floats = [id](const std::map<program::BufferId, std::size_t>& of) {
    const auto found = of.find(id);
    return found == of.end() ? 0 : found->second;
  };
  switch (buffer.role) {
    case Role::activation:
      return group * buffer.elements * kPack * kFloat;
    case Role::mask:
      return group * buffer.elements / 4 * kPack;
    case Role::labels:
      return group * kPack;
    case Role::prepared:
      return floats(sizes.prepared) * kFloat;
    case Role::partial:
      return (group + static_cast<std::size_t>(sizes.stack)) * buffer.elements * kFloat;
    default:
      return 0;
  }
}

// Sum after sum, then the parameters that nobody trains: evaluation has them.
std::size_t stretch_floats_of(const program::Program& program) {
  std::size_t floats = 0;
  const auto add = [&](program::BufferId id) {
    floats += aligned(program.buffers[static_cast<std::size_t>(id)].elements);
  };
  for (const program::Sum& sum : program.sums) add(sum.gradient);
  for (const program::BufferId id : program.parameters) {
    if (std::ranges::find(program.sums, id, &program::Sum::parameter) == program.sums.end()) add(id);
  }
  return floats;
}

}  // namespace

GpuMemory::GpuMemory(Driver& driver, const program::Program& program, const MemorySizes& sizes)
    : driver_(driver), program_(program), sizes_(sizes) {
  if (const std::string text = shortage(driver, program, sizes); !text.empty())
    throw Error(Fault::device, "{}", text);
  plan_stretch();
  allocate();
}

void GpuMemory::expect_room(const Driver& driver, std::string_view what, std::size_t bytes) {
  const std::size_t free = driver.free_memory();
  if (bytes > free)
    throw Error(Fault::device, "{} has {} of memory free, {} needs {}; {}", driver.facts().name,
                megabytes(free), what, megabytes(bytes), kRemedy);
}

// A velocity that is only a part of a parameter's lies where that part does.
void GpuMemory::plan_stretch() {
  stretch_floats_ = stretch_floats_of(program_);
  std::size_t first = 0;
  for (const program::Sum& sum : program_.sums) {
    offsets_.push_back(first);
    first += aligned(program_.buffers[static_cast<std::size_t>(sum.gradient)].elements);
  }
}

std::size_t GpuMemory::room(int sum) const {
  const program::BufferId gradient = program_.sums[static_cast<std::size_t>(sum)].gradient;
  return aligned(program_.buffers[static_cast<std::size_t>(gradient)].elements);
}

std::string GpuMemory::shortage(const Driver& driver, const program::Program& program,
                                const MemorySizes& sizes) {
  struct Need {
    const char* what;
    std::size_t bytes = 0;
  };
  std::array<Need, 4> needs{
      {{"activations"}, {"parameters, gradients and velocities"}, {"partial sums"}, {"scratch"}}};
  std::size_t largest = 0;
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const program::Buffer& buffer = program.buffers[i];
    const std::size_t bytes = bytes_of(buffer, static_cast<program::BufferId>(i), sizes);
    needs[buffer.role == Role::partial ? 2 : buffer.role == Role::prepared ? 1 : 0].bytes += bytes;
    largest = std::max(largest, bytes);
  }
  const std::size_t stretch = stretch_floats_of(program) * kFloat;
  needs[1].bytes += (program.velocities.empty() ? 2 : 3) * stretch;
  largest = std::max(largest, stretch);
  for (const auto& [id, floats] : sizes.prepared_back) needs[1].bytes += floats * kFloat;
  for (const std::size_t floats : sizes.scratch) {
    needs[3].bytes += floats * kFloat;
    largest = std::max(largest, floats * kFloat);
  }
  std::size_t total = 0;
  std::vector<std::string> each;
  each.reserve(needs.size());
  for (const Need& need : needs) {
    total += need.bytes;
    each.push_back(fmt::format("{} {}", need.what, megabytes(need.bytes)));
  }
  const Facts& facts = driver.facts();
  const std::size_t free = driver.free_memory();
  if (total > free)
    return fmt::format("{} has {} of memory free, the training needs {} ({}); {}", facts.name,
                       megabytes(free), megabytes(total), fmt::join(each, ", "), kRemedy);
  if (largest > facts.largest_allocation)
    return fmt::format("{} gives at most {} of memory at once, the training needs {} ({}); {}", facts.name,
                       megabytes(facts.largest_allocation), megabytes(largest), fmt::join(each, ", "),
                       kRemedy);
  return {};
}

void GpuMemory::allocate() {
  const auto stretch = [this] {
    return driver_.allocate(std::max<std::size_t>(stretch_floats_, 1) * kFloat);
  };
  parameters_ = stretch();
  gradients_ = stretch();
  if (!program_.velocities.empty()) velocities_ = stretch();
  parts_.resize(program_.buffers.size());
  const auto part = [&](program::BufferId id, const Memory& of, std::size_t first) {
    parts_[static_cast<std::size_t>(id)] =
        driver_.part(of, first * kFloat, program_.buffers[static_cast<std::size_t>(id)].elements * kFloat);
  };
  std::size_t end = 0;
  for (std::size_t i = 0; i < program_.sums.size(); ++i) {
    const program::Sum& sum = program_.sums[i];
    part(sum.gradient, *gradients_, offsets_[i]);
    end = offsets_[i] + aligned(program_.buffers[static_cast<std::size_t>(sum.gradient)].elements);
    if (sum.parameter >= 0) part(sum.parameter, *parameters_, offsets_[i]);
  }
  for (const program::BufferId id : program_.parameters) {
    if (parts_[static_cast<std::size_t>(id)]) continue;
    part(id, *parameters_, end);
    end += aligned(program_.buffers[static_cast<std::size_t>(id)].elements);
  }
  for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
    const auto id = static_cast<program::BufferId>(i);
    const program::Buffer& buffer = program_.buffers[i];
    const std::size_t bytes = bytes_of(buffer, id, sizes_);
    if (buffer.role == Role::partial) {
      sums_[id] = driver_.allocate(static_cast<std::size_t>(sizes_.group) * buffer.elements * kFloat);
      stacks_[id] = driver_.allocate(static_cast<std::size_t>(sizes_.stack) * buffer.elements * kFloat);
    } else if (bytes > 0) {
      parts_[i] = driver_.allocate(bytes);
    }
  }
  for (const auto& [id, floats] : sizes_.prepared_back)
    prepared_back_[id] = driver_.allocate(floats * kFloat);
  for (const std::size_t floats : sizes_.scratch)
    scratch_.push_back(floats > 0 ? driver_.allocate(floats * kFloat) : nullptr);
  const std::size_t examples = static_cast<std::size_t>(sizes_.most_packs) * kPack;
  pixels_ =
      driver_.allocate(std::max<std::size_t>(1, static_cast<std::size_t>(sizes_.group) * kPack *
                                                    static_cast<std::size_t>(program_.input.elements())));
  predicted_ = driver_.allocate(std::max<std::size_t>(1, examples) * sizeof(int));
  schedule_ = driver_.allocate(2 * sizeof(int) * static_cast<std::size_t>(std::max(1, sizes_.most_packs)));
  verdict_ = driver_.allocate(sizeof(int));
}

}  // namespace lockstep::device::gpu
