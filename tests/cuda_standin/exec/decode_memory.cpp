// Loads, stores, atomic operations, address conversions and shuffles.
#include <algorithm>

#include "exec/decoder.h"
#include "problem.h"
#include "ptx/cursor.h"

namespace standin {
namespace {

using ptx::Space;

// What only says how an access is cached or ordered against other threads: nothing changes here.
bool is_hint(std::string_view part) {
  static const std::set<std::string_view> hints{"nc",  "ca",      "cg",   "cs",      "lu",      "cv",
                                                "wb",  "wt",      "weak", "relaxed", "acquire", "volatile",
                                                "cta", "cluster", "gpu",  "sys",     "release", "acq_rel"};
  return hints.contains(part) || part.starts_with("L1::") || part.starts_with("L2::");
}

// Gives Space::none for what is no space.
Space space_named(std::string_view part) {
  if (part == "global") return Space::global;
  if (part == "const") return Space::constant;
  if (part == "shared" || part == "shared::cta") return Space::shared;
  if (part == "local") return Space::local;
  if (part == "param" || part == "param::entry") return Space::param;
  return Space::none;
}

}  // namespace

bool Decoder::decode_memory(const Instruction& instruction) {
  const std::string& name = instruction.parts[0];
  if (name == "ld" || name == "st" || name == "ldu") {
    decode_access(instruction);
  } else if (name == "atom" || name == "red") {
    decode_atomic(instruction);
  } else if (name == "cvta") {
    decode_address_conversion(instruction);
  } else if (name == "shfl") {
    decode_shuffle(instruction);
  } else {
    return false;
  }
  return true;
}

// The place of the base and the offset to it; `bits` is the width of the base.
std::pair<std::uint32_t, std::uint64_t> Decoder::address(const Operand& operand, Space space, int& bits) {
  if (operand.kind != Operand::Kind::address) refuse("an operand in brackets was expected");
  bits = 64;
  if (operand.reg >= 0) {
    const std::uint32_t base = place_of(operand.reg);
    bits = bits_of(operand.reg);
    if (bits == 64 || (bits == 32 && space == Space::shared)) return {base, operand.bits};
    if (bits != 32) refuse("an address of neither 32 nor 64 bits");
    bits = 64;
    return {resized(base, 32, 64, 'u'), operand.bits};
  }
  if (operand.name.empty()) return {constant(64, operand.bits), 0};
  const Symbol& found = symbol(operand.name);
  if (found.space != space) refuse("'" + operand.name + "' is in another state space");
  return {constant(64, found.address + operand.bits), 0};
}

void Decoder::decode_access(const Instruction& instruction) {
  const bool load = instruction.parts[0] != "st";
  MemoryShape shape{Space::none, ptx::bits_of_type(instruction.parts.back()), 1, 64};
  for (std::size_t i = 1; i + 1 < instruction.parts.size(); ++i) {
    const std::string& part = instruction.parts[i];
    if (part == "v2" || part == "v4") {
      shape.count = part == "v2" ? 2 : 4;
    } else if (const Space space = space_named(part); space != Space::none) {
      shape.space = space;
    } else if (!is_hint(part)) {
      refuse("the modifier ." + part + " is not known to the stand-in");
    }
  }
  if (shape.bits < 8) refuse_unknown();
  expect_operands(2);
  const Operand& where = instruction.operands[load ? 1 : 0];
  const Operand& what = instruction.operands[load ? 0 : 1];
  if (!load && (shape.space == Space::constant || shape.space == Space::param))
    refuse("a store to read-only memory");
  const auto [base, offset] = address(where, shape.space, shape.address_bits);
  const Form access = load ? load_form(shape) : store_form(shape);
  if (access.full == nullptr) refuse_unknown();

  const std::vector<Operand> elements =
      what.kind == Operand::Kind::vector ? what.parts : std::vector<Operand>{what};
  if (elements.size() != static_cast<std::size_t>(shape.count)) refuse("a vector of another length");
  const char kind = instruction.parts.back()[0] == 's' ? 's' : 'u';
  std::vector<std::uint32_t> places;
  struct Widening {
    std::uint32_t from;
    int reg;
  };
  std::vector<Widening> widenings;
  for (const Operand& element : elements) {
    const bool wider = element.kind == Operand::Kind::reg && bits_of(element.reg) > shape.bits;
    if (load && wider) {
      places.push_back(allot(shape.bits));
      widenings.push_back({places.back(), element.reg});
    } else if (load) {
      places.push_back(destination(element, shape.bits));
    } else if (wider) {
      places.push_back(resized(place_of(element.reg), bits_of(element.reg), shape.bits, 'u'));
    } else {
      places.push_back(source(element, shape.bits));
    }
  }
  const bool may_be_shared = shape.space == Space::shared || shape.space == Space::none;
  if (may_be_shared && shape.bits < 32) program_.shares_small_parts = true;
  Op& op = emit(access, places, {base});
  op.immediate = offset;
  op.window = program_.windows++;
  for (const Widening& widening : widenings) {
    emit(fmt::format("cvt.{}{}.{}{}", kind, bits_of(widening.reg), kind, shape.bits), place_of(widening.reg),
         {widening.from});
  }
}

void Decoder::decode_atomic(const Instruction& instruction) {
  const bool has_result = instruction.parts[0] == "atom";
  Space space = Space::none;
  std::string operation;
  for (std::size_t i = 1; i < instruction.parts.size(); ++i) {
    const std::string& part = instruction.parts[i];
    if (const Space named = space_named(part); named != Space::none) {
      space = named;
    } else if (!is_hint(part)) {
      operation += (operation.empty() ? "" : ".") + part;
    }
  }
  const Form form = atomic_form(space, operation);
  if (form.full == nullptr) refuse_unknown();
  const std::size_t first = has_result ? 1 : 0;
  const bool swap = operation.starts_with("cas.");
  expect_operands(first + (swap ? 3 : 2));
  int bits = 64;
  auto [base, offset] = address(instruction.operands[first], space, bits);
  if (bits == 32) base = resized(base, 32, 64, 'u');
  const std::uint32_t b = source(instruction.operands[first + 1], form.bits[2]);
  const std::uint32_t c = swap ? source(instruction.operands[first + 2], form.bits[3]) : b;
  const std::uint32_t d =
      has_result ? destination(instruction.operands[0], form.bits[0]) : allot(form.bits[0]);
  Op& op = emit(form, {d}, {base, b, c});
  op.immediate = offset;
  op.window = program_.windows++;
}

void Decoder::decode_address_conversion(const Instruction& instruction) {
  const bool to_space = instruction.parts.size() == 4 && instruction.parts[1] == "to";
  if (instruction.parts.back() != "u64" || instruction.parts.size() != (to_space ? 4u : 3u)) refuse_unknown();
  expect_operands(2);
  const std::uint32_t from = source(instruction.operands[1], 64);
  const std::uint32_t to = destination(instruction.operands[0], 64);
  std::uint64_t window = 0;
  switch (space_named(instruction.parts[to_space ? 2 : 1])) {
    case Space::global:
    case Space::constant:
      emit("mov.b64", to, {from});
      return;
    case Space::shared:
      window = kSharedWindow;
      break;
    case Space::local:
      window = kLocalWindow;
      break;
    case Space::param:
      window = kParamWindow;
      break;
    case Space::none:
      refuse_unknown();
  }
  emit(to_space ? "sub.u64" : "add.u64", to, {from, constant(64, window)});
}

void Decoder::decode_shuffle(const Instruction& instruction) {
  if (instruction.parts.size() != 4 || instruction.parts[1] != "sync" || instruction.parts[3] != "b32") {
    refuse_unknown();
  }
  const Form form = shuffle_form(instruction.parts[2]);
  if (form.full == nullptr) refuse_unknown();
  expect_operands(5);
  program_.exchanges_lanes = true;
  const Operand& result = instruction.operands[0];
  const bool pair = result.kind == Operand::Kind::pair;
  std::vector<std::uint32_t> sources;
  for (std::size_t i = 1; i < 5; ++i) sources.push_back(source(instruction.operands[i], 32));
  const std::uint32_t value = destination(pair ? result.parts[0] : result, 32);
  emit(form, {value, pair ? destination(result.parts[1], 1) : allot(1)}, sources);
}

}  // namespace standin
