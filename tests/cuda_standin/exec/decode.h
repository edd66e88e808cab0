// Turns a parsed kernel into a program. What the stand-in cannot run exactly is refused here, with its line.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "exec/program.h"
#include "ptx/text.h"

namespace standin {

// Ways to be a wrong device on purpose.
struct Defects {
  bool flush_denormals = false;
  bool contract = false;  // fuse a product with the sum that follows it
};

struct DecodeInput {
  const ptx::Module* module = nullptr;
  const ptx::Kernel* kernel = nullptr;
  const std::map<std::string, std::uint64_t>* addresses = nullptr;  // of .global and .const variables
  std::shared_ptr<const std::vector<std::string>> source;
  Defects defects;
};

// Throws Problem(invalid_ptx).
Program decode(const DecodeInput& input);

// The kernel with every mul.rn.f32 fused whose only use is an add.rn.f32 after it in the same straight line.
ptx::Kernel contracted(ptx::Kernel kernel);

}  // namespace standin
