#include "runs/run_data.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/refusal_for_test.h"

namespace lockstep::runs {
namespace {

data::Dataset constant(std::size_t count) {
  return {.channels = 1,
          .height = 2,
          .width = 2,
          .classes = 10,
          .pixels = std::vector<std::uint8_t>(4 * count),
          .labels = std::vector<std::uint8_t>(count)};
}

const data::Split kData{constant(20), constant(10)}, kOther{constant(10), constant(20)};
const DataPlace kPlace{.directory = "here", .said_by = "config"};

TEST(RunData, IsLearntAndThenExpected) {
  store::JobConfig job;
  expect_data(job, kData, kPlace);
  EXPECT_EQ(job.data, to_hex(data::hash_of(kData)));
  EXPECT_EQ(to_text(job.data_sizes), "20 + 10 pictures of 1x2x2, 10 classes");
  expect_data(job, kData, kPlace);
}

TEST(RunData, OfEqualBytesAndOtherSizesIsRefused) {
  store::JobConfig job;
  expect_data(job, kData, kPlace);
  EXPECT_EQ(refusal_of(Fault::data, [&] { expect_data(job, kOther, kPlace); }),
            "here: expected 20 + 10 pictures of 1x2x2, 10 classes as config says, found 10 + 20 pictures of "
            "1x2x2, 10 classes; say with --data DIR where the right data is");
}

TEST(RunData, OfARunWithoutSizesIsComparedByItsHash) {
  store::JobConfig job{.data = to_hex(data::hash_of(kData))};
  expect_data(job, kOther, kPlace);
  EXPECT_EQ(job.data_sizes.train, 10);
  job = {.data = std::string(32, 'a')};
  EXPECT_EQ(refusal_of(Fault::data, [&] { expect_data(job, kData, kPlace); }),
            "here: expected the data with hash aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa as config says, found " +
                to_hex(data::hash_of(kData)) + "; say with --data DIR where the right data is");
}

}  // namespace
}  // namespace lockstep::runs
