// Modules, kernels and their statements.
#include <map>

#include "ptx/cursor.h"
#include "ptx/text.h"

namespace standin::ptx {
namespace {

std::vector<std::string> split(std::string_view word) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= word.size();) {
    const std::size_t end = std::min(word.find('.', begin), word.size());
    parts.emplace_back(word.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool is_variable_space(std::string_view word) {
  return word == ".global" || word == ".const" || word == ".shared" || word == ".local" || word == ".param";
}

class KernelParser {
 public:
  explicit KernelParser(Cursor& cursor) : cursor_(cursor) {}

  Kernel run() {
    kernel_.line = cursor_.line();
    kernel_.name = cursor_.word();
    if (cursor_.accept("(")) {
      while (!cursor_.accept(")")) {
        kernel_.parameters.push_back(parse_parameter(cursor_));
        if (!cursor_.is(")")) cursor_.expect(",");
      }
    }
    while (!cursor_.is("{")) directive();
    block();
    return std::move(kernel_);
  }

 private:
  void directive() {
    const std::string_view word = cursor_.word();
    if (word == ".maxntid" || word == ".reqntid") {
      std::uint32_t sizes[3] = {1, 1, 1};
      std::size_t count = 0;
      do {
        if (count == 3) cursor_.fail("{} has more than three sizes", word);
        sizes[count++] = static_cast<std::uint32_t>(cursor_.integer());
      } while (cursor_.accept(","));
      kernel_.most_threads = sizes[0] * sizes[1] * sizes[2];
      if (word == ".reqntid") std::copy(sizes, sizes + 3, kernel_.required);
    } else if (word == ".minnctapersm" || word == ".maxnctapersm" || word == ".maxnreg") {
      cursor_.integer();
    } else if (word == ".pragma") {
      cursor_.take();
      cursor_.expect(";");
    } else {
      cursor_.fail("the directive '{}' is not one the stand-in knows", word);
    }
  }

  void block() {
    cursor_.expect("{");
    scopes_.emplace_back();
    while (!cursor_.accept("}")) statement();
    scopes_.pop_back();
  }

  void statement() {
    if (cursor_.at_end()) cursor_.fail("kernel {} has no closing brace", kernel_.name);
    if (cursor_.is("{")) return block();
    if (cursor_.accept(";")) return;
    if (cursor_.is("@")) return instruction();
    const std::string_view word = cursor_.peek().text;
    if (cursor_.peek(1).text == ":") return label();
    if (word == ".reg") return registers();
    if (word == ".loc") return cursor_.skip_line();
    if (word == ".pragma") {
      cursor_.take();
      cursor_.take();
      return cursor_.expect(";");
    }
    if (is_variable_space(word)) {
      kernel_.variables.push_back(parse_variable(cursor_, false));
      if (kernel_.variables.back().space == Space::param) {
        cursor_.fail("a call's parameters: the stand-in runs only kernels whose functions are inlined");
      }
      return;
    }
    if (word.starts_with('.')) cursor_.fail("the directive '{}' is not one the stand-in knows", word);
    instruction();
  }

  void label() {
    const std::string name(cursor_.word());
    cursor_.expect(":");
    if (cursor_.accept(".branchtargets")) {
      BranchTable table{name, {}};
      do {
        table.targets.emplace_back(cursor_.word());
      } while (cursor_.accept(","));
      cursor_.expect(";");
      kernel_.tables.push_back(std::move(table));
      return;
    }
    kernel_.labels.push_back({name, kernel_.instructions.size()});
  }

  void declare(const std::string& name, int bits) {
    scopes_.back()[name] = static_cast<int>(kernel_.registers.size());
    kernel_.registers.push_back({name, bits});
  }

  void registers() {
    cursor_.take();
    const std::string_view type = cursor_.word();
    const int bits = bits_of_type(type.substr(1));
    if (bits == 0 || bits == 8) cursor_.fail("registers of type {} are not known to the stand-in", type);
    do {
      const std::string name(cursor_.word());
      if (cursor_.accept("<")) {
        const std::uint64_t count = cursor_.integer();
        if (count > 1000000) cursor_.fail("{} registers are too many", count);
        cursor_.expect(">");
        for (std::uint64_t i = 0; i < count; ++i) declare(name + std::to_string(i), bits);
      } else {
        declare(name, bits);
      }
    } while (cursor_.accept(","));
    cursor_.expect(";");
  }

  int find_register(std::string_view name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (const auto found = scope->find(name); found != scope->end()) return found->second;
    }
    return -1;
  }

  Operand address() {
    Operand operand;
    if (is_number(cursor_.peek().text) || cursor_.is("-")) {
      operand.bits = cursor_.integer();
    } else {
      const std::string_view base = cursor_.word();
      operand.reg = find_register(base);
      if (operand.reg < 0) operand.name = base;
      if (cursor_.is("+") || cursor_.is("-")) {
        cursor_.accept("+");
        operand.bits = cursor_.integer();
      }
    }
    cursor_.expect("]");
    operand.kind = Operand::Kind::address;
    return operand;
  }

  Operand simple_operand() {
    Operand operand;
    if (cursor_.accept("!")) {
      operand = simple_operand();
      operand.negated = !operand.negated;
      return operand;
    }
    if (cursor_.is("-")) {
      cursor_.take();
      operand = parse_number(cursor_);
      if (operand.kind != Operand::Kind::integer) cursor_.fail("a sign before a floating-point constant");
      operand.bits = 0 - operand.bits;
      return operand;
    }
    if (is_number(cursor_.peek().text)) return parse_number(cursor_);
    const std::string_view name = cursor_.word();
    if (name == "_") return operand;
    operand.reg = find_register(name);
    if (operand.reg >= 0) {
      operand.kind = Operand::Kind::reg;
    } else if (name.starts_with('%')) {
      operand.kind = Operand::Kind::special;
      operand.name = name;
    } else if (name == "WARP_SZ") {
      operand.kind = Operand::Kind::integer;
      operand.bits = 32;
    } else {
      operand.kind = Operand::Kind::symbol;
      operand.name = name;
      if (cursor_.accept("+")) operand.bits = cursor_.integer();
    }
    return operand;
  }

  Operand operand() {
    if (cursor_.accept("[")) return address();
    Operand result;
    if (cursor_.accept("{")) {
      result.kind = Operand::Kind::vector;
      while (!cursor_.accept("}")) {
        result.parts.push_back(simple_operand());
        if (!cursor_.is("}")) cursor_.expect(",");
      }
      return result;
    }
    if (cursor_.is("(")) cursor_.fail("a call: the stand-in runs only kernels whose functions are inlined");
    result = simple_operand();
    if (cursor_.accept("|")) {
      Operand pair;
      pair.kind = Operand::Kind::pair;
      pair.parts = {result, simple_operand()};
      return pair;
    }
    return result;
  }

  void instruction() {
    Instruction result;
    if (cursor_.accept("@")) {
      result.predicate_negated = cursor_.accept("!");
      const std::string_view name = cursor_.word();
      result.predicate = find_register(name);
      if (result.predicate < 0) cursor_.fail("'{}' is not declared", name);
    }
    result.line = cursor_.line();
    result.parts = split(cursor_.word());
    if (result.parts[0] == "call") {
      cursor_.fail("call: the stand-in runs only kernels whose functions are inlined");
    }
    while (!cursor_.accept(";")) {
      result.operands.push_back(operand());
      if (!cursor_.is(";")) cursor_.expect(",");
    }
    kernel_.instructions.push_back(std::move(result));
  }

  Cursor& cursor_;
  Kernel kernel_;
  std::vector<std::map<std::string, int, std::less<>>> scopes_;
};

int target_of(Cursor& cursor) {
  const std::string_view word = cursor.word();
  if (!word.starts_with("sm_")) cursor.fail("'{}' is no target", word);
  int target = 0;
  for (const char c : word.substr(3)) {
    if (c >= '0' && c <= '9') target = 10 * target + (c - '0');
  }
  while (cursor.accept(",")) cursor.word();
  return target;
}

}  // namespace

std::string Instruction::opcode() const {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ".") + part;
  return text;
}

Module parse(std::string_view text) {
  Cursor cursor(lex(text));
  Module module;
  bool is_extern = false;
  while (!cursor.at_end()) {
    const std::string_view word = cursor.peek().text;
    if (word == ".visible" || word == ".weak" || word == ".common" || word == ".extern") {
      is_extern = word == ".extern";
      cursor.take();
      continue;
    }
    if (is_variable_space(word)) {
      module.variables.push_back(parse_variable(cursor, is_extern));
    } else {
      cursor.take();
      if (word == ".version") {
        module.version = cursor.word();
      } else if (word == ".target") {
        module.target = target_of(cursor);
      } else if (word == ".address_size") {
        if (cursor.integer() != 64) cursor.fail("only 64-bit addresses are known to the stand-in");
      } else if (word == ".entry") {
        module.kernels.push_back(KernelParser(cursor).run());
      } else if (word == ".file") {
        cursor.skip_line();
      } else if (word == ".pragma") {
        cursor.take();
        cursor.expect(";");
      } else if (word == ".func") {
        cursor.fail("a function (.func): the stand-in runs only kernels whose functions are inlined");
      } else {
        cursor.fail("'{}' is not known to the stand-in", word);
      }
    }
    is_extern = false;
  }
  if (module.version.empty() || module.target == 0) {
    throw Problem(Code::invalid_ptx, "this is no PTX: it has no .version or no .target");
  }
  return module;
}

}  // namespace standin::ptx
