#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <set>

#include <gtest/gtest.h>
#include <lockstep/book.h>

#include "api/book_devices.h"
#include "api/dataset_inside.h"
#include "api/pictures_for_test.h"
#include "api/training.h"
#include "base/refusal_for_test.h"
#include "base/same_bits_for_test.h"
#include "base/strange_floats_for_test.h"
#include "cpu/cpu_device.h"
#include "inventory/inventory.h"
#include "model/zoo.h"
#include "train/minibatches.h"
#include "train/trainer.h"

namespace lockstep {
inline namespace api {
namespace book {
namespace {

Tensor matrix(int rows, int columns) {
  Tensor tensor{rows, columns, std::vector<float>(static_cast<std::size_t>(rows * columns))};
  std::iota(tensor.values.begin(), tensor.values.end(), 0.0f);
  return tensor;
}

TEST(BookToText, IsPyTorchs) {
  EXPECT_EQ(to_text(matrix(4, 5)),
            "tensor([[ 0.,  1.,  2.,  3.,  4.],\n"
            "        [ 5.,  6.,  7.,  8.,  9.],\n"
            "        [10., 11., 12., 13., 14.],\n"
            "        [15., 16., 17., 18., 19.]])");
  EXPECT_EQ(to_text(Tensor{1, 2, {0.5f, -1}, "cpu:1"}), "tensor([[ 0.5000, -1.0000]], device='cpu:1')");
}

TEST(BookGetParams, IsATrueCopyWithGradientsOfZero) {
  Params params = init_params();
  const Params copy = get_params(params, "cpu:1");
  params[0].values[0] = 17;
  EXPECT_NE(copy[0].values[0], 17);
  ASSERT_EQ(copy.size(), 8U);
  for (const Tensor& tensor : copy) {
    EXPECT_EQ(tensor.device, "cpu:1");
    EXPECT_THAT(tensor.grad, SameBits(std::vector<float>(tensor.values.size(), 0.0f)));
  }
  EXPECT_THAT(weights_of(copy), SameBits(train::initial_weights(model::lenet(), 0)));
}

TEST(BookAllreduce, EveryDeviceGetsTheSum) {
  std::vector<Tensor> data{{1, 2, {1, 1}, "cpu:0"}, {1, 2, {2, 2}, "cpu:1"}};
  allreduce(data);
  EXPECT_THAT(data[0].values, SameBits(std::vector<float>{3, 3}));
  EXPECT_THAT(data[1].values, SameBits(std::vector<float>{3, 3}));
  EXPECT_EQ(data[1].device, "cpu:1");
}

TEST(BookAllreduce, AddsAnyNumberOfDevices) {
  for (const int devices : {1, 3, 4, 7}) {
    std::vector<Tensor> data;
    for (int d = 0; d < devices; ++d) {
      data.push_back(matrix(37, 11));
      data.back().device = "cpu:" + std::to_string(d);
      for (float& value : data.back().values) value = value * static_cast<float>(d + 1);
    }
    allreduce(data);
    Tensor expected = matrix(37, 11);  // whole numbers: every order of adding gives the same
    for (float& value : expected.values) value *= static_cast<float>(devices * (devices + 1) / 2);
    for (const Tensor& tensor : data) EXPECT_THAT(tensor.values, SameBits(expected.values)) << devices;
  }
}

TEST(BookAllreduce, WorksBetweenCpuAndOpenClDevices) {
  inventory::Inventory inventory;
  if (std::ranges::none_of(inventory.listed(), &inventory::Listed::on_cores))
    GTEST_SKIP() << "no OpenCL device";
  std::vector<Tensor> data{{1, 2, {1, 1}, "cpu:0"}, {1, 2, {2, 4}, "opencl:0"}};
  allreduce(data);
  EXPECT_THAT(data[0].values, SameBits(std::vector<float>{3, 5}));
  EXPECT_THAT(data[1].values, SameBits(std::vector<float>{3, 5}));
  std::vector<Tensor> one{{1, 2, {2, 4}, "opencl:0"}};
  allreduce(one);
  EXPECT_THAT(one[0].values, SameBits(std::vector<float>{2, 4}));
}

// A finished sum is +0, also where only -0 was added.
TEST(BookAllreduce, GivesPlusZeroOnCpuAndOpenClDevices) {
  inventory::Inventory inventory;
  if (std::ranges::none_of(inventory.listed(), &inventory::Listed::on_cores))
    GTEST_SKIP() << "no OpenCL device";
  for (const std::vector<std::string>& devices :
       {std::vector<std::string>{"cpu:0"}, {"opencl:0"}, {"cpu:0", "cpu:1"}, {"cpu:0", "opencl:0"}}) {
    std::vector<Tensor> data;
    for (const std::string& device : devices) data.push_back({1, 40, std::vector<float>(40, -0.0f), device});
    allreduce(data);
    for (const Tensor& sum : data)
      EXPECT_THAT(sum.values, SameBits(std::vector<float>(40, 0.0f))) << sum.device;
  }
}

// Bytes become floats, floats bytes, and sums are added.
TEST(Book, TheCallersFloatingPointEnvironmentChangesNothing) {
  const Pictures pictures = some_pictures(20);
  Tensor X{20, 784, {}}, y{20, 1, {}};
  for (const std::uint8_t pixel : pictures.pixels) X.values.push_back(static_cast<float>(pixel) / 255.0f);
  for (const std::uint8_t label : pictures.labels) y.values.push_back(label);
  struct Results {
    float loss = 0;
    std::vector<float> weights, sum;
  };
  const auto compute = [&] {
    Results results;
    Devices devices("2");
    std::vector<Params> params;
    for (const std::string& device : devices.names()) params.push_back(get_params(init_params(), device));
    results.loss = train_batch(X, y, params, devices, 0.3f);
    results.weights = params[1][0].values;
    std::vector<Tensor> data{{1, 2, {0x1p+24f, 0x1p-149f}, "cpu:0"}, {1, 2, {1, 0x1p-149f}, "cpu:1"}};
    allreduce(data);
    results.sum = data[1].values;
    return results;
  };
  const Results expected = compute();
  EXPECT_THAT(expected.sum, SameBits(std::vector{0x1p+24f, 0x1p-148f}));
  for (const StrangeFloats& floats : strange_floats()) {
    SCOPED_TRACE(floats.name);
    const InStrangeFloats strange(floats);
    const Results found = compute();
    EXPECT_TRUE(strange.unchanged());
    EXPECT_THAT(found.loss, SameBits(expected.loss));
    EXPECT_THAT(found.weights, SameBits(expected.weights));
    EXPECT_THAT(found.sum, SameBits(expected.sum));
  }
}

// The order of the pack tree, which a loop of additions does not have.
TEST(BookAllreduce, AddsInTheOrderOfTheLaw) {
  const std::vector<float> values{1e8f, 1.0f, -1e8f, 1.0f};
  std::vector<Tensor> data;
  for (const float value : values) data.push_back({1, 1, {value}, "cpu:" + std::to_string(data.size())});
  allreduce(data);
  EXPECT_THAT(data[0].values[0], SameBits((values[0] + values[1]) + (values[2] + values[3])));
  EXPECT_NE(data[0].values[0], ((values[0] + values[1]) + values[2]) + values[3]);
}

TEST(BookAllreduce, RefusesShapesAndDevicesThatDoNotFit) {
  std::vector<Tensor> shapes{{1, 2, {1, 1}, "cpu:0"}, {2, 1, {2, 2}, "cpu:1"}};
  EXPECT_EQ(refusal_of(Fault::usage, [&] { allreduce(shapes); }),
            "allreduce: expected 1 x 2 numbers on every device, found 2 x 1 on cpu:1");
  std::vector<Tensor> twice{{1, 1, {1}, "cpu:0"}, {1, 1, {2}, "cpu:0"}};
  EXPECT_NE(refusal_of(Fault::usage, [&] { allreduce(twice); }).find("cpu:0 is there twice"),
            std::string::npos);
}

TEST(BookSplitBatch, GivesEachDeviceItsRows) {
  const Shards shards = split_batch(matrix(4, 5), matrix(4, 1), {"cpu:0", "cpu:1"});
  EXPECT_EQ(to_text(shards.X),
            "(tensor([[0., 1., 2., 3., 4.],\n"
            "        [5., 6., 7., 8., 9.]], device='cpu:0'), tensor([[10., 11., 12., 13., 14.],\n"
            "        [15., 16., 17., 18., 19.]], device='cpu:1'))");
  EXPECT_EQ(shards.y[1].values, (std::vector<float>{2, 3}));
}

TEST(BookSplitBatch, RefusesUnequalLengths) {
  EXPECT_EQ(refusal_of(Fault::usage,
                       [] {
                         split_batch(matrix(4, 5), matrix(3, 1), {"cpu:0", "cpu:1"});
                       }),
            "split_batch: expected as many rows of y as of X, found 3 and 4");
}

// Nine rows on eight devices: every row goes somewhere.
TEST(BookSplitAndLoad, LosesNoRow) {
  const std::vector<std::string> devices(8, "cpu:0");
  std::vector<int> rows;
  std::vector<float> values;
  for (const Tensor& part : split_and_load(matrix(9, 2), devices)) {
    rows.push_back(part.rows);
    values.insert(values.end(), part.values.begin(), part.values.end());
  }
  EXPECT_EQ(rows, (std::vector{2, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_THAT(values, SameBits(matrix(9, 2).values));
}

struct Step {
  Tensor X, y;
  std::vector<Params> device_params;
  Devices devices;

  explicit Step(int count) : devices(std::to_string(count)) {
    const data::Dataset& train = data_.inside().split.train;
    const auto rows = static_cast<int>(train.size());
    X = {rows, 784, {}};
    y = {rows, 1, {}};
    train::Minibatches minibatches(0, train.size(), rows);
    for (const std::uint32_t example : minibatches.at(1, 0)) {
      for (const std::uint8_t byte : train.example(example))
        X.values.push_back(static_cast<float>(byte) / 255.0f);
      y.values.push_back(train.labels[example]);
    }
    for (const std::string& name : devices.names()) device_params.push_back(get_params(init_params(), name));
  }

  float run(float lr = 0.2f) { return train_batch(X, y, device_params, devices, lr); }

  Dataset data_ = some_data();
};

TEST(BookTrainBatch, IsOneStepOfTraining) {
  const Dataset data = some_data();
  const auto device = cpu::make_cpu_device({.threads = 1});
  const train::TrainResult expected =
      train::train({.model = model::lenet(), .batch = static_cast<int>(data.train_size()), .epochs = 1},
                   data.inside().split, *device);
  for (const int devices : {1, 2, 3}) {
    Step step(devices);
    EXPECT_THAT(static_cast<double>(step.run()), SameBits(expected.epochs[0].train_loss));
    for (const Params& params : step.device_params)
      EXPECT_THAT(weights_of(params), SameBits(expected.weights));
  }
}

TEST(BookTrainBatch, LeavesTheMeanGradient) {
  Step step(2);
  const Params before = step.device_params[0];
  step.run(1.0f);
  for (const Params& params : step.device_params) {
    for (std::size_t i = 0; i < params.size(); ++i) {
      for (std::size_t n = 0; n < params[i].values.size(); ++n)
        ASSERT_THAT(params[i].values[n], SameBits(before[i].values[n] - params[i].grad[n])) << i << ", " << n;
    }
  }
}

TEST(BookTrainBatch, RefusesWhatDoesNotFit) {
  Step step(2);
  step.y.values[3] = 10;
  EXPECT_EQ(refusal_of(Fault::usage, [&] { step.run(); }),
            "train_batch: y, row 3: expected a class of 0 to 9, found 10");
  step.y.values[3] = 9;
  step.X.values[784] = 0.1f;
  EXPECT_EQ(refusal_of(Fault::usage, [&] { step.run(); }),
            "train_batch: X, row 1: expected bytes divided by 255, found 0.1");
  step.X.values[784] = 0;
  step.device_params[1][3].values[0] = 1;
  EXPECT_EQ(refusal_of(Fault::usage, [&] { step.run(); }),
            "train_batch: the params of cpu:1 are not those of cpu:0; copy them with get_params");
  step.device_params.pop_back();
  EXPECT_EQ(refusal_of(Fault::usage, [&] { step.run(); }),
            "train_batch: expected params for 2 devices, found 1");
  step.X.columns = 700;
  EXPECT_EQ(refusal_of(Fault::usage, [&] { step.run(); }),
            "train_batch: expected X of n x 784 and y of n x 1, found 100 x 700 and 100 x 1");
}

TEST(BookTrainBatch, ChangesNothingWhenItDiverges) {
  Step step(2);
  for (Params& params : step.device_params) params[7].values[0] = std::numeric_limits<float>::infinity();
  const run::Weights before = weights_of(step.device_params[0]);
  refusal_of(Fault::diverged, [&] { step.run(); });
  EXPECT_THAT(weights_of(step.device_params[0]), SameBits(before));
}

class BookTrain : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = testing::TempDir() + "lockstep-book-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    write_some_data(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

TEST_F(BookTrain, IsTrainingByEitherRuleForConvolutions) {
  std::set<std::string> hashes;
  for (const Convolution convolution : {Convolution::fast, Convolution::direct}) {
    Model model = lenet();
    model.convolution = convolution;
    const TrainResult expected =
        run_training({.model = model, .data = fashion_mnist(folder_), .batch = 48, .epochs = 2});
    const Trained found = train({.num_devices = 2,
                                 .batch_size = 48,
                                 .num_epochs = 2,
                                 .data_directory = folder_,
                                 .convolution = convolution});
    EXPECT_EQ(found.weights_hash, expected.weights.hash());
    EXPECT_EQ(found.accuracy.back(), expected.accuracy());
    hashes.insert(found.weights_hash);
  }
  EXPECT_EQ(hashes.size(), 2U);
}

}  // namespace
}  // namespace book
}  // namespace api
}  // namespace lockstep
