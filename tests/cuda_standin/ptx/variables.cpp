// Declarations of variables and parameters.
#include "ptx/cursor.h"

namespace standin::ptx {
namespace {

Space space_of(Cursor& cursor, std::string_view word) {
  if (word == ".global") return Space::global;
  if (word == ".const") return Space::constant;
  if (word == ".shared") return Space::shared;
  if (word == ".local") return Space::local;
  if (word == ".param") return Space::param;
  cursor.fail("'{}' is no state space the stand-in knows", word);
}

// One element of an initialiser at byte `at` of the variable.
void parse_element(Cursor& cursor, Variable& variable, std::uint64_t element, std::uint64_t at) {
  const bool negative = cursor.accept("-");
  if (is_number(cursor.peek().text)) {
    std::uint64_t bits = parse_number(cursor).bits;
    if (negative) bits = 0 - bits;
    for (std::uint64_t byte = 0; byte < element; ++byte) {
      variable.initial.push_back(static_cast<std::uint8_t>(bits >> (8 * byte)));
    }
    return;
  }
  Address address;
  address.at = at;
  const bool generic = cursor.accept("generic");
  if (generic) cursor.expect("(");
  address.symbol = cursor.word();
  if (generic) cursor.expect(")");
  if (cursor.is("+") || cursor.is("-")) {
    cursor.accept("+");
    address.addend = static_cast<std::int64_t>(cursor.integer());
  }
  if (element != 8) cursor.fail("only a 64-bit element can hold the address of '{}'", address.symbol);
  variable.initial.resize(variable.initial.size() + 8);
  variable.addresses.push_back(address);
}

void parse_elements(Cursor& cursor, Variable& variable, std::uint64_t element) {
  if (!cursor.accept("{")) {
    parse_element(cursor, variable, element, variable.initial.size());
    return;
  }
  while (!cursor.accept("}")) {
    parse_elements(cursor, variable, element);
    if (!cursor.is("}")) cursor.expect(",");
  }
}

// ".align 8 .v2 .b8 name[4][2]": everything between the space and the initialiser. Gives the element's bytes.
std::uint64_t parse_shape(Cursor& cursor, Variable& variable) {
  std::uint64_t element = 0;
  std::uint64_t vector = 1;
  std::uint64_t align = 0;
  while (cursor.peek().text.starts_with('.')) {
    const std::string_view word = cursor.word();
    if (word == ".align") {
      align = cursor.integer();
    } else if (word == ".ptr") {  // a hint for the compiler: the pointee's space and alignment
      while (cursor.is(".global") || cursor.is(".shared") || cursor.is(".const") || cursor.is(".local")) {
        cursor.take();
      }
      if (cursor.accept(".align")) cursor.integer();
    } else if (word == ".v2" || word == ".v4") {
      vector = word == ".v2" ? 2 : 4;
    } else if (bits_of_type(word.substr(1)) >= 8) {
      element = static_cast<std::uint64_t>(bits_of_type(word.substr(1))) / 8;
    } else {
      cursor.fail("'{}' is no type the stand-in knows", word);
    }
  }
  if (element == 0) cursor.fail("a declaration without a type");
  variable.line = cursor.line();
  variable.name = cursor.word();
  variable.bytes = element * vector;
  while (cursor.accept("[")) {
    variable.bytes *= cursor.is("]") ? 0 : cursor.integer();
    cursor.expect("]");
  }
  variable.align = align != 0 ? align : element * vector;
  return element;
}

}  // namespace

Variable parse_variable(Cursor& cursor, bool is_extern) {
  Variable variable;
  variable.is_extern = is_extern;
  variable.space = space_of(cursor, cursor.word());
  const std::uint64_t element = parse_shape(cursor, variable);
  if (cursor.accept("=")) parse_elements(cursor, variable, element);
  if (variable.initial.size() > variable.bytes)
    cursor.fail("'{}' has too many initial values", variable.name);
  if (variable.bytes == 0 && !(is_extern && variable.space == Space::shared)) {
    cursor.fail("'{}' has no size", variable.name);
  }
  cursor.expect(";");
  return variable;
}

Variable parse_parameter(Cursor& cursor) {
  Variable variable;
  cursor.expect(".param");
  variable.space = Space::param;
  parse_shape(cursor, variable);
  return variable;
}

}  // namespace standin::ptx
