#include "evaluation_text.h"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace lockstep::app {
namespace {

const std::vector<std::string> kNames{"bag", "ankle boot", "coat"};

train::Evaluation evaluation(float loss) {
  train::Evaluation result;
  result.loss = loss;
  result.seen = {4, 1236, 0};
  result.right = {3, 1236, 0};
  return result;
}

TEST(EvaluationTable, AlignsItsColumns) {
  EXPECT_EQ(evaluation_table(evaluation(0.25f), kNames),
            "accuracy  0.9992\n"
            "loss      0.2500\n"
            "examples  1,240\n"
            "\n"
            "class       accuracy  examples\n"
            "bag           0.7500         4\n"
            "ankle boot    1.0000     1,236\n"
            "coat               -         0\n");
}

TEST(EvaluationJson, HasShortestNumbersAndNullForNone) {
  EXPECT_EQ(
      evaluation_json(evaluation(0.1f), kNames, "abc"),
      R"({"accuracy":0.9991935483870967,"loss":0.1,"examples":1240,"classes":[)"
      R"({"name":"bag","accuracy":0.75,"examples":4},{"name":"ankle boot","accuracy":1.0,"examples":1236},)"
      R"({"name":"coat","accuracy":null,"examples":0}],"weights":"abc"})"
      "\n");
}

TEST(EvaluationJson, ALossThatIsNotANumberIsNull) {
  const std::string text =
      evaluation_json(evaluation(std::numeric_limits<float>::quiet_NaN()), kNames, "abc");
  EXPECT_NE(text.find("\"loss\":null"), std::string::npos);
}

}  // namespace
}  // namespace lockstep::app
