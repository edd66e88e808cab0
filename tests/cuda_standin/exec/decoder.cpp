// Control flow and computation.
#include "exec/decoder.h"

#include <algorithm>

#include "problem.h"
#include "ptx/cursor.h"

namespace standin {
namespace {

Forms make_forms(Denormals denormals) {
  Forms forms;
  add_integer_forms(forms);
  add_bit_forms(forms);
  add_float_forms(forms, denormals);
  add_compare_forms(forms, denormals);
  add_convert_forms(forms);
  return forms;
}

const Forms& all_forms(Denormals denormals) {
  static const Forms kept = make_forms(Denormals::kept);
  static const Forms flushed = make_forms(Denormals::flushed);
  return denormals == Denormals::kept ? kept : flushed;
}

bool has(const ptx::Instruction& instruction, std::string_view part) {
  return std::find(instruction.parts.begin(), instruction.parts.end(), part) != instruction.parts.end();
}

}  // namespace

Decoder::Decoder(const DecodeInput& input)
    : input_(input),
      forms_(all_forms(input.defects.flush_denormals ? Denormals::flushed : Denormals::kept)) {}

Program Decoder::run() {
  const ptx::Kernel& kernel = *input_.kernel;
  program_.name = kernel.name;
  program_.source = input_.source;
  if (kernel.most_threads != 0) program_.most_threads = std::min(1024u, kernel.most_threads);
  std::copy(kernel.required, kernel.required + 3, program_.required);
  places_.assign(kernel.registers.size(), kNowhere);
  lay_out_parameters();
  lay_out_variables();
  for (const Instruction& instruction : kernel.instructions) {
    starts_.push_back(static_cast<std::uint32_t>(program_.ops.size()));
    now_ = &instruction;
    decode(instruction);
  }
  starts_.push_back(static_cast<std::uint32_t>(program_.ops.size()));
  Op end;
  end.kind = Op::Kind::exit;
  program_.ops.push_back(end);
  resolve_labels();
  program_.register_bytes = (program_.register_bytes + 63) / 64 * 64;
  return std::move(program_);
}

void Decoder::refuse(const std::string& why) const {
  throw Problem(Code::invalid_ptx, "kernel {}, ptx line {}, `{}`: {}", input_.kernel->name, now_->line,
                now_->opcode(), why);
}

void Decoder::refuse_unknown() const {
  const Instruction& instruction = *now_;
  const std::string& type = instruction.parts.back();
  const bool is_float = type == "f32" || type == "f64";
  if (has(instruction, "approx")) refuse("approximate arithmetic differs from device to device");
  if (has(instruction, "ftz")) refuse(".ftz flushes denormal numbers");
  if (has(instruction, "rz") || has(instruction, "rm") || has(instruction, "rp") || has(instruction, "rna")) {
    refuse("only rounding to nearest (.rn) is allowed in arithmetic");
  }
  const std::string& name = instruction.parts[0];
  if (is_float && (name == "add" || name == "sub" || name == "mul" || name == "mad")) {
    refuse("without .rn the compiler may fuse a product with a sum; build with --fmad=false");
  }
  refuse("not an instruction the stand-in knows");
}

void Decoder::expect_operands(std::size_t count) const {
  if (now_->operands.size() != count) {
    refuse(fmt::format("{} operands, expected {}", now_->operands.size(), count));
  }
}

const Form& Decoder::form(const std::string& opcode) const {
  const auto found = forms_.find(opcode);
  if (found == forms_.end()) refuse_unknown();
  return found->second;
}

Op& Decoder::emit(const Form& form, std::vector<std::uint32_t> results, std::vector<std::uint32_t> sources) {
  Op op;
  op.full = form.full;
  op.masked = form.masked;
  op.line = now_->line;
  std::copy(results.begin(), results.end(), op.d);
  std::copy(sources.begin(), sources.end(), op.s);
  if (now_->predicate >= 0) {
    op.predicate = place_of(now_->predicate);
    op.predicate_negated = now_->predicate_negated;
  }
  return program_.ops.emplace_back(op);
}

Op& Decoder::emit(const std::string& opcode, std::uint32_t result, std::vector<std::uint32_t> sources) {
  return emit(form(opcode), {result}, std::move(sources));
}

// A place with the value in another width; `kind` is 's' to extend the sign.
std::uint32_t Decoder::resized(std::uint32_t place, int from, int to, char kind) {
  if (from == to) return place;
  const std::uint32_t result = allot(to);
  emit(fmt::format("cvt.{}{}.{}{}", kind, to, kind, from), result, {place});
  return result;
}

void Decoder::decode(const Instruction& instruction) {
  if (ptx::bits_of_type(instruction.parts.back()) == 0 && instruction.parts.size() > 1) {
    if (decode_control(instruction)) return;
    refuse_unknown();
  }
  const std::string& name = instruction.parts[0];
  if (decode_control(instruction) || decode_memory(instruction)) return;
  if (name == "mov") return decode_move(instruction);
  if (name == "setp") return decode_compare(instruction);
  if (name == "cvt") return decode_convert(instruction);
  if (!decode_by_table(instruction)) refuse_unknown();
}

bool Decoder::decode_control(const Instruction& instruction) {
  const std::string& name = instruction.parts[0];
  if (name == "membar" || name == "fence") return true;
  if (name == "bra") {
    expect_operands(1);
    branches_.emplace_back(program_.ops.size(), instruction.operands[0].name);
    emit(Form{}, {}, {}).kind = Op::Kind::branch;
    return true;
  }
  if (name == "brx") {
    expect_operands(2);
    const std::uint32_t index = source(instruction.operands[0], 32);
    table_branches_.emplace_back(program_.ops.size(), instruction.operands[1].name);
    emit(Form{}, {}, {index}).kind = Op::Kind::branch_table;
    return true;
  }
  if (name == "ret" || name == "exit") {
    emit(Form{}, {}, {}).kind = Op::Kind::exit;
    return true;
  }
  if ((name == "bar" || name == "barrier") && has(instruction, "sync") && !has(instruction, "warp")) {
    expect_operands(1);
    if (instruction.operands[0].kind != Operand::Kind::integer || instruction.operands[0].bits != 0) {
      refuse("only barrier 0 of the whole block is known to the stand-in");
    }
    program_.has_barrier = true;
    emit(Form{}, {}, {}).kind = Op::Kind::barrier;
    return true;
  }
  return false;
}

bool Decoder::decode_by_table(const Instruction& instruction) {
  std::string opcode = instruction.opcode();
  if (input_.defects.flush_denormals && has(instruction, "ftz")) opcode.erase(opcode.find(".ftz"), 4);
  const auto found = forms_.find(opcode);
  if (found == forms_.end()) return false;
  const Form& form = found->second;
  const auto count =
      static_cast<std::size_t>(std::find(form.bits.begin() + 1, form.bits.end(), 0) - form.bits.begin());
  expect_operands(count);
  std::vector<std::uint32_t> sources;
  for (std::size_t i = 1; i < count; ++i) sources.push_back(source(instruction.operands[i], form.bits[i]));
  emit(form, {destination(instruction.operands[0], form.bits[0])}, sources);
  return true;
}

void Decoder::decode_move(const Instruction& instruction) {
  expect_operands(2);
  const Operand& to = instruction.operands[0];
  const Operand& from = instruction.operands[1];
  const std::string& type = instruction.parts.back();
  const int bits = ptx::bits_of_type(type);
  if (to.kind != Operand::Kind::vector && from.kind != Operand::Kind::vector) {
    if (!decode_by_table(instruction)) refuse_unknown();
    return;
  }
  const std::vector<Operand>& parts = to.kind == Operand::Kind::vector ? to.parts : from.parts;
  if (parts.size() != 2 || (bits != 32 && bits != 64))
    refuse("only vectors of two halves are known to the stand-in");
  const std::string suffix = ".b" + std::to_string(bits);
  if (from.kind == Operand::Kind::vector) {
    emit("pack" + suffix, destination(to, bits), {source(parts[0], bits / 2), source(parts[1], bits / 2)});
  } else {
    const std::uint32_t whole = source(from, bits);
    emit("low" + suffix, destination(parts[0], bits / 2), {whole});
    emit("high" + suffix, destination(parts[1], bits / 2), {whole});
  }
}

// setp.comparison[.and|.or|.xor].type p[|q], a, b[, [!]c]
void Decoder::decode_compare(const Instruction& instruction) {
  std::vector<std::string> parts = instruction.parts;
  if (input_.defects.flush_denormals) std::erase(parts, "ftz");
  if (parts.size() < 3) refuse_unknown();
  const Form& compare = form("setp." + parts[1] + "." + parts.back());
  const bool combined = parts.size() == 4;
  if (parts.size() > 4 || (combined && parts[2] != "and" && parts[2] != "or" && parts[2] != "xor")) {
    refuse_unknown();
  }
  expect_operands(combined ? 4 : 3);
  const Operand& result = instruction.operands[0];
  const bool pair = result.kind == Operand::Kind::pair;
  const std::uint32_t a = source(instruction.operands[1], compare.bits[1]);
  const std::uint32_t b = source(instruction.operands[2], compare.bits[2]);
  if (!pair && !combined) {
    emit(compare, {destination(result, 1)}, {a, b});
    return;
  }
  // Everything goes to places of its own first: a result may be a source, or the predicate of this
  // instruction.
  std::uint32_t holds = allot(1);
  emit(compare, {holds}, {a, b});
  std::uint32_t fails = allot(1);
  emit("not.pred", fails, {holds});
  if (combined) {
    const std::uint32_t c = source(instruction.operands[3], 1);
    const std::uint32_t first = allot(1);
    const std::uint32_t second = allot(1);
    emit(parts[2] + ".pred", first, {holds, c});
    emit(parts[2] + ".pred", second, {fails, c});
    holds = first;
    fails = second;
  }
  const Operand& p = pair ? result.parts[0] : result;
  const bool guarded_by_p = instruction.predicate >= 0 && p.reg == instruction.predicate;
  if (!guarded_by_p) emit("mov.pred", destination(p, 1), {holds});
  if (pair) emit("mov.pred", destination(result.parts[1], 1), {fails});
  if (guarded_by_p) emit("mov.pred", destination(p, 1), {holds});
}

// The registers of a conversion may be wider than its types.
void Decoder::decode_convert(const Instruction& instruction) {
  expect_operands(2);
  std::string opcode = instruction.opcode();
  if (input_.defects.flush_denormals && has(instruction, "ftz")) opcode.erase(opcode.find(".ftz"), 4);
  const Form& convert = form(opcode);
  const Operand& to = instruction.operands[0];
  const Operand& from = instruction.operands[1];
  const bool wide_source = from.kind == Operand::Kind::reg && bits_of(from.reg) > convert.bits[1];
  const std::uint32_t operand = wide_source
                                    ? resized(place_of(from.reg), bits_of(from.reg), convert.bits[1], 'u')
                                    : source(from, convert.bits[1]);
  if (to.kind != Operand::Kind::reg || bits_of(to.reg) <= convert.bits[0]) {
    emit(convert, {destination(to, convert.bits[0])}, {operand});
    return;
  }
  const std::string& type = instruction.parts[instruction.parts.size() - 2];
  if (type[0] == 'f') refuse("a floating-point result in a wider register");
  const std::uint32_t narrow = allot(convert.bits[0]);
  emit(convert, {narrow}, {operand});
  emit(fmt::format("cvt.{}{}.{}", type[0], bits_of(to.reg), type), place_of(to.reg), {narrow});
}

void Decoder::resolve_labels() {
  std::map<std::string, std::uint32_t> labels;
  for (const ptx::Label& label : input_.kernel->labels) labels[label.name] = starts_[label.instruction];
  const auto target = [&](const std::string& name) {
    const auto found = labels.find(name);
    if (found == labels.end()) {
      throw Problem(Code::invalid_ptx, "kernel {}: the label '{}' does not exist", input_.kernel->name, name);
    }
    return found->second;
  };
  for (const auto& [op, label] : branches_) program_.ops[op].target = target(label);
  for (const auto& branch : table_branches_) {
    const std::size_t op = branch.first;
    const std::string& name = branch.second;
    const auto table =
        std::find_if(input_.kernel->tables.begin(), input_.kernel->tables.end(),
                     [&](const ptx::BranchTable& candidate) { return candidate.name == name; });
    if (table == input_.kernel->tables.end()) {
      throw Problem(Code::invalid_ptx, "kernel {}: the table '{}' does not exist", input_.kernel->name, name);
    }
    program_.ops[op].target = static_cast<std::uint32_t>(program_.branch_targets.size());
    program_.ops[op].targets = static_cast<std::uint32_t>(table->targets.size());
    for (const std::string& label : table->targets) program_.branch_targets.push_back(target(label));
  }
}

Program decode(const DecodeInput& input) {
  if (!input.defects.contract) return Decoder(input).run();
  const ptx::Kernel kernel = contracted(*input.kernel);
  DecodeInput fused = input;
  fused.kernel = &kernel;
  return Decoder(fused).run();
}

}  // namespace standin
