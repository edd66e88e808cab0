#include "store/checkpoint.h"

#include <bit>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/refusal_for_test.h"
#include "store/bytes_for_test.h"
#include "store/checkpoint_for_test.h"
#include "store/sealed_tensor_file.h"

namespace lockstep::store {
namespace {

using ::testing::HasSubstr;

std::string bytes_of(const Checkpoint& checkpoint) { return bytes_for_test(tensor_file_of(checkpoint)); }

Checkpoint parse(std::string_view bytes) { return parse_checkpoint(std::as_bytes(std::span(bytes)), "f"); }

std::string refusal(std::string_view bytes) {
  return refusal_of(Fault::data, [&] { parse(bytes); });
}

// The example with other words or tensors, and hashes that fit them.
std::string refusal_of(const std::function<void(TensorFile&)>& change) {
  TensorFile file = tensor_file_of(checkpoint_for_test());
  std::erase_if(file.metadata, [](const auto& word) { return word.first.starts_with("hash"); });
  change(file);
  seal(file);
  return refusal(bytes_for_test(file));
}
std::string refusal_of(const std::string& key, const std::string& text) {
  return refusal_of([&](TensorFile& file) { file.metadata.at(key) = text; });
}

std::string defect_of(const std::function<void(Checkpoint&)>& change) {
  Checkpoint checkpoint = checkpoint_for_test();
  change(checkpoint);
  return refusal_of(Fault::ours, [&] { tensor_file_of(checkpoint); });
}

template <class Number>
auto bits(Number value) {
  return std::bit_cast<std::conditional_t<sizeof(Number) == 8, std::uint64_t, std::uint32_t>>(value);
}

void expect_equal(const std::vector<Tensor>& found, const std::vector<Tensor>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].name, expected[i].name);
    EXPECT_EQ(found[i].shape, expected[i].shape);
    ASSERT_EQ(found[i].values.size(), expected[i].values.size());
    for (std::size_t k = 0; k < found[i].values.size(); ++k)
      EXPECT_EQ(bits(found[i].values[k]), bits(expected[i].values[k]));
  }
}

TEST(Checkpoint, EveryFieldComesBackBitForBit) {
  const Checkpoint written = checkpoint_for_test();
  const Checkpoint read = parse(bytes_of(written));
  EXPECT_EQ(read.config, written.config);
  EXPECT_EQ(read.step, written.step);
  EXPECT_EQ(read.epoch, written.epoch);
  EXPECT_EQ(read.step_in_epoch, written.step_in_epoch);
  EXPECT_EQ(bits(read.loss_sum), bits(written.loss_sum));
  EXPECT_EQ(bits(read.seconds), bits(written.seconds));
  ASSERT_EQ(read.epochs.size(), written.epochs.size());
  for (std::size_t i = 0; i < read.epochs.size(); ++i) {
    const FinishedEpoch &found = read.epochs[i], &expected = written.epochs[i];
    EXPECT_EQ(found.epoch, expected.epoch);
    EXPECT_EQ(bits(found.train_loss), bits(expected.train_loss));
    EXPECT_EQ(bits(found.seconds), bits(expected.seconds));
    EXPECT_EQ(bits(found.evaluation_seconds), bits(expected.evaluation_seconds));
    EXPECT_EQ(found.test_correct, expected.test_correct);
    EXPECT_EQ(found.test_examples, expected.test_examples);
    EXPECT_EQ(bits(found.test_loss), bits(expected.test_loss));
  }
  expect_equal(read.tensors, written.tensors);
  EXPECT_EQ(bytes_of(read), bytes_of(written));
}

TEST(Checkpoint, AwkwardNumbersComeBackBitForBit) {
  Checkpoint checkpoint = checkpoint_for_test();
  for (const double value :
       {0.0, -0.0, 0.1, 1.0 / 3, 1e22, 1e23, 9007199254740993.0, 5e-324, 2.2250738585072011e-308,
        std::numeric_limits<double>::max(), std::numeric_limits<double>::lowest(), 0.1 + 0.2, 123456789.0}) {
    checkpoint.loss_sum = value;
    EXPECT_EQ(bits(parse(bytes_of(checkpoint)).loss_sum), bits(value)) << value;
  }
  for (std::uint32_t pattern = 0; pattern < 0x7f800000u; pattern += 10485767u) {
    checkpoint.epochs[0].test_loss = std::bit_cast<float>(pattern);
    EXPECT_EQ(bits(parse(bytes_of(checkpoint)).epochs[0].test_loss), pattern);
  }
}

TEST(Checkpoint, TheRuleForConvolutionsComesBack) {
  Checkpoint checkpoint = checkpoint_for_test();
  for (const auto rule : {arithmetic::ConvolutionRule::fast, arithmetic::ConvolutionRule::direct}) {
    checkpoint.config.job.convolution = rule;
    EXPECT_EQ(parse(bytes_of(checkpoint)).config.job.convolution, rule);
  }
}

TEST(Checkpoint, ParametersAloneComeBack) {
  Checkpoint checkpoint = checkpoint_for_test();
  checkpoint.config.job.optimizer = {};
  checkpoint.tensors.resize(2);
  checkpoint.epochs.clear();
  checkpoint.epoch = 1;
  checkpoint.step = checkpoint.step_in_epoch;
  const Checkpoint read = parse(bytes_of(checkpoint));
  EXPECT_TRUE(read.epochs.empty());
  expect_equal(read.tensors, checkpoint.tensors);
}

// What version 1 of the program wrote of checkpoint_for_test().
TEST(Checkpoint, AFileThatIsKeptStaysReadableAndIsWrittenTheSameAgain) {
  const std::string path = LOCKSTEP_SOURCE_DIR "/tests/checkpoints/version-1.safetensors";
  const Checkpoint read = read_checkpoint(path, tensors_for_test);
  EXPECT_EQ(read.step, 235);
  expect_equal(read.tensors, checkpoint_for_test().tensors);
  std::ifstream in(path, std::ios::binary);
  EXPECT_EQ(bytes_of(checkpoint_for_test()), (std::string{std::istreambuf_iterator<char>(in), {}}));
}

TEST(Checkpoint, EveryFlippedByteIsRefused) {
  const std::string whole = bytes_of(checkpoint_for_test());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int mask : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ mask);
      EXPECT_NE(refusal(damaged), "") << at << " " << mask;
    }
  }
}

TEST(Checkpoint, EveryTruncationIsRefused) {
  const std::string whole = bytes_of(checkpoint_for_test());
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(refusal(std::string_view(whole).substr(0, size)), "") << size;
  EXPECT_NE(refusal(whole + '\0'), "");
}

TEST(Checkpoint, EveryKeyMustBeThere) {
  for (const auto& [key, text] : tensor_file_of(checkpoint_for_test()).metadata) {
    if (key.starts_with("hash")) continue;
    EXPECT_EQ(refusal_of([&](TensorFile& file) { file.metadata.erase(key); }),
              fmt::format("f: expected \"{}\" in __metadata__, found none; is it a checkpoint?", key));
  }
  EXPECT_EQ(refusal_of([](TensorFile& file) { file.metadata["more"] = ""; }),
            "f: expected no more than a checkpoint's keys in __metadata__, found \"more\"");
}

TEST(Checkpoint, NumbersAreChecked) {
  EXPECT_EQ(refusal_of("step", "12x"), "f: step: expected a whole number of 64 bits, found \"12x\"");
  EXPECT_EQ(refusal_of("step", ""), "f: step: expected a whole number of 64 bits, found \"\"");
  EXPECT_EQ(refusal_of("step", "9223372036854775808"),
            "f: step: expected a whole number of 64 bits, found \"9223372036854775808\"");
  EXPECT_EQ(refusal_of("step", "-1"), "f: step: expected a whole number from 0, found -1");
  EXPECT_EQ(refusal_of("epoch", "0"),
            "f: epoch: expected a whole number from 1 to 11, one more than the job has, found 0");
  EXPECT_EQ(refusal_of("epoch", "2147483648"),
            "f: epoch: expected a whole number of 32 bits, found \"2147483648\"");
  EXPECT_EQ(refusal_of("step_in_epoch", "236"),
            "f: step_in_epoch: expected a whole number from 0 to 235, the step, found 236");
  for (const std::string number : {"nan", "inf", "-inf"})
    EXPECT_EQ(refusal_of("loss_sum", number), "f: loss_sum: expected a finite number, found " + number);
  EXPECT_EQ(refusal_of("loss_sum", " 1"), "f: loss_sum: expected a number of 64 bits, found \" 1\"");
  EXPECT_EQ(refusal_of("seconds", "-0.5"), "f: seconds: expected a finite number from 0, found -0.5");
  EXPECT_EQ(refusal_of("seconds", "nan"), "f: seconds: expected a finite number from 0, found nan");
}

TEST(Checkpoint, FinishedEpochsAreChecked) {
  EXPECT_EQ(refusal_of("epochs", "3"),
            "f: expected \"epoch:3:train_loss\" in __metadata__, found none; is it a checkpoint?");
  EXPECT_EQ(refusal_of("epochs", "2000000000"),
            "f: expected \"epoch:3:train_loss\" in __metadata__, found none; is it a checkpoint?");
  EXPECT_EQ(refusal_of("epochs", "-1"), "f: epochs: expected a whole number of 32 bits, found \"-1\"");
  EXPECT_EQ(
      refusal_of("epochs", "1"),
      "f: expected no more than a checkpoint's keys in __metadata__, found \"epoch:2:evaluation_seconds\"");
  EXPECT_EQ(refusal_of("epoch:1:test_correct", "10001"),
            "f: finished epoch 1: test_correct: expected a whole number from 0 to 10000, found 10001");
  EXPECT_EQ(refusal_of("epoch:2:test_examples", "-1"),
            "f: finished epoch 2: test_examples: expected a whole number from 1, found -1");
  EXPECT_EQ(refusal_of("epoch:2:train_loss", "nan"),
            "f: finished epoch 2: train_loss: expected a finite number, found nan");
  EXPECT_EQ(refusal_of("epoch:1:test_loss", "inf"),
            "f: finished epoch 1: test_loss: expected a finite number, found inf");
  EXPECT_EQ(refusal_of("epoch:2:evaluation_seconds", "inf"),
            "f: finished epoch 2: evaluation_seconds: expected a finite number from 0, found inf");
  EXPECT_EQ(refusal_of("epoch:1:test_loss", "low"),
            "f: epoch:1:test_loss: expected a number of 32 bits, found \"low\"");
}

// Hashes that fit, and a place that no training of this job passes.
TEST(Checkpoint, ImpossiblePlacesAreRefused) {
  EXPECT_EQ(refusal_of("step", "234"),
            "f: step: expected 1 more than a multiple of 2, the finished epochs, found 234");
  EXPECT_EQ(refusal_of("step", "3"),
            "f: step: expected more than 1 and at most 4294967295 steps an epoch, found 3 in 3 epochs");
  EXPECT_EQ(
      refusal_of("step", "9223372036854775807"),
      "f: step: expected more than 1 and at most 4294967295 steps an epoch, found 9223372036854775807 in "
      "3 epochs");
  EXPECT_EQ(refusal_of("epoch", "1"), "f: step: expected 1 in epoch 1, as step_in_epoch says, found 235");
  EXPECT_EQ(refusal_of("epoch", "4"), "f: epochs: expected 3, all before epoch 4, found 2");
  EXPECT_EQ(refusal_of("epoch", "12"),
            "f: epoch: expected a whole number from 1 to 11, one more than the job has, found 12");
  EXPECT_EQ(refusal_of("epoch", "11"), "f: step_in_epoch: expected 0 after the last epoch, found 1");
  EXPECT_EQ(refusal_of("step_in_epoch", "-1"),
            "f: step_in_epoch: expected a whole number from 0 to 235, the step, found -1");
}

// 117 steps an epoch, and as many test examples as both epochs saw.
Checkpoint with_sizes() {
  Checkpoint checkpoint = checkpoint_for_test();
  checkpoint.config.job.data_sizes = {
      .train = 117 * 256 - 5, .test = 10000, .channels = 1, .height = 28, .width = 28, .classes = 10};
  checkpoint.epochs[1].test_examples = 10000;
  return checkpoint;
}

TEST(Checkpoint, StepsAndExamplesAreThoseOfTheData) {
  EXPECT_EQ(parse(bytes_of(with_sizes())).config.job.data_sizes.test, 10000);
  const auto refusal_of_sizes = [](const std::function<void(Checkpoint&)>& change) {
    Checkpoint checkpoint = with_sizes();
    change(checkpoint);
    return refusal_of(Fault::ours, [&] { tensor_file_of(checkpoint); });
  };
  EXPECT_EQ(refusal_of_sizes([](Checkpoint& c) { c.step = 237; }),
            "checkpoint to write: step: expected step 1 of epoch 3, with 117 steps an epoch, found 237");
  EXPECT_EQ(refusal_of_sizes([](Checkpoint& c) { c.config.job.data_sizes.train += 6; }),
            "checkpoint to write: step: expected step 1 of epoch 3, with 118 steps an epoch, found 235");
  EXPECT_EQ(refusal_of_sizes([](Checkpoint& c) { c.config.job.data_sizes.test = 9999; }),
            "checkpoint to write: finished epoch 1: test_examples: expected 9999, found 10000");
  // Step 7 of 4: two epochs of two steps.
  Checkpoint small = with_sizes();
  small.config.job.data_sizes.train = 512;
  small.config.job.epochs = 2;
  small.step_in_epoch = 0;
  small.loss_sum = small.seconds = 0;
  small.step = 4;
  EXPECT_EQ(parse(bytes_of(small)).step, 4);
  small.step = 7;
  EXPECT_EQ(refusal_of(Fault::ours, [&] { tensor_file_of(small); }),
            "checkpoint to write: step: expected 0 more than a multiple of 2, the finished epochs, found 7");
  small.step = 6;
  EXPECT_EQ(refusal_of(Fault::ours, [&] { tensor_file_of(small); }),
            "checkpoint to write: step: expected step 0 of epoch 3, with 2 steps an epoch, found 6");
  // A minibatch larger than the training set is all of it.
  small.config.job.batch = 1000;
  small.step = 2;
  EXPECT_EQ(parse(bytes_of(small)).step, 2);
}

TEST(Checkpoint, AnEpochThatHasNotBegunHasNoLossAndNoTime) {
  Checkpoint checkpoint = checkpoint_for_test();
  checkpoint.step = 234;
  checkpoint.step_in_epoch = 0;
  checkpoint.loss_sum = checkpoint.seconds = 0;
  EXPECT_EQ(parse(bytes_of(checkpoint)).step, 234);
  const auto refusal_with = [&](double Checkpoint::*number) {
    Checkpoint other = checkpoint;
    other.*number = 0.5;
    return refusal_of(Fault::ours, [&] { tensor_file_of(other); });
  };
  EXPECT_EQ(refusal_with(&Checkpoint::loss_sum),
            "checkpoint to write: loss_sum: expected 0 before the epoch's first step, found 0.5");
  EXPECT_EQ(refusal_with(&Checkpoint::seconds),
            "checkpoint to write: seconds: expected 0 before the epoch's first step, found 0.5");
}

TEST(Checkpoint, NumbersOfTensorsAreFinite) {
  EXPECT_EQ(refusal_of([](TensorFile& file) {
              file.tensors[0].values[1] = std::numeric_limits<float>::quiet_NaN();
            }),
            "f: tensor \"z.weight\": element [1, 0]: expected a finite number, found nan");
  EXPECT_EQ(refusal_of([](TensorFile& file) {
              file.tensors[3].values[0] = -std::numeric_limits<float>::infinity();
            }),
            "f: tensor \"velocity:a.bias\": element [0]: expected a finite number, found -inf");
}

TEST(Checkpoint, TensorsAreThoseOfTheJob) {
  const std::string bytes = bytes_of(checkpoint_for_test());
  const auto parse_with = [&](const TensorsOf& tensors_of) {
    return parse_checkpoint(std::as_bytes(std::span(bytes)), "f", tensors_of);
  };
  const auto refusal_with = [&](const std::function<void(std::vector<TensorShape>&)>& change) {
    return refusal_of(Fault::data, [&] {
      parse_with([&](const JobConfig& job) {
        ExpectedTensors expected = tensors_for_test(job);
        change(expected.tensors);
        return expected;
      });
    });
  };
  EXPECT_EQ(parse_with(tensors_for_test).step, 235);
  EXPECT_EQ(
      refusal_with([](auto& tensors) { tensors.resize(2); }),
      "f: tensors: expected the 2 of model mlp, found tensor \"velocity:z.weight\" of shape [2, 1] as well");
  EXPECT_EQ(refusal_with([](auto& tensors) {
              tensors.push_back({"other", {7}});
            }),
            "f: tensors: expected tensor \"other\" of shape [7] of model mlp, found only 4 tensors");
  EXPECT_EQ(refusal_with([](auto& tensors) { tensors[1].shape = {2}; }),
            "f: tensors: expected tensor \"a.bias\" of shape [2] of model mlp, found tensor \"a.bias\" of "
            "shape [1]");
  EXPECT_EQ(refusal_with([](auto& tensors) { std::swap(tensors[2], tensors[3]); }),
            "f: tensors: expected tensor \"velocity:a.bias\" of shape [1] of model mlp, found tensor "
            "\"velocity:z.weight\" of shape [2, 1]");
  EXPECT_EQ(refusal_of(Fault::data,
                       [&] {
                         parse_with([](const JobConfig& job) -> ExpectedTensors {
                           throw Error(Fault::usage, "no model {}", job.model);
                         });
                       }),
            "f: no model mlp");
}

TEST(Checkpoint, ConfigAndVersionAreChecked) {
  EXPECT_EQ(refusal_of("config", "[job]\nbatch = 0"),
            "f: config:2: job.batch: expected an integer from 1 to 2147483647, found 0");
  EXPECT_EQ(refusal_of("config", "[job]\nconvolution = 'slow'"),
            "f: config:2: job.convolution: expected \"fast\" or \"direct\", found \"slow\"");
  EXPECT_EQ(refusal_of("checkpoint", "2"),
            "f: expected a checkpoint of version 1, found \"2\"; use the program that wrote it");
}

TEST(Checkpoint, WhatCouldNotBeReadAgainIsNotWritten) {
  EXPECT_EQ(defect_of([](Checkpoint& checkpoint) { checkpoint.step = -1; }),
            "checkpoint to write: step: expected a whole number from 0, found -1");
  EXPECT_THAT(defect_of([](Checkpoint& checkpoint) { checkpoint.epochs[1].epoch = 1; }),
              HasSubstr("finished epoch 2: expected the epochs from 1 on"));
}

}  // namespace
}  // namespace lockstep::store
