// What a training is asked for, and what it gives.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <lockstep/dataset.h>
#include <lockstep/model.h>
#include <lockstep/weights.h>

namespace lockstep {
inline namespace api {

// An epoch that is trained and evaluated.
struct Epoch {
  int epoch = 0;          // from 1
  double train_loss = 0;  // mean over the epoch's examples
  double test_loss = 0;
  double accuracy = 0;  // of the test set
  double seconds = 0;   // of training, without evaluation
};

// The bits depend on model (its convolution too), data, batch, lr, epochs, momentum, seed and start, and on
// nothing else.
struct TrainOptions {
  Model model = lenet();
  Dataset data;
  std::string devices = "cpu:0";  // a count, 3xcpu, 2xgpu, cpu:0,opencl:0, or auto
  int batch = 256;
  float lr = 0.2f;
  int epochs = 10;
  float momentum = 0;         // from 0 to below 1
  std::string exchange = {};  // how gradients meet: sharded or star; empty: the best
  std::uint64_t seed = 0;
  std::optional<Weights> start = {};  // instead of the seed's
  int threads = 0;                    // of each CPU device; 0: the cores divided among them
  std::function<void(const Epoch&)> on_epoch = nullptr;  // what it throws ends the training
  // Told, after on_epoch, in one line what looks wrong and what to try: a loss that stays at ln(classes) for
  // a whole epoch. What it throws ends the training.
  std::function<void(const std::string&)> on_warning = nullptr;

  double timeout = 60;  // seconds without progress after which a device is stuck
  // Told in one line who is stuck, doing what, and who waits for it; again after every further timeout. Runs
  // on a thread of the library while train() has not returned, must not throw, and may end the process.
  // Empty: the line goes to standard error. Devices that wait for the stuck one give up; train() throws
  // Error(device) when the stuck one comes back, and not before, because its thread still uses what train()
  // was given.
  std::function<void(const std::string&)> on_stuck = nullptr;
};

struct TrainResult {
  std::vector<Epoch> epochs = {};
  std::vector<std::string> devices = {};  // cpu:0
  Weights weights = {};
  std::vector<std::string> warnings = {};  // all that on_warning was told

  // Of the last epoch, and the mean over all; 0 without epochs.
  double accuracy() const;
  double seconds_per_epoch() const;

  // As the book ends: "test acc: 0.83, 1.9 sec/epoch on [cpu:0, cpu:1]".
  std::string summary() const;
};

}  // namespace api
}  // namespace lockstep
