// How much arithmetic an instruction is, and what people call it.
#pragma once
#include <string>

#include "program/program.h"

namespace lockstep::measure {

// Floating-point operations of one example that reach the loss, two for a multiply-add. 0 for instructions
// that do not multiply: their adds and compares are not counted, so no share of a peak is flattered by them.
double flops_per_example(const program::Instruction& instruction);

// The sum over all instructions that run pack by pack.
double flops_per_example(const program::Program& program);

// "conv2 input gradient", "loss": the layer that gives the instruction its name, and what is done to it.
std::string kernel_name(const program::Instruction& instruction);

// What an instruction is done for.
using WorkKind = program::WorkKind;
WorkKind work_kind(const program::Instruction& instruction);

// "4x4 tiles" of a fast convolution, else "direct".
std::string algorithm_name(const program::Convolution& convolution);

// Of an instruction that multiplies; else empty.
std::string algorithm_name(const program::Instruction& instruction);

}  // namespace lockstep::measure
