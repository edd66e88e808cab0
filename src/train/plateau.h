// Notices a training that learns nothing. A network that gives all classes the same chance has a loss of
// ln(classes); a mean training loss that stays there for a whole epoch is worth a word to the user.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "train/observer.h"

namespace lockstep::train {

struct PlateauFacts {
  int classes = 10;
  std::int64_t steps_per_epoch = 0;
  float learning_rate = 0;
  std::optional<double> sigma = {};  // weights began as N(0, sigma); nothing: this is not known
};

// Is this mean loss of an epoch that of guessing, by 1 % or less?
bool is_loss_of_guessing(double loss, int classes);

// What to say after the last of `epochs`, in one line without the user's options: nothing unless its loss is
// that of guessing. A first such epoch is told kindly, as it is common; a second one in a row is told firmly;
// after that the user knows. Epochs that end before step 100 do not count: nothing can be learned so fast.
std::string plateau_warning(std::span<const EpochReport> epochs, const PlateauFacts& facts);

}  // namespace lockstep::train
