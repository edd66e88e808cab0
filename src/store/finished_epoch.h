// What is known of an epoch once it is trained and evaluated.
#pragma once
#include <cstdint>

namespace lockstep::store {

struct FinishedEpoch {
  int epoch = 0;          // from 1
  double train_loss = 0;  // mean over the epoch's examples
  double seconds = 0;     // of training, without evaluation
  double evaluation_seconds = 0;
  std::int64_t test_correct = 0, test_examples = 0;
  float test_loss = 0;
  double test_accuracy() const {
    return static_cast<double>(test_correct) / static_cast<double>(test_examples);
  }
};

}  // namespace lockstep::store
