// A training run as the book's LeNet makes it, for the tests of everything that draws.
#pragma once
#include <cstdint>
#include <vector>

#include "train/observer.h"

namespace lockstep::report {

// The first `count` (at most 10) epochs.
inline std::vector<train::EpochReport> lenet_epochs(int count) {
  constexpr int kCorrect[] = {1000, 6280, 7270, 7620, 7840, 8000, 8090, 8140, 8220, 8300};
  constexpr double kLoss[] = {2.303, 1.02, 0.73, 0.63, 0.57, 0.53, 0.51, 0.49, 0.47, 0.46};
  std::vector<train::EpochReport> epochs;
  for (int i = 0; i < count; ++i) {
    epochs.push_back({.epoch = i + 1,
                      .train_loss = kLoss[i],
                      .seconds = 2,
                      .evaluation_seconds = 0.5,
                      .test_correct = kCorrect[i],
                      .test_examples = 10000,
                      .test_loss = 1});
  }
  return epochs;
}

}  // namespace lockstep::report
