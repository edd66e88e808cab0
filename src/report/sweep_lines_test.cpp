#include "report/sweep_lines.h"

#include <cmath>

#include <gtest/gtest.h>

#include "report/sweep_for_test.h"

namespace lockstep::report {
namespace {

using Labels = std::vector<std::string>;

Labels labels_of(const std::vector<SweepLine>& lines) {
  Labels labels;
  for (const SweepLine& line : lines) labels.push_back(line.label);
  return labels;
}

TEST(AccuracyLines, EqualWeightsAreOneLine) {
  const auto lines = accuracy_lines(sweep_of({1, 0.1}, {256}, {1, 2, 4}));
  ASSERT_EQ(labels_of(lines), Labels{"batch 256; 1, 2, 4 devices: same bits"});
  ASSERT_EQ(lines[0].points.size(), 2);
  EXPECT_EQ(lines[0].points[0].x, 0.1);
  EXPECT_EQ(lines[0].points[0].y, 0.525);
  EXPECT_EQ(lines[0].points[1].x, 1);
}

TEST(AccuracyLines, OneDifferentHashSplitsItsBatchOnly) {
  std::vector<SweepRow> rows = sweep_of({0.1, 1}, {256, 512}, {1, 2});
  rows[3].weights.back() = 'f';  // lr 0.1, batch 512, 2 devices
  EXPECT_EQ(labels_of(accuracy_lines(rows)),
            (Labels{"batch 256; 1, 2 devices: same bits", "batch 512, 1 device", "batch 512, 2 devices"}));
}

TEST(AccuracyLines, WhatNeverRanSideBySideIsNotCalledEqual) {
  std::vector<SweepRow> rows = sweep_of({0.1}, {256}, {1});
  rows.push_back(sweep_of({0.2}, {256}, {2})[0]);
  EXPECT_EQ(labels_of(accuracy_lines(rows)), (Labels{"batch 256, 1 device", "batch 256, 2 devices"}));
  EXPECT_EQ(labels_of(accuracy_lines(sweep_of({0.1, 1}, {256}, {2}))), Labels{"batch 256, 2 devices"});
}

TEST(AccuracyLines, WithoutHashesNothingIsCalledEqual) {
  std::vector<SweepRow> rows = sweep_of({0.1}, {256}, {1, 2});
  for (SweepRow& row : rows) row.weights.clear();
  EXPECT_EQ(accuracy_lines(rows).size(), 2);
}

TEST(AccuracyLines, ARunThatDivergedHasNoValue) {
  const auto lines = accuracy_lines(sweep_of({0.1, 2}, {256}, {1, 2}));
  ASSERT_EQ(lines.size(), 1);
  EXPECT_TRUE(std::isnan(lines[0].points[1].y));
  EXPECT_EQ(lines[0].points[1].x, 2);
}

TEST(AccuracyLines, DivergingOnOneOfTwoIsADifference) {
  std::vector<SweepRow> rows = sweep_of({0.1}, {256}, {1, 2});
  rows[1].diverged = true;
  EXPECT_EQ(accuracy_lines(rows).size(), 2);
}

TEST(AccuracyLines, ManyNumbersOfDevicesAreShortened) {
  EXPECT_EQ(labels_of(accuracy_lines(sweep_of({0.1}, {256}, {1, 2, 3, 4, 5, 6, 8}))),
            Labels{"batch 256; 1, 2, ... 8 devices: same bits"});
}

TEST(TimeLines, OnePerLearningRateInOrderOfDevices) {
  const auto lines = time_lines(sweep_of({0.1, 1}, {256}, {4, 1, 2}));
  EXPECT_EQ(labels_of(lines), (Labels{"lr 0.1", "lr 1"}));
  ASSERT_EQ(lines[0].points.size(), 3);
  EXPECT_EQ(lines[0].points[0].x, 1);
  EXPECT_EQ(lines[0].points[0].y, 2);
  EXPECT_EQ(lines[0].points[2].x, 4);
  EXPECT_EQ(lines[0].points[2].y, 0.5);
}

TEST(TimeLines, NameTheBatchIfThereAreSeveral) {
  EXPECT_EQ(labels_of(time_lines(sweep_of({0.1}, {256, 512}, {1}))),
            (Labels{"batch 256, lr 0.1", "batch 512, lr 0.1"}));
}

TEST(SweepLines, WhatWasNotMeasuredIsLeftOutButNotCalledDiverged) {
  std::vector<SweepRow> rows = sweep_of({0.1, 1}, {256}, {1});
  rows[0].accuracy = std::nan("");
  rows[1].seconds_per_epoch = HUGE_VAL;
  ASSERT_EQ(accuracy_lines(rows)[0].points.size(), 1);
  EXPECT_EQ(accuracy_lines(rows)[0].points[0].x, 1);
  EXPECT_EQ(labels_of(time_lines(rows)), Labels{"lr 0.1"});
}

TEST(TimeLines, LeaveOutWhatDiverged) {
  EXPECT_EQ(labels_of(time_lines(sweep_of({0.1, 2}, {256}, {1, 2}))), Labels{"lr 0.1"});
  EXPECT_TRUE(time_lines({}).empty());
}

}  // namespace
}  // namespace lockstep::report
