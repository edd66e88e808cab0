// What PTX text says, before it means anything: variables, kernels and instructions with their line numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace standin::ptx {

enum class Space { none, global, constant, shared, local, param };

struct Address {  // of a variable, inside an initialiser
  std::uint64_t at = 0;
  std::string symbol;
  std::int64_t addend = 0;
};

struct Variable {
  Space space = Space::none;
  std::string name;
  std::uint64_t align = 1;
  std::uint64_t bytes = 0;
  bool is_extern = false;  // .extern .shared: its size comes with the launch
  std::vector<std::uint8_t> initial;
  std::vector<Address> addresses;
  int line = 0;
};

struct Register {
  std::string name;
  int bits = 0;  // 1 for a predicate
};

struct Operand {
  enum class Kind { reg, integer, float32, float64, special, symbol, vector, pair, address, sink };
  Kind kind = Kind::sink;
  int reg = -1;            // Kind::reg, and the base of Kind::address if it is a register
  bool negated = false;    // !%p
  std::uint64_t bits = 0;  // an immediate, or the addend of a symbol or an address
  std::string name;        // a symbol or a special register
  std::vector<Operand> parts;
};

struct Instruction {
  std::vector<std::string> parts;  // "ld", "global", "f32"
  std::vector<Operand> operands;
  int predicate = -1;
  bool predicate_negated = false;
  int line = 0;

  std::string opcode() const;
};

struct Label {
  std::string name;
  std::size_t instruction = 0;  // the one it stands before
};

struct BranchTable {
  std::string name;
  std::vector<std::string> targets;
};

struct Kernel {
  std::string name;
  int line = 0;
  std::vector<Variable> parameters;
  std::vector<Variable> variables;  // .shared, .local, declared inside
  std::vector<Register> registers;
  std::vector<Instruction> instructions;
  std::vector<Label> labels;
  std::vector<BranchTable> tables;
  std::uint32_t most_threads = 0;  // .maxntid as a product, 0 if not given
  std::uint32_t required[3] = {0, 0, 0};
};

struct Module {
  int target = 0;  // 90 of sm_90
  std::string version;
  std::vector<Variable> variables;
  std::vector<Kernel> kernels;
};

// Throws Problem(invalid_ptx) that names the line.
Module parse(std::string_view text);

}  // namespace standin::ptx
