#include "model/zoo.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace lockstep::model {
namespace {

std::size_t count(const Model& model) {
  std::size_t sum = 0;
  for (const Parameter& parameter : parameters_of(model)) sum += parameter.elements();
  return sum;
}

TEST(Zoo, LenetIsTheBooks) {
  EXPECT_EQ(infer_shapes(lenet()), (std::vector<Shape>{{1, 28, 28},
                                                       {20, 26, 26},
                                                       {20, 26, 26},
                                                       {20, 13, 13},
                                                       {50, 9, 9},
                                                       {50, 9, 9},
                                                       {50, 4, 4},
                                                       {800},
                                                       {128},
                                                       {128},
                                                       {10}}));
  EXPECT_EQ(count(lenet()), 129'068u);
  EXPECT_EQ(classes_of(lenet()), 10);
  EXPECT_EQ(lenet().sigma, 0.01);
}

TEST(Zoo, MlpIsTheBooks) {
  EXPECT_EQ(infer_shapes(mlp()), (std::vector<Shape>{{1, 28, 28}, {784}, {256}, {256}, {10}}));
  EXPECT_EQ(count(mlp()), 784u * 256 + 256 + 256 * 10 + 10);
}

TEST(Zoo, GivesEveryModelItNames) {
  EXPECT_EQ(zoo_names(), (std::vector<std::string>{"lenet", "mlp"}));
  for (const std::string& name : zoo_names()) EXPECT_EQ(zoo_model(name).name, name);
}

TEST(Zoo, SuggestsTheNearestName) {
  try {
    zoo_model("lenett");
    FAIL() << "a model that does not exist was given";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_EQ(std::string(error.what()), "there is no model named 'lenett'; did you mean 'lenet'?");
  }
}

}  // namespace
}  // namespace lockstep::model
