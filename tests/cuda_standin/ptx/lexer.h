// Splits PTX into words, punctuation and strings. Words keep their dots: "ld.global.f32", "%tid.x", ".reg".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace standin::ptx {

struct Token {
  enum class Kind { word, mark, string, end };
  Kind kind = Kind::end;
  std::string_view text;
  int line = 0;
};

// The tokens refer to `text`; the last one is Kind::end.
std::vector<Token> lex(std::string_view text);

}  // namespace standin::ptx
