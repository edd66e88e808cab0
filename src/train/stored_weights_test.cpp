#include "train/stored_weights.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/refusal_for_test.h"
#include "base/same_bits_for_test.h"
#include "model/zoo.h"
#include "store/bytes_for_test.h"

namespace lockstep::train {
namespace {

using ::testing::HasSubstr;

store::TensorFile file_of_mlp() {
  const model::Model model = model::mlp();
  const Weights weights = initial_weights(model, 7);
  store::TensorFile file{.tensors = {}, .metadata = {{kWeightsHashKey, to_hex(hash_of(weights))}}};
  const std::vector<model::Parameter> parameters = model::parameters_of(model);
  for (std::size_t i = 0; i < parameters.size(); ++i)
    file.tensors.push_back({parameters[i].name, parameters[i].shape, weights[i]});
  return file;
}

StoredWeights read(std::string_view bytes) {
  store::TensorFileReader reader(std::as_bytes(std::span(bytes)), "w.safetensors");
  return read_weights(reader, model::mlp());
}

std::string refusal(std::string_view bytes) {
  return refusal_of(Fault::data, [&] { read(bytes); });
}
std::string refusal(const store::TensorFile& file) { return refusal(store::bytes_for_test(file)); }

TEST(StoredWeights, ComeBackWhateverTheirOrder) {
  store::TensorFile file = file_of_mlp();
  std::swap(file.tensors.front(), file.tensors.back());
  const StoredWeights stored = read(store::bytes_for_test(file));
  EXPECT_THAT(stored.weights, SameBits(initial_weights(model::mlp(), 7)));
  EXPECT_TRUE(stored.vouched);
}

TEST(StoredWeights, AFlippedBitIsSeen) {
  const std::string whole = store::bytes_for_test(file_of_mlp());
  const std::size_t values = store::tensor_file_header(file_of_mlp()).size();
  for (std::size_t at = values; at < whole.size(); at += 4001) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    EXPECT_THAT(refusal(damaged), HasSubstr("w.safetensors: expected weights with hash \"")) << at;
  }
  std::string last = whole;
  last.back() ^= 1;
  EXPECT_THAT(refusal(last), HasSubstr("the file is damaged"));
  store::TensorFile other = file_of_mlp();
  other.metadata[kWeightsHashKey] = "none";
  EXPECT_THAT(refusal(other), HasSubstr("expected weights with hash \"none\", as its metadata says"));
}

TEST(StoredWeights, WithoutAHashTheyAreTakenButNotVouchedFor) {
  store::TensorFile file = file_of_mlp();
  file.metadata = {{"format", "pt"}};
  const StoredWeights stored = read(store::bytes_for_test(file));
  EXPECT_THAT(stored.weights, SameBits(initial_weights(model::mlp(), 7)));
  EXPECT_FALSE(stored.vouched);
}

TEST(StoredWeights, NumbersThatAreNotFiniteAreRefused) {
  store::TensorFile file = file_of_mlp();
  file.metadata.clear();
  file.tensors[0].values[784 + 3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(refusal(file),
            "w.safetensors: tensor \"linear1.weight\": element [1, 3]: expected a finite number, found nan");
  file = file_of_mlp();
  file.tensors.back().values[9] = std::numeric_limits<float>::infinity();
  Weights weights;
  for (const store::Tensor& tensor : file.tensors) weights.push_back(tensor.values);
  file.metadata[kWeightsHashKey] = to_hex(hash_of(weights));
  EXPECT_EQ(refusal(file),
            "w.safetensors: tensor \"linear2.bias\": element [9]: expected a finite number, found inf");
}

TEST(StoredWeights, RefuseAnotherShape) {
  store::TensorFile file = file_of_mlp();
  file.tensors[0].shape = {784, 256};
  EXPECT_EQ(
      refusal(file),
      "w.safetensors: tensor \"linear1.weight\": expected shape [256, 784] for model mlp, found [784, 256]");
}

TEST(StoredWeights, RefuseAMissingTensor) {
  store::TensorFile file = file_of_mlp();
  file.tensors.erase(file.tensors.begin() + 1);
  EXPECT_EQ(
      refusal(file),
      "w.safetensors: tensor \"linear1.bias\": expected shape [256] for model mlp, found no such tensor");
}

TEST(StoredWeights, RefuseATensorTooMany) {
  store::TensorFile file = file_of_mlp();
  file.tensors.push_back({.name = "linear3.bias", .shape = {1}, .values = {0}});
  EXPECT_EQ(
      refusal(file),
      "w.safetensors: expected only the parameters of model mlp, found the tensor \"linear3.bias\" of shape "
      "[1]");
}

model::Model normed() {
  return {
      .name = "normed",
      .input = {2, 2, 2},
      .layers = {
          {"features.0", model::BatchNorm{}}, {"flatten1", model::Flatten{}}, {"linear1", model::Linear{3}}}};
}

// As PyTorch writes it: each number in `counters` is beside the others, a whole number without a shape.
std::string with_counters(const model::Model& model, const std::vector<std::string>& counters) {
  store::SafetensorsHeader header;
  std::string values;
  const auto add = [&](const std::string& name, std::string_view dtype, std::vector<std::uint64_t> shape,
                       std::span<const std::byte> bytes) {
    header.tensors.push_back(
        {name, std::string(dtype), std::move(shape), values.size(), values.size() + bytes.size()});
    values.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  const std::int64_t seen = 470;
  for (const std::string& name : counters) add(name, "I64", {}, std::as_bytes(std::span(&seen, 1)));
  const Weights weights = initial_weights(model, 7);
  const std::vector<model::Parameter> parameters = model::parameters_of(model);
  for (std::size_t i = 0; i < weights.size(); ++i)
    add(parameters[i].name, "F32", {parameters[i].shape.begin(), parameters[i].shape.end()},
        std::as_bytes(std::span(weights[i])));
  return store::safetensors_header_bytes(header) + values;
}

StoredWeights read_normed(const std::string& bytes, store::Counters counters) {
  store::TensorFileReader reader(std::as_bytes(std::span(bytes)), "w.safetensors", counters);
  return read_weights(reader, normed());
}

TEST(StoredWeights, PyTorchsCountersOfMinibatchesAreSkipped) {
  const std::string bytes = with_counters(normed(), {"features.0.num_batches_tracked"});
  EXPECT_THAT(read_normed(bytes, store::Counters::skipped).weights, SameBits(initial_weights(normed(), 7)));
  EXPECT_EQ(refusal_of(Fault::data, [&] { read_normed(bytes, store::Counters::refused); }),
            "w.safetensors: tensor \"features.0.num_batches_tracked\": expected dtype F32, found \"I64\"; "
            "convert it "
            "first");
}

TEST(StoredWeights, RefuseACounterOfNoBatchNorm) {
  const std::string bytes = with_counters(normed(), {"linear1.num_batches_tracked"});
  EXPECT_EQ(refusal_of(Fault::data, [&] { read_normed(bytes, store::Counters::skipped); }),
            "w.safetensors: expected only the parameters of model normed, found the tensor "
            "\"linear1.num_batches_tracked\"");
}

}  // namespace
}  // namespace lockstep::train
