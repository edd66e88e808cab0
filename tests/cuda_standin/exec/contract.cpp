// A deliberately wrong compiler: fuses products with sums although both were to be rounded.
#include <algorithm>
#include <set>

#include "exec/decode.h"

namespace standin {
namespace {

using ptx::Instruction;
using ptx::Operand;

bool is(const Instruction& instruction, const char* opcode) {
  return instruction.opcode() == opcode && instruction.predicate < 0;
}

int mentions(const Operand& operand, int reg) {
  int count = operand.reg == reg ? 1 : 0;
  for (const Operand& part : operand.parts) count += mentions(part, reg);
  return count;
}

int mentions(const Instruction& instruction, int reg) {
  int count = 0;
  for (const Operand& operand : instruction.operands) count += mentions(operand, reg);
  return count;
}

}  // namespace

ptx::Kernel contracted(ptx::Kernel kernel) {
  std::vector<Instruction>& code = kernel.instructions;
  std::set<std::size_t> labelled;
  for (const ptx::Label& label : kernel.labels) labelled.insert(label.instruction);
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (!is(code[i], "mul.rn.f32")) continue;
    const int product = code[i].operands[0].reg;
    int total = 0;
    for (const Instruction& other : code) total += mentions(other, product);
    if (total != 2) continue;  // its definition and one use
    for (std::size_t j = i + 1; j < code.size() && !labelled.contains(j) && code[j].parts[0] != "bra"; ++j) {
      const bool factor_changes = !code[j].operands.empty() && code[j].operands[0].reg >= 0 &&
                                  (code[j].operands[0].reg == code[i].operands[1].reg ||
                                   code[j].operands[0].reg == code[i].operands[2].reg);
      if (is(code[j], "add.rn.f32") && mentions(code[j], product) == 1) {
        const Operand other = code[j].operands[code[j].operands[1].reg == product ? 2 : 1];
        code[j].parts[0] = "fma";
        code[j].operands = {code[j].operands[0], code[i].operands[1], code[i].operands[2], other};
        code[i].parts = {"mov", "f32"};  // its value is not read any more
        code[i].operands.pop_back();
        break;
      }
      if (factor_changes || mentions(code[j], product) != 0) break;
    }
  }
  return kernel;
}

}  // namespace standin
