#include "report/summary.h"

#include <fmt/format.h>

#include "report/shell_word.h"

namespace lockstep::report {

std::string summary(const train::RunEnd& end) {
  const std::string devices = fmt::format("[{}]", fmt::join(end.devices, ", "));
  std::string text;
  if (end.epochs.empty()) {
    text = fmt::format("no epoch finished on {}\n", devices);
  } else {
    double seconds = 0;
    for (const train::EpochReport& epoch : end.epochs) seconds += epoch.seconds;
    text = fmt::format("test acc: {:.2f}, {:.1f} sec/epoch on {}\n", end.epochs.back().test_accuracy(),
                       seconds / static_cast<double>(end.epochs.size()), devices);
  }
  if (!end.weights_hash.empty()) text += fmt::format("weights {}\n", end.weights_hash);
  return text;
}

std::string kept_in(const train::RunEnd& end) {
  return end.run_directory.empty() ? "" : fmt::format("run {}\n", end.run_directory);
}

std::string interrupted(const train::RunEnd& end, int epochs) {
  return fmt::format("interrupted in epoch {} of {}; go on with ./lockstep train --resume {}\n",
                     end.epochs.size() + 1, epochs, shell_word(end.run_directory));
}

std::string nothing_left(const train::RunEnd& end) {
  const std::size_t epochs = end.epochs.size();
  return fmt::format(
      "nothing was left to do: all {} epochs are trained; add more with ./lockstep train --resume {} "
      "--epochs {}\n",
      epochs, shell_word(end.run_directory), 2 * epochs);
}

std::string nothing_left_of_schedule(const train::RunEnd& end, std::string_view model) {
  return fmt::format(
      "nothing was left to do: all {} epochs are trained, and the learning rate's schedule ends with them; "
      "train on from the weights with ./lockstep train {} --load {}\n",
      end.epochs.size(), model, shell_word(end.run_directory));
}

}  // namespace lockstep::report
