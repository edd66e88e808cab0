#include "store/checkpoint.h"

#include <charconv>
#include <map>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "store/checkpoint_rules.h"
#include "store/finite_values.h"
#include "store/sealed_tensor_file.h"
#include "store/tensor_file_reader.h"

namespace lockstep::store {
namespace {

const std::string kVersionKey = "checkpoint";
const std::string kVersion = "1";

std::string epoch_key(std::size_t index, std::string_view field) {
  return fmt::format("epoch:{}:{}", index + 1, field);
}

// The metadata, taken key by key.
class Words {
 public:
  Words(std::map<std::string, std::string> words, std::string_view file)
      : words_(std::move(words)), file_(file) {}

  std::string take(const std::string& key) {
    auto word = words_.extract(key);
    if (!word)
      throw Error(Fault::data, "{}: expected {:?} in __metadata__, found none; is it a checkpoint?", file_,
                  key);
    return std::move(word.mapped());
  }

  template <class Number>
  void take(const std::string& key, Number& into) {
    const std::string text = take(key);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
    if (error == std::errc{} && end == text.data() + text.size()) return;
    throw Error(Fault::data, "{}: {}: expected a {}number of {} bits, found {:?}", file_, key,
                std::is_integral_v<Number> ? "whole " : "", sizeof(Number) * 8, text);
  }

  void expect_end() const {
    if (!words_.empty())
      throw Error(Fault::data, "{}: expected no more than a checkpoint's keys in __metadata__, found {:?}",
                  file_, words_.begin()->first);
  }

 private:
  std::map<std::string, std::string> words_;
  std::string_view file_;
};

// `{}` prints the shortest text that reads back to the same bits.
void put_epoch(std::map<std::string, std::string>& words, std::size_t index, const FinishedEpoch& epoch) {
  const auto put = [&](std::string_view field, auto value) {
    words[epoch_key(index, field)] = fmt::format("{}", value);
  };
  put("train_loss", epoch.train_loss);
  put("seconds", epoch.seconds);
  put("evaluation_seconds", epoch.evaluation_seconds);
  put("test_correct", epoch.test_correct);
  put("test_examples", epoch.test_examples);
  put("test_loss", epoch.test_loss);
}

FinishedEpoch take_epoch(Words& words, std::size_t index) {
  FinishedEpoch epoch{.epoch = static_cast<int>(index + 1)};
  words.take(epoch_key(index, "train_loss"), epoch.train_loss);
  words.take(epoch_key(index, "seconds"), epoch.seconds);
  words.take(epoch_key(index, "evaluation_seconds"), epoch.evaluation_seconds);
  words.take(epoch_key(index, "test_correct"), epoch.test_correct);
  words.take(epoch_key(index, "test_examples"), epoch.test_examples);
  words.take(epoch_key(index, "test_loss"), epoch.test_loss);
  return epoch;
}

// In a checkpoint a config is data.
RunConfig take_config(Words& words, std::string_view file) {
  const std::string text = words.take("config");
  try {
    return parse_config(text, fmt::format("{}: config", file));
  } catch (const Error& error) {
    throw Error(Fault::data, "{}", error.what());
  }
}

void take_words(Checkpoint& into, std::map<std::string, std::string> metadata, std::string_view file) {
  Words words(std::move(metadata), file);
  if (const std::string version = words.take(kVersionKey); version != kVersion)
    throw Error(Fault::data,
                "{}: expected a checkpoint of version {}, found {:?}; use the program that wrote it", file,
                kVersion, version);
  into.config = take_config(words, file);
  words.take("step", into.step);
  words.take("epoch", into.epoch);
  words.take("step_in_epoch", into.step_in_epoch);
  words.take("loss_sum", into.loss_sum);
  words.take("seconds", into.seconds);
  std::uint32_t epochs = 0;
  words.take("epochs", epochs);
  for (std::size_t i = 0; i < epochs; ++i) into.epochs.push_back(take_epoch(words, i));
  words.expect_end();
}

// In a checkpoint the name of a model is data.
ExpectedTensors expected_tensors(const JobConfig& job, const TensorsOf& tensors_of, std::string_view file) {
  try {
    return tensors_of(job);
  } catch (const Error& error) {
    throw Error(Fault::data, "{}: {}", file, error.what());
  }
}

Checkpoint read_from(SealedReader reader, const TensorsOf& tensors_of) {
  Checkpoint checkpoint;
  take_words(checkpoint, reader.metadata(), reader.file());
  check_rules(checkpoint, Fault::data, reader.file());
  if (tensors_of)
    check_tensors(reader.tensors(), expected_tensors(checkpoint.config.job, tensors_of, reader.file()),
                  reader.file());
  checkpoint.tensors = reader.read_values();
  for (const Tensor& tensor : checkpoint.tensors) check_finite(tensor, reader.file());
  return checkpoint;
}

}  // namespace

TensorFile tensor_file_of(const Checkpoint& checkpoint) {
  check_rules(checkpoint, Fault::ours, "checkpoint to write");
  TensorFile file{.tensors = checkpoint.tensors,
                  .metadata = {{kVersionKey, kVersion},
                               {"config", to_toml(checkpoint.config)},
                               {"step", fmt::format("{}", checkpoint.step)},
                               {"epoch", fmt::format("{}", checkpoint.epoch)},
                               {"step_in_epoch", fmt::format("{}", checkpoint.step_in_epoch)},
                               {"loss_sum", fmt::format("{}", checkpoint.loss_sum)},
                               {"seconds", fmt::format("{}", checkpoint.seconds)},
                               {"epochs", fmt::format("{}", checkpoint.epochs.size())}}};
  for (std::size_t i = 0; i < checkpoint.epochs.size(); ++i)
    put_epoch(file.metadata, i, checkpoint.epochs[i]);
  seal(file);
  return file;
}

Checkpoint read_checkpoint(const std::filesystem::path& file, const TensorsOf& tensors_of) {
  return read_from(SealedReader(TensorFileReader(file)), tensors_of);
}

Checkpoint parse_checkpoint(std::span<const std::byte> bytes, std::string_view file,
                            const TensorsOf& tensors_of) {
  return read_from(SealedReader(TensorFileReader(bytes, file)), tensors_of);
}

}  // namespace lockstep::store
