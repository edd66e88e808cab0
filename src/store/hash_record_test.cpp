#include "store/hash_record.h"

#include <limits>
#include <utility>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/refusal_for_test.h"

namespace lockstep::store {
namespace {

const std::string kZero(32, '0');
const std::string kOne = "0123456789abcdef0123456789abcdef";
const std::string kHeader = "step,w,b\n";

std::string row(std::int64_t step, const std::string& w = kZero, const std::string& b = kOne) {
  return std::to_string(step) + "," + w + "," + b + "\n";
}

HashRecord parse(std::string_view text) { return parse_hash_record(text, "h.csv"); }

std::string refusal(std::string_view text) {
  return refusal_of(Fault::data, [&] { parse(text); });
}

TEST(HashRecord, TextIsFixed) {
  EXPECT_EQ(hash_record_header(std::vector<std::string>{"conv1.weight", "conv1.bias"}),
            "step,conv1.weight,conv1.bias\n");
  EXPECT_EQ(hash_record_row(12, std::vector<Hash128>{{.high = 1, .low = 0xabc}, {}}),
            "12,00000000000000010000000000000abc," + kZero + "\n");
  EXPECT_THROW(hash_record_header(std::vector<std::string>{"a,b"}), Error);
  EXPECT_THROW(hash_record_header(std::vector<std::string>{"a\n"}), Error);
  EXPECT_THROW(hash_record_header(std::vector<std::string>{""}), Error);
}

TEST(HashRecord, WhatIsWrittenComesBack) {
  const std::vector<std::string> tensors{"w", "b"};
  const std::vector<std::vector<Hash128>> rows{{{.high = 1, .low = 2}, {.high = ~std::uint64_t{0}, .low = 3}},
                                               {{.high = 4, .low = std::uint64_t{1} << 63}, {}}};
  std::string text = hash_record_header(tensors);
  for (std::size_t i = 0; i < rows.size(); ++i)
    text += hash_record_row(static_cast<std::int64_t>(236 + i), rows[i]);
  const HashRecord record = parse(text);
  EXPECT_EQ(record.tensors, tensors);
  EXPECT_EQ(record.steps, (std::vector<std::int64_t>{236, 237}));
  EXPECT_EQ(record.rows, rows);
}

TEST(HashRecord, MayHaveNoRows) {
  EXPECT_TRUE(parse(kHeader).steps.empty());
  EXPECT_TRUE(parse(kHeader).rows.empty());
}

TEST(HashRecord, ALineThatWasCutIsDropped) {
  const std::string whole = kHeader + row(1), last = row(2);
  for (std::size_t size = 0; size < last.size(); ++size)
    EXPECT_EQ(parse(whole + last.substr(0, size)).rows.size(), 1u) << size;
  EXPECT_EQ(parse(whole + last).rows.size(), 2u);
  EXPECT_EQ(parse(whole + "nonsense").rows.size(), 1u);
}

TEST(HashRecord, HeaderIsChecked) {
  const std::string expected = "h.csv:1: expected a header of \"step\" and the names of tensors, found ";
  EXPECT_EQ(refusal(""), expected + "no whole line");
  EXPECT_EQ(refusal("step,w"), expected + "no whole line");
  EXPECT_EQ(refusal("step\n"), expected + "\"step\"");
  EXPECT_EQ(refusal("\n"), expected + "\"\"");
  EXPECT_EQ(refusal("epoch,w\n"), expected + "\"epoch,w\"");
  EXPECT_EQ(refusal("step,w,w\n"), "h.csv:1: expected names of tensors, each once, found \"w\"");
  EXPECT_EQ(refusal("step,w,\n"), "h.csv:1: expected names of tensors, each once, found \"\"");
}

TEST(HashRecord, RowsAreChecked) {
  EXPECT_EQ(refusal(kHeader + row(1) + "\n"), "h.csv:3: expected a step and 2 hashes, found 1 columns");
  EXPECT_EQ(refusal(kHeader + "1," + kZero + "\n"), "h.csv:2: expected a step and 2 hashes, found 2 columns");
  EXPECT_EQ(refusal(kHeader + "1," + kZero + "," + kOne + ",\n"),
            "h.csv:2: expected a step and 2 hashes, found 4 columns");
  EXPECT_EQ(refusal(kHeader + row(1, "abc")),
            "h.csv:2: expected 32 hex digits for tensor \"w\", found \"abc\"");
  EXPECT_EQ(refusal(kHeader + row(1, kZero, kOne + "\r")),
            "h.csv:2: expected 32 hex digits for tensor \"b\", found \"" + kOne + "\\r\"");
}

TEST(HashRecord, StepsRiseAndSomeMayBeMissing) {
  EXPECT_EQ(parse(kHeader + row(2) + row(3) + row(7)).steps, (std::vector<std::int64_t>{2, 3, 7}));
  EXPECT_EQ(refusal(kHeader + row(3) + row(1)), "h.csv:3: expected a step after 3, found 1");
  EXPECT_EQ(refusal(kHeader + row(5) + row(6) + row(6)), "h.csv:4: expected a step after 6, found 6");
  EXPECT_EQ(refusal(kHeader + row(0)), "h.csv:2: expected a step, a whole number from 1, found \"0\"");
  EXPECT_EQ(refusal(kHeader + row(-1)), "h.csv:2: expected a step, a whole number from 1, found \"-1\"");
  EXPECT_EQ(refusal(kHeader + "1x," + kZero + "," + kOne + "\n"),
            "h.csv:2: expected a step, a whole number from 1, found \"1x\"");
  const std::string last = row(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse(kHeader + last).rows.size(), 1u);
  EXPECT_EQ(refusal(kHeader + last + row(1)), "h.csv:3: expected a step after 9223372036854775807, found 1");
}

using Difference = std::pair<std::int64_t, std::size_t>;  // step, tensor

Difference difference(const HashRecord& a, const HashRecord& b) {
  const auto found = first_difference(a, b).value_or(RecordDifference{.step = 0, .tensor = 0});
  return {found.step, found.tensor};
}

TEST(FirstDifference, IsTheEarliestStepAndItsFirstTensor) {
  const HashRecord a = parse(kHeader + row(1) + row(2) + row(3));
  EXPECT_FALSE(first_difference(a, a));
  EXPECT_EQ(difference(a, parse(kHeader + row(1) + row(2, kZero, kZero) + row(3, kOne))), Difference(2, 1));
  EXPECT_EQ(difference(parse(kHeader + row(1) + row(2) + row(3, kOne, kZero)), a), Difference(3, 0));
}

TEST(FirstDifference, OnlyStepsOfBothAreCompared) {
  const HashRecord early = parse(kHeader + row(1, kOne) + row(2) + row(3));
  const HashRecord late = parse(kHeader + row(2) + row(3) + row(4, kOne));
  EXPECT_FALSE(first_difference(early, late));
  EXPECT_FALSE(first_difference(late, early));
  EXPECT_FALSE(first_difference(early, parse(kHeader + row(4, kOne))));
  EXPECT_FALSE(first_difference(early, parse(kHeader)));
  EXPECT_EQ(difference(early, parse(kHeader + row(3, kOne))), Difference(3, 0));
  const HashRecord last = parse(kHeader + row(std::numeric_limits<std::int64_t>::max()));
  EXPECT_FALSE(first_difference(last, last));
}

TEST(FirstDifference, StepsThatOneLacksArePassedOver) {
  const HashRecord whole = parse(kHeader + row(1) + row(2, kOne) + row(3) + row(4));
  const HashRecord hole = parse(kHeader + row(1) + row(3) + row(4, kOne));
  EXPECT_EQ(common_steps(whole, hole), (std::vector<std::int64_t>{1, 3, 4}));
  EXPECT_EQ(difference(whole, hole), Difference(4, 0));
  EXPECT_EQ(difference(hole, whole), Difference(4, 0));
  EXPECT_EQ(row_of(hole, 2), nullptr);
  EXPECT_EQ(row_of(hole, 5), nullptr);
  EXPECT_EQ(row_of(hole, 3), &hole.rows[1]);
}

TEST(FirstDifference, OtherTensorsAreADefect) {
  EXPECT_THROW(first_difference(parse(kHeader), parse("step,w\n")), Error);
}

}  // namespace
}  // namespace lockstep::store
