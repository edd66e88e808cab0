// How far batch norm is from exact arithmetic where the mean is 0 to 1,000 deviations from zero: a line of
// JSON for each such mean, with the errors of the variance, of the output in the law's form, and of the
// output in the form (x - mean) * r.
//
// The naive twin computes it; the kernels have its bits.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "arithmetic/normal.h"
#include "base/random.h"
#include "reference/batch_norm.h"

namespace lockstep {
namespace {

using Tensor = std::vector<float>;

constexpr reference::BatchNormShape kShape{.channels = 16, .height = 8, .width = 8, .eps = 1e-5f};
constexpr int kExamples = 256;
constexpr std::size_t kPlane = 64, kImage = 16 * kPlane;

// Errors of numbers that are about 1.
class Errors {
 public:
  void add(double error) {
    squares_ += error * error;
    most_ = std::max(most_, std::abs(error));
    ++count_;
  }
  std::string text(std::string_view name) const {
    return fmt::format(R"("{}": {{"rms": {:.3e}, "max": {:.3e}}})", name,
                       std::sqrt(squares_ / static_cast<double>(count_)), most_);
  }

 private:
  double squares_ = 0, most_ = 0;
  std::size_t count_ = 0;
};

Tensor gaussian(float mean) {
  Tensor values(kImage * kExamples);
  const std::uint32_t stream = stream_id("error:norm");
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t word = random_block(0, i / 4, 0, stream)[i % 4];
    values[i] = mean + static_cast<float>(arithmetic::normal_of_word(word));
  }
  return values;
}

std::size_t channel_of(std::size_t element) { return element / kPlane % 16; }

struct Exact {
  std::vector<double> mean = std::vector<double>(16), variance = std::vector<double>(16);

  explicit Exact(const Tensor& x) {
    const double count = kExamples * static_cast<double>(kPlane);
    for (std::size_t i = 0; i < x.size(); ++i) mean[channel_of(i)] += x[i] / count;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double deviation = x[i] - mean[channel_of(i)];
      variance[channel_of(i)] += deviation * deviation / count;
    }
  }
};

void print_errors(int mean) {
  const Tensor x = gaussian(static_cast<float>(mean));
  const Exact exact(x);
  const std::vector<reference::NormStatistics> group =
      reference::batch_norm_statistics(kShape, kExamples, x)[0];
  const Tensor gamma(16, 1.0f), beta(16, 0.0f);
  const Tensor y = reference::batch_norm_forward(kShape, kExamples, x, {gamma, beta});

  Errors variance, output, centred;
  for (std::size_t c = 0; c < 16; ++c) variance.add(group[c].deviations / group[c].n / exact.variance[c] - 1);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = channel_of(i);
    const double expected =
        (x[i] - exact.mean[c]) / std::sqrt(exact.variance[c] + static_cast<double>(kShape.eps));
    const float r = 1.0f / std::sqrt(group[c].deviations / group[c].n + kShape.eps);
    const float difference = x[i] - group[c].mean;
    output.add(y[i] - expected);
    centred.add(difference * r - expected);
  }
  fmt::print("{{\"mean\": {}, {}, {}, {}}}\n", mean, variance.text("variance"), output.text("output"),
             centred.text("centred"));
}

}  // namespace
}  // namespace lockstep

int main() {
  for (const int mean : {0, 1, 10, 1000}) lockstep::print_errors(mean);
  return 0;
}
