// A place in the token stream, with the small words every parser needs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "problem.h"
#include "ptx/lexer.h"
#include "ptx/text.h"

namespace standin::ptx {

class Cursor {
 public:
  explicit Cursor(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  bool at_end() const { return peek().kind == Token::Kind::end; }
  int line() const { return peek().line; }
  bool is(std::string_view text) const { return peek().text == text && peek().kind != Token::Kind::string; }

  Token take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool accept(std::string_view text);
  void expect(std::string_view text);
  std::string_view word();
  // Skips what is left of the current line: .loc and .file have no other end.
  void skip_line();

  std::uint64_t integer();  // with a sign; two's complement

  template <class... Arguments>
  [[noreturn]] void fail(fmt::format_string<Arguments...> text, Arguments&&... arguments) const {
    throw Problem(Code::invalid_ptx, "ptx line {}: {}", line(),
                  fmt::format(text, std::forward<Arguments>(arguments)...));
  }

 private:
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

// An immediate: an integer, 0f and 8 hexadecimal digits, 0d and 16 of them.
Operand parse_number(Cursor& cursor);

bool is_number(std::string_view word);

// The bits of ".f32" and its like without the dot, 1 for "pred", 0 for what is no type.
int bits_of_type(std::string_view type);

// ".global .align 4 .b8 name[20] = {…};", from the space on; `is_extern` was read before.
Variable parse_variable(Cursor& cursor, bool is_extern);

// One ".param …" of a kernel's list, without the comma.
Variable parse_parameter(Cursor& cursor);

}  // namespace standin::ptx
