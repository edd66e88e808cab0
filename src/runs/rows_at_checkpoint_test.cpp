#include "runs/rows_at_checkpoint.h"

#include <algorithm>
#include <fstream>
#include <span>
#include <sstream>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/hash.h"
#include "report/metrics_jsonl.h"
#include "report/results_csv.h"
#include "store/hash_record.h"

namespace lockstep::runs {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kTensors{"w", "b"};

// Weights after a step, and what a run writes of them.
train::Weights weights_after(std::int64_t step) {
  const auto value = static_cast<float>(step);
  return {{value, value + 0.5f}, {-value}};
}

std::string hash_row(std::int64_t step) {
  std::vector<Hash128> hashes;
  for (const std::vector<float>& values : weights_after(step))
    hashes.push_back(hash128(std::as_bytes(std::span(values))));
  return store::hash_record_row(step, hashes);
}

train::EpochReport epoch_report(int epoch) {
  return {.epoch = epoch,
          .train_loss = 1.0 / epoch,
          .seconds = 1.25,
          .evaluation_seconds = 0.5,
          .test_correct = epoch,
          .test_examples = 10,
          .test_loss = 0.1f * static_cast<float>(epoch)};
}

// A state after `step` steps, two of which are an epoch.
train::TrainState state_after(std::int64_t step) {
  const train::Weights weights = weights_after(step);
  train::TrainState state{.tensors = {{"w", weights[0]}, {"b", weights[1]}, {"w.velocity", {1, 2}}},
                          .step = step,
                          .step_in_epoch = step % 2};
  for (int epoch = 1; epoch <= step / 2; ++epoch) state.epochs.push_back(epoch_report(epoch));
  state.epoch = static_cast<int>(step / 2) + 1;
  return state;
}

struct Texts {
  std::string results, metrics, hashes;
};

// The files of a run that never stopped, after `step` steps.
Texts texts_after(std::int64_t steps) {
  std::ostringstream results, metrics;
  report::ResultsCsv csv(results, "");
  report::MetricsJsonl jsonl(metrics, "");
  std::string hashes = store::hash_record_header(kTensors);
  csv.on_start({});
  for (std::int64_t step = 1; step <= steps; ++step) {
    jsonl.on_step({.epoch = static_cast<int>((step + 1) / 2), .step = 2 - step % 2, .global_step = step});
    hashes += hash_row(step);
    if (step % 2 != 0) continue;
    csv.on_epoch(epoch_report(static_cast<int>(step / 2)));
    jsonl.on_epoch(epoch_report(static_cast<int>(step / 2)));
  }
  return {results.str(), metrics.str(), hashes};
}

class RowsAtCheckpointTest : public testing::Test {
 protected:
  RowsAtCheckpointTest() {
    std::string pattern = (fs::temp_directory_path() / "lockstep-rows-XXXXXX").string();
    run_ = ::mkdtemp(pattern.data());
  }
  ~RowsAtCheckpointTest() override { fs::remove_all(run_); }

  void write(const Texts& texts) const {
    std::ofstream(run_ / "results.csv", std::ios::binary) << texts.results;
    std::ofstream(run_ / "metrics.jsonl", std::ios::binary) << texts.metrics;
    std::ofstream(run_ / "hashes.csv", std::ios::binary) << texts.hashes;
  }
  std::string read(const char* name) const {
    std::ostringstream text;
    text << std::ifstream(run_ / name, std::ios::binary).rdbuf();
    return text.str();
  }
  std::string bring(std::int64_t step, bool record = true) const {
    return bring_rows_to(state_after(step), run_, {kTensors, record});
  }
  std::string line(const std::string& missing) const {
    return run_.string() +
           ": rows were missing, after a loss of power or a part without a record: " + missing + "\n";
  }
  void expect(const Texts& texts) const {
    EXPECT_EQ(read("results.csv"), texts.results);
    EXPECT_EQ(read("metrics.jsonl"), texts.metrics);
    EXPECT_EQ(read("hashes.csv"), texts.hashes);
  }

  fs::path run_;
};

TEST_F(RowsAtCheckpointTest, RowsBehindTheCheckpointGo) {
  for (const std::int64_t step : {6, 5, 4, 1, 0}) {
    write(texts_after(6));
    EXPECT_EQ(bring(step), "");
    const Texts expected = texts_after(step);
    EXPECT_EQ(read("results.csv"), expected.results);
    EXPECT_EQ(read("hashes.csv"), expected.hashes);
    EXPECT_EQ(read("metrics.jsonl"), expected.metrics);
  }
}

TEST_F(RowsAtCheckpointTest, EpochsAreWrittenAgainWhereverTheFileEnds) {
  const Texts whole = texts_after(6);
  for (std::size_t size = 0; size <= whole.results.size(); ++size) {
    Texts cut = whole;
    cut.results.resize(size);
    write(cut);
    bring(6);
    ASSERT_EQ(read("results.csv"), whole.results) << size;
  }
  fs::remove(run_ / "results.csv");
  EXPECT_EQ(bring(6), line("results.csv epochs 1 to 3, written again"));
  expect(whole);
}

TEST_F(RowsAtCheckpointTest, RecordedStepsStayAndTheCheckpointsOwnIsWrittenAgain) {
  const std::string header = store::hash_record_header(kTensors);
  Texts cut = texts_after(6);
  cut.hashes = header + hash_row(1) + hash_row(2);
  write(cut);
  EXPECT_EQ(bring(6), line("hashes.csv steps 3 to 5"));
  EXPECT_EQ(read("hashes.csv"), header + hash_row(1) + hash_row(2) + hash_row(6));
  EXPECT_EQ(bring(6), "") << "is said once";
  cut.hashes.resize(cut.hashes.size() - 1);  // the last row has no end
  write(cut);
  EXPECT_EQ(bring(3), line("hashes.csv step 2"));
  EXPECT_EQ(read("hashes.csv"), header + hash_row(1) + hash_row(3));
}

TEST_F(RowsAtCheckpointTest, OnlyTheLastStepMissingIsNoHole) {
  Texts cut = texts_after(6);
  cut.hashes = texts_after(5).hashes;
  write(cut);
  EXPECT_EQ(bring(6), line("hashes.csv step 6, written again"));
  expect(texts_after(6));
}

TEST_F(RowsAtCheckpointTest, ARecordThatIsGoneBeginsAtTheCheckpoint) {
  write(texts_after(6));
  fs::remove(run_ / "hashes.csv");
  EXPECT_EQ(bring(6), line("hashes.csv steps 1 to 5"));
  EXPECT_EQ(read("hashes.csv"), store::hash_record_header(kTensors) + hash_row(6));
}

TEST_F(RowsAtCheckpointTest, WithoutARecordNoneIsMade) {
  write(texts_after(6));
  fs::remove(run_ / "hashes.csv");
  EXPECT_EQ(bring(6, false), "");
  EXPECT_FALSE(fs::exists(run_ / "hashes.csv"));
  write(texts_after(6));
  EXPECT_EQ(bring(4, false), "");
  EXPECT_EQ(read("hashes.csv"), texts_after(4).hashes);
}

TEST_F(RowsAtCheckpointTest, MetricsOfStepsAreLostThoseOfEpochsAreNot) {
  Texts cut = texts_after(6);
  cut.metrics = texts_after(3).metrics;
  write(cut);
  EXPECT_EQ(bring(6), line("metrics.jsonl steps 4 to 6 and epochs 2 to 3, written again"));
  std::ostringstream epochs;
  report::MetricsJsonl jsonl(epochs, "");
  for (const int epoch : {2, 3}) jsonl.on_epoch(epoch_report(epoch));
  EXPECT_EQ(read("metrics.jsonl"), texts_after(3).metrics + epochs.str());
}

TEST_F(RowsAtCheckpointTest, ZeroesThatALossOfPowerLeftAreNoRows) {
  Texts damaged = texts_after(6);
  for (std::string* text : {&damaged.results, &damaged.metrics, &damaged.hashes})
    std::fill(text->end() - 20, text->end() - 1, '\0');
  write(damaged);
  EXPECT_EQ(bring(6), line("results.csv epoch 3, written again; metrics.jsonl epoch 3, written again; "
                           "hashes.csv step 6, written again"));
  expect(texts_after(6));
}

// More than any memory holds; only the rows take room on the disk.
TEST_F(RowsAtCheckpointTest, WhatFollowsTheRowsIsNotRead) {
  write(texts_after(6));
  for (const char* name : {"results.csv", "metrics.jsonl", "hashes.csv"})
    fs::resize_file(run_ / name, std::uintmax_t{1} << 42);
  EXPECT_EQ(bring(6), "");
  expect(texts_after(6));
}

TEST_F(RowsAtCheckpointTest, RowsThatComeAgainAreNotKept) {
  const Texts whole = texts_after(6);
  write({whole.results + whole.results, whole.metrics + whole.metrics, whole.hashes + whole.hashes});
  EXPECT_EQ(bring(6), "");
  expect(whole);
}

TEST_F(RowsAtCheckpointTest, AllThatIsMissingIsOneLine) {
  write({});
  EXPECT_EQ(bring(4),
            line("results.csv epochs 1 to 2, written again; metrics.jsonl steps 1 to 4 and epochs 1 "
                 "to 2, written again; hashes.csv steps 1 to 3"));
}

}  // namespace
}  // namespace lockstep::runs
