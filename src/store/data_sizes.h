// How many examples a run's data has, and of which shape. The hash of the data is over the bytes alone, which
// do not show where the training set ends and the test set begins.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::store {

struct DataSizes {
  std::int64_t train = 0, test = 0;  // examples
  int channels = 0, height = 0, width = 0;
  int classes = 0;

  // Runs of older versions did not keep them.
  bool known() const { return train > 0; }

  bool operator==(const DataSizes&) const = default;
};

// "60000 + 10000 pictures of 1x28x28, 10 classes"; nothing if they are not known.
std::string to_text(const DataSizes& sizes);

// The other way; nothing unless it is exactly what to_text() gives.
std::optional<DataSizes> data_sizes_in(std::string_view text);

}  // namespace lockstep::store
