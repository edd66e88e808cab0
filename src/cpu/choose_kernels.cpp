// Which row of kernels runs on this processor.
#include <hwy/targets.h>

#include "base/error.h"
#include "base/nearest.h"
#include "cpu/kernels.h"

namespace lockstep::cpu {
namespace {

bool usable(const Kernels& row) { return (hwy::SupportedTargets() & row.target) != 0; }

}  // namespace

std::vector<const Kernels*> usable_kernels() {
  std::vector<const Kernels*> rows;
  for (const Kernels& row : compiled_kernels()) {
    if (usable(row)) rows.push_back(&row);
  }
  return rows;
}

const Kernels& choose_kernels(std::string_view name) {
  const std::vector<const Kernels*> rows = usable_kernels();
  if (rows.empty()) {
    throw Error(
        Fault::device,
        "this processor has no fused multiply-add that Lockstep knows (AVX2 with FMA, AVX-512 or NEON); "
        "without it the results could not be the same bits");
  }
  if (name.empty()) return *rows.front();
  std::vector<std::string> names;
  for (const Kernels& row : compiled_kernels()) {
    names.emplace_back(row.name);
    if (row.name != name) continue;
    if (!usable(row)) throw Error(Fault::device, "this processor cannot run the kernels called '{}'", name);
    return row;
  }
  throw Error(Fault::usage, "there are no kernels called '{}'{}", name, suggestion(name, names));
}

}  // namespace lockstep::cpu
