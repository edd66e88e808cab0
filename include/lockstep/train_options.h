// What a training is asked for, and what it gives.
#pragma once
#include <cstdint>
#include <filesystem>
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

// A step that is done.
struct Step {
  std::int64_t step = 0;  // since the start of training, from 1
  int epoch = 0;          // from 1
  double loss = 0;        // mean over the minibatch
  double seconds = 0;
};

// The training between two steps, for the callback that gets it, and until that returns.
class Moment {
 public:
  // The weights as they are now.
  Weights weights() const;

  // No further step is done. What the training has come to is kept: weights, checkpoint and files.
  void stop() const;

  struct Inside;
  explicit Moment(const Inside& inside) : inside_(&inside) {}

 private:
  const Inside* inside_;
};

struct FinishedStep : Step, Moment {
  FinishedStep(const Step& what, const Moment& when) : Step(what), Moment(when) {}
};
struct FinishedEpoch : Epoch, Moment {
  FinishedEpoch(const Epoch& what, const Moment& when) : Epoch(what), Moment(when) {}
};

// How a training begins that is kept in a directory.
enum class Begin {
  anew,            // in a directory that is not there yet
  resume,          // where its newest checkpoint stands
  resume_or_anew,  // as there is a directory or not
};

// The bits depend on model (its convolution too), data, batch, epochs, seed, start, and the options of the
// update and of its learning rate, and on nothing else.
struct TrainOptions {
  Model model = lenet();
  Dataset data;
  std::string devices = "cpu:0";  // a count, 3xcpu, 2xgpu, cpu:0,opencl:0, or auto
  int batch = 256;
  std::optional<float> lr = {};  // nothing: 0.2, or 0.001 of adam and adamw
  int epochs = 10;
  std::optional<float> momentum =
      {};  // of SGD, from 0 to below 1; nothing: 0, or 0.9 of momentum and nesterov

  // How a step updates the weights: PyTorch's definitions, and its numbers where nothing is said. An option
  // that the optimizer or the schedule does not take is refused.
  std::string optimizer =
      {};  // sgd, momentum, nesterov, adam or adamw; empty: sgd, with momentum if there is one
  std::optional<double> weight_decay =
      {};  // from 0, of weights, never of biases; nothing: 0, or 0.01 of adamw
  std::optional<double> beta1 = {}, beta2 = {}, eps = {};  // of adam and adamw; nothing: 0.9, 0.999 and 1e-8
  std::string schedule = {};  // how the learning rate changes: constant, step or cosine; empty: constant
  std::optional<int> step_epochs = {};      // of step: epochs between two drops of the rate
  std::optional<double> step_factor = {};   // of step: above 0, at most 1; nothing: 0.1
  std::optional<double> lr_min = {};        // of cosine: the rate that it ends with; nothing: 0
  std::optional<std::int64_t> warmup = {};  // steps at the beginning in which the rate grows in equal parts

  std::string exchange = {};  // how gradients meet: sharded or star; empty: the best
  std::uint64_t seed = 0;
  std::optional<Weights> start = {};  // instead of the seed's
  int threads = 0;                    // of each CPU device; 0: the cores divided among them
  std::vector<double> shares = {};    // of the packs, one a device; empty: equal, or as fast as devices are
  bool shard_optimizer = false;       // each device keeps the optimizer's state of its part of the parameters

  // The directory of the run, with the files that `lockstep train --out` makes there: config, results,
  // metrics, hashes, checkpoints, weights and curve. Empty: nothing is kept. `lockstep eval`, `diff` and
  // `train --resume` take it too if the model is one of Lockstep's own.
  std::filesystem::path run = {};
  Begin begin = Begin::anew;          // taken up again, the job is what it was; epochs may be more
  std::int64_t checkpoint_every = 0;  // steps; 0: every epoch
  bool record = true;                 // hashes of all parameters after every step

  // Called by the thread that called train(). What they throw ends the training.
  std::function<void(const FinishedStep&)> on_step = nullptr;
  std::function<void(const FinishedEpoch&)> on_epoch = nullptr;
  // Told in one line what looks wrong and what to try: after on_epoch, a loss that stays at ln(classes) for a
  // whole epoch; of a run that is taken up again, what was damaged or missing in its directory.
  std::function<void(const std::string&)> on_warning = nullptr;

  // Seconds without progress after which a device is stuck: train() throws Error(device) that says which one,
  // what it was doing and which device waits for it. The stuck thread stays behind, with memory of its own
  // and a share in the data, and ends when the device comes back; until then its run's directory stays
  // locked.
  double timeout = 60;
};

struct TrainResult {
  std::vector<Epoch> epochs = {};
  std::vector<std::string> devices = {};  // cpu:0
  Weights weights = {};
  std::vector<std::string> warnings = {};  // all that on_warning was told
  bool stopped = false;                    // by a callback, before the last epoch was done
  std::filesystem::path run = {};          // where it is kept; empty: nowhere

  // Of the last epoch, and the mean over all; 0 without epochs.
  double accuracy() const;
  double seconds_per_epoch() const;

  // As the book ends: "test acc: 0.83, 1.9 sec/epoch on [cpu:0, cpu:1]".
  std::string summary() const;
};

}  // namespace api
}  // namespace lockstep
