#include "train/plateau.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::train {
namespace {

using ::testing::HasSubstr, ::testing::IsEmpty;

const PlateauFacts kFacts{.classes = 10, .steps_per_epoch = 235, .learning_rate = 0.2f, .sigma = 0.01};

std::vector<EpochReport> epochs_of(const std::vector<double>& losses) {
  std::vector<EpochReport> epochs;
  for (const double loss : losses)
    epochs.push_back({.epoch = static_cast<int>(epochs.size()) + 1, .train_loss = loss});
  return epochs;
}

std::string said(const std::vector<double>& losses, const PlateauFacts& facts = kFacts) {
  return plateau_warning(epochs_of(losses), facts);
}

TEST(Plateau, TheLossOfGuessingIsTheLogarithmOfTheClasses) {
  EXPECT_TRUE(is_loss_of_guessing(std::log(10.0), 10));
  EXPECT_TRUE(is_loss_of_guessing(std::log(10.0) * 1.0099, 10));
  EXPECT_TRUE(is_loss_of_guessing(std::log(10.0) * 0.9901, 10));
  EXPECT_FALSE(is_loss_of_guessing(std::log(10.0) * 1.0101, 10));
  EXPECT_FALSE(is_loss_of_guessing(std::log(10.0) * 0.9899, 10));
  EXPECT_TRUE(is_loss_of_guessing(std::log(3.0), 3));
  EXPECT_FALSE(is_loss_of_guessing(std::log(10.0), 3));
  EXPECT_FALSE(is_loss_of_guessing(0, 1)) << "with one class there is nothing to guess";
  EXPECT_FALSE(is_loss_of_guessing(std::nan(""), 10));
}

TEST(Plateau, AFirstEpochIsToldKindlyWithTheLikelyCause) {
  EXPECT_EQ(
      said({2.3031}),
      "epoch 1: the loss stayed at 2.303, about ln(10): the network still guesses. The initial weights N(0, "
      "0.01) may shrink the signal from layer to layer; then the next epoch often learns, as LeNet's second "
      "does. If it does not, try another learning rate than 0.2 or other initial weights");
}

TEST(Plateau, ASecondEpochIsToldFirmlyAndThenTheUserKnows) {
  EXPECT_EQ(
      said({2.303, 2.302}),
      "epoch 2: the loss is still 2.302, about ln(10): nothing was learned in 470 steps. Likely causes: a "
      "learning rate (0.2) that is too small or too large, or that the initial weights N(0, 0.01) let too "
      "little signal through; change one of them");
  EXPECT_THAT(said({2.303, 2.303, 2.303}), IsEmpty());
}

TEST(Plateau, ATrainingThatLearnsHearsNothing) {
  EXPECT_THAT(said({}), IsEmpty());
  EXPECT_THAT(said({1.7}), IsEmpty());
  EXPECT_THAT(said({2.303, 1.02}), IsEmpty());
}

TEST(Plateau, ATrainingThatFallsBackIsToldAgain) {
  EXPECT_THAT(said({2.303, 1.02, 2.303}), HasSubstr("epoch 3: the loss stayed at"));
}

TEST(Plateau, GivenWeightsAreNotCalledInitialOnes) {
  PlateauFacts given = kFacts;
  given.sigma.reset();
  EXPECT_THAT(said({2.303}, given), HasSubstr("The weights it began with may shrink"));
}

TEST(Plateau, TheFirstHundredStepsDoNotCount) {
  PlateauFacts small = kFacts;
  small.steps_per_epoch = 40;
  EXPECT_THAT(said({2.303}, small), IsEmpty());
  EXPECT_THAT(said({2.303, 2.303}, small), IsEmpty());
  EXPECT_THAT(said({2.303, 2.303, 2.303}, small), HasSubstr("epoch 3: the loss stayed at"));
  EXPECT_THAT(said({2.303, 2.303, 2.303, 2.303}, small), HasSubstr("epoch 4: the loss is still"));
}

}  // namespace
}  // namespace lockstep::train
