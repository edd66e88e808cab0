// Places for variables, registers and constants.
#include <algorithm>

#include "exec/decoder.h"
#include "problem.h"

namespace standin {
namespace {

using ptx::Space;

std::uint64_t aligned(std::uint64_t value, std::uint64_t align) {
  return (value + align - 1) / align * align;
}

void collect_names(const ptx::Operand& operand, std::set<std::string>& names) {
  if (!operand.name.empty()) names.insert(operand.name);
  for (const ptx::Operand& part : operand.parts) collect_names(part, names);
}

const std::map<std::string, Special>& special_registers() {
  static const std::map<std::string, Special> table{
      {"%tid.x", Special::tid_x},       {"%tid.y", Special::tid_y},
      {"%tid.z", Special::tid_z},       {"%ntid.x", Special::ntid_x},
      {"%ntid.y", Special::ntid_y},     {"%ntid.z", Special::ntid_z},
      {"%ctaid.x", Special::ctaid_x},   {"%ctaid.y", Special::ctaid_y},
      {"%ctaid.z", Special::ctaid_z},   {"%nctaid.x", Special::nctaid_x},
      {"%nctaid.y", Special::nctaid_y}, {"%nctaid.z", Special::nctaid_z},
      {"%laneid", Special::laneid},     {"%warpid", Special::warpid},
      {"%nwarpid", Special::nwarpid},   {"%dynamic_smem_size", Special::dynamic_shared},
  };
  return table;
}

}  // namespace

void Decoder::lay_out_parameters() {
  std::uint64_t at = 0;
  for (const ptx::Variable& parameter : input_.kernel->parameters) {
    at = aligned(at, parameter.align);
    symbols_[parameter.name] = {Space::param, at};
    program_.parameters.push_back(
        {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(parameter.bytes)});
    at += parameter.bytes;
  }
  program_.parameter_bytes = static_cast<std::uint32_t>(at);
}

void Decoder::lay_out_variables() {
  std::set<std::string> used;
  for (const Instruction& instruction : input_.kernel->instructions) {
    for (const Operand& operand : instruction.operands) collect_names(operand, used);
  }
  std::uint64_t dynamic_align = 1;
  std::vector<std::string> dynamic;
  const auto lay_out = [&](const ptx::Variable& variable) {
    if (variable.space == Space::local) {
      program_.local_bytes = aligned(program_.local_bytes, variable.align);
      symbols_[variable.name] = {Space::local, program_.local_bytes};
      program_.local_bytes += variable.bytes;
    } else if (variable.space == Space::shared && variable.bytes == 0) {
      dynamic.push_back(variable.name);
      dynamic_align = std::max(dynamic_align, variable.align);
    } else if (variable.space == Space::shared) {
      program_.static_shared = aligned(program_.static_shared, variable.align);
      symbols_[variable.name] = {Space::shared, program_.static_shared};
      program_.static_shared += variable.bytes;
    }
  };
  for (const ptx::Variable& variable : input_.module->variables) {
    if (!used.contains(variable.name)) continue;
    if (variable.space == Space::global || variable.space == Space::constant) {
      symbols_[variable.name] = {variable.space, input_.addresses->at(variable.name)};
    } else {
      lay_out(variable);
    }
  }
  for (const ptx::Variable& variable : input_.kernel->variables) lay_out(variable);
  program_.local_bytes = aligned(program_.local_bytes, 16);
  if (!dynamic.empty()) program_.static_shared = aligned(program_.static_shared, dynamic_align);
  for (const std::string& name : dynamic) symbols_[name] = {Space::shared, program_.static_shared};
}

std::uint32_t Decoder::allot(int bits) {
  const std::uint32_t place = program_.register_bytes;
  program_.register_bytes += static_cast<std::uint32_t>(bits == 1 ? 4 : std::max(bits / 8, 2)) * kLanes;
  return place;
}

std::uint32_t Decoder::constant(int bits, std::uint64_t value) {
  if (bits < 64) value &= (std::uint64_t{1} << bits) - 1;
  if (bits == 1) value = value != 0 ? ~0u : 0u;
  const auto [found, is_new] = constants_.try_emplace({bits, value}, 0u);
  if (is_new) {
    found->second = allot(bits);
    program_.constants.push_back({found->second, bits == 1 ? 32 : bits, value});
  }
  return found->second;
}

std::uint32_t Decoder::special(const Operand& operand) {
  const auto known = special_registers().find(operand.name);
  if (known == special_registers().end()) {
    refuse("'" + operand.name + "' is not declared and no special register the stand-in knows");
  }
  const auto [found, is_new] = specials_.try_emplace(operand.name, 0u);
  if (is_new) {
    found->second = allot(32);
    program_.specials.push_back({known->second, found->second});
  }
  return found->second;
}

std::uint32_t Decoder::place_of(int reg) {
  std::uint32_t& place = places_[static_cast<std::size_t>(reg)];
  if (place == kNowhere) place = allot(bits_of(reg));
  return place;
}

const Decoder::Symbol& Decoder::symbol(const std::string& name) const {
  const auto found = symbols_.find(name);
  if (found == symbols_.end()) refuse("'" + name + "' is not declared");
  return found->second;
}

std::uint32_t Decoder::source(const Operand& operand, int bits) {
  switch (operand.kind) {
    case Operand::Kind::reg: {
      if (bits_of(operand.reg) != bits) {
        refuse(fmt::format("the operand {} has {} bits, not {}",
                           input_.kernel->registers[static_cast<std::size_t>(operand.reg)].name,
                           bits_of(operand.reg), bits));
      }
      if (!operand.negated) return place_of(operand.reg);
      const std::uint32_t inverse = allot(1);
      emit("not.pred", inverse, {place_of(operand.reg)});
      return inverse;
    }
    case Operand::Kind::integer:
      return constant(bits, operand.bits);
    case Operand::Kind::float32:
      if (bits != 32) refuse("a single-precision constant where the operand has another width");
      return constant(bits, operand.bits);
    case Operand::Kind::float64:
      if (bits != 64) refuse("a double-precision constant where the operand has another width");
      return constant(bits, operand.bits);
    case Operand::Kind::special:
      if (bits == 64) return resized(special(operand), 32, 64, 'u');
      if (bits != 32) refuse("a special register where the operand has another width");
      return special(operand);
    case Operand::Kind::symbol: {
      const Symbol& found = symbol(operand.name);
      const bool fits =
          bits == 64 || (bits == 32 && found.space != Space::global && found.space != Space::constant);
      if (!fits) refuse("the address of '" + operand.name + "' does not fit the operand");
      return constant(bits, found.address + operand.bits);
    }
    default:
      refuse("an operand of a kind that does not fit here");
  }
}

std::uint32_t Decoder::destination(const Operand& operand, int bits) {
  if (operand.kind == Operand::Kind::sink) return allot(bits);
  if (operand.kind != Operand::Kind::reg || operand.negated) refuse("a result that is no register");
  if (bits_of(operand.reg) != bits) {
    refuse(fmt::format("the result has {} bits, its register {}", bits, bits_of(operand.reg)));
  }
  return place_of(operand.reg);
}

}  // namespace standin
