#include "report/json_string.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace lockstep::report {
namespace {

TEST(JsonString, EscapesWhatJsonReserves) {
  EXPECT_EQ(json_string("linear1.weight"), R"("linear1.weight")");
  EXPECT_EQ(json_string(R"(a"b\c)"), R"("a\"b\\c")");
  EXPECT_EQ(json_string("line\nbell\x07"), R"("line\nbell\u0007")");
}

TEST(JsonString, EveryByteGivesValidJson) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string name{'a', static_cast<char>(byte), 'z'};
    const auto read = nlohmann::json::parse(json_string(name)).get<std::string>();
    EXPECT_EQ(read, byte < 128 ? name : "a\xEF\xBF\xBDz") << byte;
  }
}

}  // namespace
}  // namespace lockstep::report
