#include "model/text.h"

#include <gtest/gtest.h>

#include "model/zoo.h"

namespace lockstep::model {
namespace {

Model small() {
  return {.name = "small",
          .input = {1, 8, 8},
          .layers = {{"conv1", Conv2d{2, {3, 3}, {1, 1}, {1, 1}}},
                     {"relu1", Relu{}},
                     {"add1", Add{}, {"relu1", "conv1"}},
                     {"pool1", MaxPool{{2, 2}, {2, 2}}},
                     {"flatten1", Flatten{}},
                     {"dropout1", Dropout{0.25}},
                     {"linear1", Linear{3}}}};
}

TEST(ModelText, SaysWhatEveryLayerIsAndTakes) {
  EXPECT_EQ(text_of(small()),
            "input 1x8x8, usual weights normal 0.01\n"
            "conv1 of 0: convolution 2 of 3x3, stride 1x1, padding 1x1, weight usual, bias usual\n"
            "relu1 of 1: relu\n"
            "add1 of 2, 1: add\n"
            "pool1 of 3: maximum pool 2x2, stride 2x2, padding 0x0\n"
            "flatten1 of 4: flatten\n"
            "dropout1 of 5: dropout 0.25\n"
            "linear1 of 6: linear 3, weight usual, bias usual\n");
}

TEST(ModelText, SaysThatABiasIsMissing) {
  Model model = small();
  std::get<Conv2d>(model.layers[0].kind).bias = false;
  std::get<Linear>(model.layers[6].kind) = {
      .out_units = 3, .bias = false, .initial_weight = KaimingUniform{}};
  const std::string text = text_of(model);
  EXPECT_NE(text.find("conv1 of 0: convolution 2 of 3x3, stride 1x1, padding 1x1, weight usual, no bias\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("linear1 of 6: linear 3, weight kaiming, no bias\n"), std::string::npos) << text;
}

TEST(ModelText, SaysHowManyGroupsThereAre) {
  Model model = small();
  model.input = {2, 8, 8};
  std::get<Conv2d>(model.layers[0].kind).groups = 2;
  const std::string text = text_of(model);
  EXPECT_NE(text.find("convolution 2 of 3x3, stride 1x1, padding 1x1, 2 groups, weight usual, bias usual\n"),
            std::string::npos)
      << text;
}

TEST(ModelText, DiffersWhereTheBitsWould) {
  const std::string usual = text_of(small());
  std::vector<Model> others(10, small());
  others[0].sigma = 0.02;
  others[1].input = {1, 9, 9};
  others[2].layers[0].name = "first";
  others[2].layers[2].inputs[1] = "first";
  std::get<Conv2d>(others[3].layers[0].kind).initial_bias = Constant{0.1f};
  std::get<Linear>(others[4].layers[6].kind).initial_weight = KaimingUniform{};
  others[5].layers[3].kind = AvgPool{{2, 2}, {2, 2}};
  std::get<Conv2d>(others[6].layers[0].kind).bias = false;
  std::get<Linear>(others[7].layers[6].kind).bias = false;
  others[8].input = {2, 8, 8};
  std::get<Conv2d>(others[8].layers[0].kind).groups = 2;
  others[9].layers[5].kind = Dropout{0.26};
  for (const Model& other : others) EXPECT_NE(text_of(other), usual);
}

TEST(ModelText, IsTheSameForTheOrderThatIsUsualAndTheOneThatIsSaid) {
  Model said = small();
  said.layers[1].inputs = {"conv1"};
  said.name = "another";
  EXPECT_EQ(text_of(said), text_of(small()));
}

}  // namespace
}  // namespace lockstep::model
