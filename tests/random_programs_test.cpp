// Any legal program runs: random ones, on 2 to 4 ranks, through the Runner that trains.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/same_bits_for_test.h"
#include "cpu/cpu_device.h"
#include "gpu_devices_for_test.h"
#include "program/crossing.h"
#include "program/order.h"
#include "program/print.h"
#include "program/simulation.h"
#include "random_program.h"
#include "run/runner.h"

namespace lockstep {
namespace {

using device::Transfer;
using program::BufferId;
using program::Region;
using program::Role;
using random_program::Drawn;
using random_program::Numbers;

constexpr std::uint32_t kPrograms = 1000, kGpuPrograms = 60;

std::uint32_t first_seed() {
  const char* const given = std::getenv("LOCKSTEP_PROPERTY_SEED");
  const auto seed = given != nullptr ? static_cast<std::uint32_t>(std::strtoul(given, nullptr, 10))
                                     : std::random_device{}() % 1'000'000;
  std::cout << "LOCKSTEP_PROPERTY_SEED=" << seed << " draws these programs again\n";
  return seed;
}

std::span<float> as_floats(std::span<std::byte> bytes) {
  return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}

// Partial sums and counts, which no work of these programs makes.
void put(device::Executable& executable, const program::Program& program, const Numbers& numbers) {
  executable.begin(0);
  for (std::size_t b = 0; b < program.buffers.size(); ++b) {
    const auto id = static_cast<BufferId>(b);
    const std::size_t elements = program.buffers[b].elements;
    if (program.buffers[b].role == Role::counts)
      std::ranges::copy(numbers.counts[b], executable.counts(id).begin());
    if (program.buffers[b].role != Role::partial) continue;
    for (std::size_t row = 0; row < numbers.floats[b].size() / elements; ++row) {
      const Transfer held{{id, 0, elements, static_cast<int>(row)}};
      std::ranges::copy(std::span(numbers.floats[b]).subspan(row * elements, elements),
                        as_floats(executable.bytes(held)).begin());
      executable.deliver({&held, 1});
    }
  }
}

void expect(device::Executable& executable, const program::Program& program, const Numbers& numbers) {
  const std::vector<bool> kept = program::crosses_segments(program);
  for (std::size_t b = 0; b < program.buffers.size(); ++b) {
    const program::Buffer& buffer = program.buffers[b];
    const auto id = static_cast<BufferId>(b);
    if (buffer.role == Role::counts) {
      EXPECT_TRUE(std::ranges::equal(executable.counts(id), numbers.counts[b])) << buffer.name;
    } else if (buffer.role == Role::gradient) {
      std::vector<float> found(buffer.elements);
      executable.download(id, found);
      // What no join writes is what it was.
      const bool joined = std::ranges::any_of(program.exchange, [&](const program::ExchangeInstruction& i) {
        const auto* const join = std::get_if<program::Join>(&i.operation);
        return join != nullptr && join->output.buffer == id;
      });
      if (joined) {
        EXPECT_THAT(found, SameBits(numbers.floats[b])) << buffer.name;
      }
    } else if (buffer.role == Role::activation && kept[b]) {
      const arithmetic::PackRange packs = program::packs_of(program).packs;
      const Transfer all{{id, 0, buffer.elements, packs.first, packs.size()}};
      executable.publish({&all, 1});
      const std::span<float> found = as_floats(executable.bytes(all));
      EXPECT_THAT(std::vector(found.begin(), found.end()), SameBits(numbers.floats[b])) << buffer.name;
    }
  }
}

void run(const Drawn& drawn, const std::vector<device::Device*>& devices) {
  run::Crew crew(devices, {.share_cores = true});
  run::Runner runner(crew, {[&](int) { return drawn.programs; }},
                     {.most_examples = static_cast<int>(drawn.examples.size()), .numbered = false});
  for (int twice = 0; twice < 2 && !testing::Test::HasFailure(); ++twice) {
    crew.run([&](int d) {
      const auto rank = static_cast<std::size_t>(d);
      put(runner.executable(d), drawn.programs[rank], drawn.before[rank]);
    });
    runner.step(drawn.input());
    for (int d = 0; d < crew.size(); ++d) {
      const auto rank = static_cast<std::size_t>(d);
      SCOPED_TRACE(fmt::format("rank {}\n{}", d, program::to_text(drawn.programs[rank])));
      expect(runner.executable(d), drawn.programs[rank], drawn.after[rank]);
    }
  }
}

TEST(RandomPrograms, ComeToWhatAPlainInterpreterSays) {
  const std::uint32_t first = first_seed();
  int joins = 0, messages = 0, segments = 0;
  for (std::uint32_t seed = first; seed < first + kPrograms && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("program {}", seed));
    const Drawn drawn = random_program::draw(seed);
    std::vector<std::string> names;
    for (std::size_t rank = 0; rank < drawn.programs.size(); ++rank)
      names.push_back(fmt::format("cpu:{}", rank));
    const auto owned =
        cpu::make_cpu_devices({.names = names, .threads = 1 + static_cast<int>(seed % 2), .bind = false});
    std::vector<device::Device*> devices;
    for (const auto& device : owned) devices.push_back(device.get());
    run(drawn, devices);
    joins += drawn.joins;
    messages += drawn.messages;
    segments += drawn.segments;
  }
  std::cout << fmt::format("{} programs with {} segments, {} messages and {} joins\n", kPrograms, segments,
                           messages, joins);
  EXPECT_GT(messages, static_cast<int>(kPrograms));
  EXPECT_GT(joins, static_cast<int>(kPrograms));
  EXPECT_GT(segments, 4 * static_cast<int>(kPrograms));
}

// What stands in every buffer whose numbers the simulation follows, on every rank.
std::vector<std::vector<program::Term>> ends_of(const program::Simulation& simulation,
                                                std::span<const program::Program> programs) {
  std::vector<std::vector<program::Term>> ends;
  for (std::size_t rank = 0; rank < programs.size(); ++rank) {
    const std::vector<program::Buffer>& buffers = programs[rank].buffers;
    for (std::size_t b = 0; b < buffers.size(); ++b) {
      const Role role = buffers[b].role;
      if (role == Role::gradient || role == Role::counts || role == Role::inbox)
        ends.push_back(simulation.at(rank, {static_cast<BufferId>(b), 0, buffers[b].elements}));
    }
  }
  return ends;
}

// The lists run on terms, with ranks, lists and messages that go on in any order.
TEST(RandomPrograms, AreTheSameForTheSimulationUnderAnyInterleaving) {
  const std::uint32_t first = first_seed();
  constexpr unsigned kInterleavings = 3;
  for (std::uint32_t seed = first; seed < first + kPrograms && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("program {}", seed));
    const Drawn drawn = random_program::draw(seed);
    constexpr auto kPieces = program::Simulation::Pieces::elements;
    program::Simulation in_order(drawn.programs, {}, kPieces);
    ASSERT_TRUE(in_order.run()) << "a rank waits for ever";
    const auto expected = ends_of(in_order, drawn.programs);
    for (unsigned i = 0; i < kInterleavings; ++i) {
      program::Simulation other(drawn.programs, seed + i, kPieces, in_order.terms());
      ASSERT_TRUE(other.run()) << "a rank waits for ever";
      EXPECT_EQ(ends_of(other, drawn.programs), expected);
    }
  }
}

TEST(RandomPrograms, RunOnMixturesWithGpus) {
  const std::uint32_t first = first_seed();
  for (GpuKind& kind : gpu_kinds()) {
    SCOPED_TRACE(kind.name);
    for (std::uint32_t seed = first; seed < first + kGpuPrograms && !kind.devices.empty() && !HasFailure();
         ++seed) {
      SCOPED_TRACE(fmt::format("program {}", seed));
      const Drawn drawn = random_program::draw(seed);
      std::vector<std::string> names;
      for (std::size_t rank = 0; rank < drawn.programs.size(); ++rank)
        names.push_back(fmt::format("cpu:{}", rank));
      const auto owned = cpu::make_cpu_devices({.names = names, .threads = 1, .bind = false});
      std::vector<device::Device*> devices;
      for (std::size_t rank = 0; rank < owned.size(); ++rank) {
        const bool gpu = rank % 2 == seed % 2 && rank / 2 < kind.devices.size();
        devices.push_back(gpu ? kind.devices[rank / 2].get() : owned[rank].get());
      }
      run(drawn, devices);
    }
    kind.devices.clear();
  }
}

}  // namespace
}  // namespace lockstep
