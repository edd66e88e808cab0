// The state of decoding one kernel; its member functions are spread over decoder.cpp, decode_operands.cpp and
// decode_memory.cpp.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exec/decode.h"
#include "exec/lanewise.h"
#include "exec/memory_forms.h"

namespace standin {

class Decoder {
 public:
  explicit Decoder(const DecodeInput& input);
  Program run();

 private:
  using Operand = ptx::Operand;
  using Instruction = ptx::Instruction;
  struct Symbol {
    ptx::Space space;
    std::uint64_t address;
  };

  // decode_operands.cpp: variables and operands
  void lay_out_parameters();
  void lay_out_variables();
  std::uint32_t allot(int bits);
  std::uint32_t constant(int bits, std::uint64_t value);
  std::uint32_t special(const Operand& operand);
  std::uint32_t place_of(int reg);
  int bits_of(int reg) const { return input_.kernel->registers[static_cast<std::size_t>(reg)].bits; }
  std::uint32_t source(const Operand& operand, int bits);
  std::uint32_t destination(const Operand& operand, int bits);
  const Symbol& symbol(const std::string& name) const;

  // decoder.cpp: control flow and computation
  void decode(const Instruction& instruction);
  void resolve_labels();
  bool decode_control(const Instruction& instruction);
  bool decode_by_table(const Instruction& instruction);
  void decode_move(const Instruction& instruction);
  void decode_compare(const Instruction& instruction);
  void decode_convert(const Instruction& instruction);
  const Form& form(const std::string& opcode) const;
  Op& emit(const Form& form, std::vector<std::uint32_t> results, std::vector<std::uint32_t> sources);
  Op& emit(const std::string& opcode, std::uint32_t result, std::vector<std::uint32_t> sources);
  std::uint32_t resized(std::uint32_t place, int from, int to, char kind);

  // decode_memory.cpp: whatever has an address, and shuffles
  bool decode_memory(const Instruction& instruction);
  void decode_access(const Instruction& instruction);
  void decode_atomic(const Instruction& instruction);
  void decode_address_conversion(const Instruction& instruction);
  void decode_shuffle(const Instruction& instruction);
  std::pair<std::uint32_t, std::uint64_t> address(const Operand& operand, ptx::Space space, int& bits);

  [[noreturn]] void refuse(const std::string& why) const;
  [[noreturn]] void refuse_unknown() const;
  void expect_operands(std::size_t count) const;

  DecodeInput input_;
  const Forms& forms_;
  Program program_;
  std::map<std::string, Symbol> symbols_;
  std::vector<std::uint32_t> places_;  // of the kernel's registers, kNowhere until used
  std::map<std::pair<int, std::uint64_t>, std::uint32_t> constants_;
  std::map<std::string, std::uint32_t> specials_;
  std::vector<std::uint32_t> starts_;                          // the first operation of each instruction
  std::vector<std::pair<std::size_t, std::string>> branches_;  // operation and label
  std::vector<std::pair<std::size_t, std::string>> table_branches_;
  const Instruction* now_ = nullptr;
};

}  // namespace standin
