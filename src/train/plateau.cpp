#include "train/plateau.h"

#include <cmath>
#include <ranges>

#include <fmt/format.h>

namespace lockstep::train {
namespace {

constexpr double kNear = 0.01;              // of ln(classes)
constexpr std::int64_t kFewestSteps = 100;  // of a training, before its loss says anything

// How many of the last epochs guessed, one after the other.
int epochs_of_guessing(std::span<const EpochReport> epochs, const PlateauFacts& facts) {
  int count = 0;
  for (const EpochReport& epoch : std::views::reverse(epochs)) {
    if (epoch.epoch * facts.steps_per_epoch < kFewestSteps) break;
    if (!is_loss_of_guessing(epoch.train_loss, facts.classes)) break;
    ++count;
  }
  return count;
}

std::string weights_of(const PlateauFacts& facts) {
  return facts.sigma ? fmt::format("initial weights N(0, {:g})", *facts.sigma) : "weights it began with";
}

}  // namespace

bool is_loss_of_guessing(double loss, int classes) {
  if (classes < 2) return false;
  const double guessing = std::log(static_cast<double>(classes));
  return std::abs(loss - guessing) <= kNear * guessing;
}

std::string plateau_warning(std::span<const EpochReport> epochs, const PlateauFacts& facts) {
  const int count = epochs_of_guessing(epochs, facts);
  if (count == 0 || count > 2) return {};
  const std::string where =
      fmt::format("epoch {}: the loss {} {:.3f}, about ln({})", epochs.back().epoch,
                  count == 1 ? "stayed at" : "is still", epochs.back().train_loss, facts.classes);
  if (count == 1) {
    return fmt::format(
        "{}: the network still guesses. The {} may shrink the signal from layer to layer; then the next "
        "epoch "
        "often learns, as LeNet's second does. If it does not, try another learning rate than {} or other "
        "initial weights",
        where, weights_of(facts), facts.learning_rate);
  }
  return fmt::format(
      "{}: nothing was learned in {} steps. Likely causes: a learning rate ({}) that is too small or too "
      "large, or that the {} let too little signal through; change one of them",
      where, epochs.back().epoch * facts.steps_per_epoch, facts.learning_rate, weights_of(facts));
}

}  // namespace lockstep::train
