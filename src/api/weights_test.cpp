#include <cstdlib>

#include <gtest/gtest.h>
#include <lockstep/weights.h>

#include "base/hash.h"
#include "base/refusal_for_test.h"
#include "base/same_bits_for_test.h"
#include "model/zoo.h"
#include "store/tensor_file.h"
#include "train/job.h"

namespace lockstep {
inline namespace api {
namespace {

namespace fs = std::filesystem;

class WeightsFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = testing::TempDir() + "lockstep-weights-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_;
};

void expect_same(const Weights& found, const Weights& expected) {
  ASSERT_EQ(found.tensors.size(), expected.tensors.size());
  for (std::size_t i = 0; i < found.tensors.size(); ++i) {
    EXPECT_EQ(found.tensors[i].name, expected.tensors[i].name);
    EXPECT_EQ(found.tensors[i].shape, expected.tensors[i].shape);
    EXPECT_THAT(found.tensors[i].values, SameBits(expected.tensors[i].values)) << found.tensors[i].name;
  }
}

TEST(Weights, HashIsTheTrainersHash) {
  EXPECT_EQ(initial_weights(lenet(), 3).hash(),
            to_hex(train::hash_of(train::initial_weights(model::lenet(), 3))));
}

TEST_F(WeightsFile, GivesTheWeightsBack) {
  Weights weights = initial_weights(lenet(), 3);
  weights.tensors[1].values[0] = -0.0f;
  save_weights(folder_ / "w", lenet(), weights);
  expect_same(load_weights(folder_ / "w", lenet()), weights);
}

TEST_F(WeightsFile, SaysHowTheModelComputesConvolutions) {
  const std::pair<Convolution, const char*> rules[]{{Convolution::fast, "fast"},
                                                    {Convolution::direct, "direct"}};
  for (const auto& [convolution, name] : rules) {
    Model model = lenet();
    model.convolution = convolution;
    save_weights(folder_ / "w", model, initial_weights(model, 3));
    EXPECT_EQ(store::read_tensor_file(folder_ / "w").metadata.at("convolution"), name);
  }
}

TEST_F(WeightsFile, MayHaveTheTensorsInAnyOrder) {
  const Weights weights = initial_weights(lenet(), 3);
  save_weights(folder_ / "w", lenet(), weights);
  store::TensorFile file = store::read_tensor_file(folder_ / "w");
  std::swap(file.tensors.front(), file.tensors.back());
  store::write_tensor_file(folder_ / "w", file);
  expect_same(load_weights(folder_ / "w", lenet()), weights);
}

TEST_F(WeightsFile, DamageIsRefused) {
  Weights weights = initial_weights(lenet(), 3);
  save_weights(folder_ / "w", lenet(), weights);
  store::TensorFile file = store::read_tensor_file(folder_ / "w");
  file.tensors[0].values[0] += 1;
  store::write_tensor_file(folder_ / "w", file);
  EXPECT_NE(refusal_of(Fault::data, [&] { load_weights(folder_ / "w", lenet()); })
                .find("expected weights with hash"),
            std::string::npos);
  file.metadata.erase("weights");  // as another program writes them
  store::write_tensor_file(folder_ / "w", file);
  weights.tensors[0].values[0] += 1;
  expect_same(load_weights(folder_ / "w", lenet()), weights);
}

TEST_F(WeightsFile, OfAnotherProgramIsTakenWithAWarning) {
  const Weights weights = initial_weights(lenet(), 3);
  std::vector<std::string> warnings;
  const auto load = [&] {
    return load_weights(folder_ / "w", lenet(), [&](const std::string& line) { warnings.push_back(line); });
  };
  save_weights(folder_ / "w", lenet(), weights);
  load();
  EXPECT_TRUE(warnings.empty());
  store::TensorFile file = store::read_tensor_file(folder_ / "w");
  file.metadata.clear();
  store::write_tensor_file(folder_ / "w", file);
  expect_same(load(), weights);
  EXPECT_EQ(warnings, (std::vector{(folder_ / "w").string() +
                                   ": the file holds no hash of its weights; nothing vouches for them"}));
}

TEST_F(WeightsFile, OfAnotherModelIsRefused) {
  save_weights(folder_ / "w", lenet(), initial_weights(lenet(), 3));
  EXPECT_EQ(refusal_of(Fault::data, [&] { load_weights(folder_ / "w", zoo_model("mlp")); }),
            (folder_ / "w").string() +
                ": expected only the parameters of model mlp, found the tensor \"conv1.weight\" of shape "
                "[20, 1, 3, 3]");
}

TEST_F(WeightsFile, IsNotMadeOfAnotherModelsWeights) {
  Weights weights = initial_weights(lenet(), 3);
  weights.tensors.pop_back();
  EXPECT_EQ(
      refusal_of(Fault::usage, [&] { save_weights(folder_ / "w", lenet(), weights); }),
      "weights for model lenet: tensor 7: expected linear2.bias [10], found no more tensors; give those "
      "of this model");
  weights = initial_weights(lenet(), 3);
  weights.tensors[1].values.pop_back();
  EXPECT_EQ(
      refusal_of(Fault::usage, [&] { save_weights(folder_ / "w", lenet(), weights); }),
      "weights for model lenet: tensor 1: expected 20 numbers for conv1.bias [20], found 19; give those "
      "of this model");
  EXPECT_FALSE(fs::exists(folder_ / "w"));
}

}  // namespace
}  // namespace api
}  // namespace lockstep
