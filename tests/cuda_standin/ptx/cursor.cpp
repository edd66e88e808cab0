// Tokens taken one by one, and numbers.
#include "ptx/cursor.h"

#include <charconv>

namespace standin::ptx {

bool Cursor::accept(std::string_view text) {
  if (!is(text)) return false;
  take();
  return true;
}

void Cursor::expect(std::string_view text) {
  if (!accept(text)) fail("expected '{}', found '{}'", text, peek().text);
}

std::string_view Cursor::word() {
  if (peek().kind != Token::Kind::word) fail("expected a word, found '{}'", peek().text);
  return take().text;
}

void Cursor::skip_line() {
  const int begin = line();
  while (!at_end() && line() == begin) take();
}

std::uint64_t Cursor::integer() {
  const bool negative = accept("-");
  const Operand number = parse_number(*this);
  if (number.kind != Operand::Kind::integer) fail("expected an integer");
  return negative ? 0 - number.bits : number.bits;
}

bool is_number(std::string_view word) { return !word.empty() && word[0] >= '0' && word[0] <= '9'; }

Operand parse_number(Cursor& cursor) {
  const std::string_view word = cursor.word();
  Operand operand;
  std::string_view digits = word;
  int base = 10;
  operand.kind = Operand::Kind::integer;
  const std::string_view prefix = word.substr(0, 2);
  if (prefix == "0f" || prefix == "0F" || prefix == "0d" || prefix == "0D") {
    const bool single = prefix[1] == 'f' || prefix[1] == 'F';
    operand.kind = single ? Operand::Kind::float32 : Operand::Kind::float64;
    digits = word.substr(2);
    base = 16;
    if (digits.size() != (single ? 8u : 16u)) cursor.fail("'{}' has a wrong number of digits", word);
  } else if (prefix == "0x" || prefix == "0X") {
    digits = word.substr(2);
    base = 16;
  } else if (prefix == "0b" || prefix == "0B") {
    digits = word.substr(2);
    base = 2;
  } else if (word.size() > 1 && word[0] == '0') {
    base = 8;
  }
  if (base != 16 && !digits.empty() && digits.back() == 'U') digits.remove_suffix(1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), operand.bits, base);
  if (error != std::errc() || end != digits.data() + digits.size()) cursor.fail("'{}' is no number", word);
  return operand;
}

int bits_of_type(std::string_view type) {
  if (type == "pred") return 1;
  if (type.size() < 2 || std::string_view("busf").find(type[0]) == std::string_view::npos) return 0;
  const std::string_view bits = type.substr(1);
  if (bits == "8" && type[0] != 'f') return 8;
  if (bits == "16" && type[0] != 'f') return 16;
  return bits == "32" ? 32 : bits == "64" ? 64 : 0;
}

}  // namespace standin::ptx
