#include "report/epoch_table.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace lockstep::report {
namespace {

constexpr int kLossWidth = 6, kAccuracyWidth = 8, kSecondsWidth = 7, kColumnGap = 2;

int number_width(int epochs) { return std::max(5, static_cast<int>(std::to_string(epochs).size())); }

// With as many of `digits` behind the point as the width leaves room for.
std::string figure(double value, int digits, int width) {
  for (; digits >= 0; --digits) {
    std::string text = fmt::format("{:.{}f}", value, digits);
    if (static_cast<int>(text.size()) <= width) return text;
  }
  return fmt::format("{:.0e}", value);
}

std::string line(int width, std::string_view number, std::string_view loss, std::string_view accuracy,
                 std::string_view seconds) {
  return fmt::format("{:>{}}  {:>{}}  {:>{}}  {:>{}}\n", number, width, loss, kLossWidth, accuracy,
                     kAccuracyWidth, seconds, kSecondsWidth);
}

}  // namespace

int epoch_table_width(int epochs) {
  return number_width(epochs) + kColumnGap + kLossWidth + kColumnGap + kAccuracyWidth + kColumnGap +
         kSecondsWidth;
}

std::string epoch_table(std::span<const train::EpochReport> shown, int epochs) {
  const int width = number_width(epochs);
  std::string text = line(width, "epoch", "loss", "test acc", "seconds");
  for (const train::EpochReport& epoch : shown) {
    text += line(width, std::to_string(epoch.epoch), figure(epoch.train_loss, 3, kLossWidth),
                 figure(epoch.test_accuracy(), 3, kAccuracyWidth), figure(epoch.seconds, 2, kSecondsWidth));
  }
  return text;
}

}  // namespace lockstep::report
