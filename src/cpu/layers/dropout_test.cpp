#include "cpu/layers/dropout.h"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "base/aligned_buffer.h"
#include "base/random.h"
#include "base/same_bits_for_test.h"
#include "reference/dropout.h"

namespace lockstep::cpu {
namespace {

// [example][element] of 16 lanes, of which `present` hold an example.
std::vector<float> dropped_by(const Kernels& row, DropoutJob job, std::vector<float>& lanes) {
  AlignedBuffer<float> numbers(lanes.size());
  std::ranges::copy(lanes, numbers.span().begin());
  job.x = job.y = numbers.data();
  dropout_kernel(row)(job);
  return {numbers.span().begin(), numbers.span().end()};
}

// The words of large datasets: counters of more than 32 bits, and a block that begins below 2^32 for one
// lane.
TEST(DropoutKernel, IsTheTwinsForEveryCounter) {
  const std::uint64_t seed = 0x0123456789abcdef;
  for (const Kernels* row : usable_kernels()) {
    SCOPED_TRACE(std::string(row->name));
    for (const auto& [channels, rows, columns, whole_rows, whole_columns] :
         {std::array{1, 1, 1, 1, 1}, {3, 5, 7, 5, 7}, {2, 4, 3, 5, 6}, {500, 1, 1, 1, 1}}) {
      for (const int present : {16, 5}) {
        const std::size_t whole = static_cast<std::size_t>(channels) * static_cast<std::size_t>(whole_rows) *
                                  static_cast<std::size_t>(whole_columns);
        reference::Draws draws{.seed = seed, .epoch = 77};
        for (std::uint32_t e = 0; e < kPack; ++e)
          draws.examples.push_back(e % 3 == 0 ? e : e % 3 == 1 ? ~e : (1U << 30) / 125 * 4 + e);
        for (const double p : {0.0, 0.3, 0.5, 0x1p-30, 1 - 0x1p-30}) {
          const reference::DropoutLayer layer{"layer", p, whole};
          std::vector<float> lanes, expected;
          for (int c = 0; c < channels; ++c) {
            for (int y = 0; y < rows; ++y) {
              for (int x = 0; x < columns; ++x) {
                for (std::size_t e = 0; e < kPack; ++e) {
                  lanes.push_back(1.25f + static_cast<float>(lanes.size()));
                  const int element = (c * whole_rows + y) * whole_columns + x;
                  const bool kept = static_cast<int>(e) < present &&
                                    dropout_keeps(layer, draws, e, static_cast<std::size_t>(element));
                  expected.push_back(kept ? lanes.back() * static_cast<float>(1 / (1 - p)) : 0.0f);
                }
              }
            }
          }
          lanes = dropped_by(*row,
                             {.x = nullptr,
                              .y = nullptr,
                              .channels = channels,
                              .rows = rows,
                              .columns = columns,
                              .whole_rows = whole_rows,
                              .whole_columns = whole_columns,
                              .examples = draws.examples.data(),
                              .present = present,
                              .seed = seed,
                              .epoch = 77,
                              .stream = stream_id("dropout:layer"),
                              .threshold = static_cast<std::uint32_t>(std::ceil(p * 0x1p24)),
                              .scale = static_cast<float>(1 / (1 - p))},
                             lanes);
          EXPECT_THAT(lanes, SameBits(expected)) << "p " << p << ", " << present << " lanes";
        }
      }
    }
  }
}

}  // namespace
}  // namespace lockstep::cpu
