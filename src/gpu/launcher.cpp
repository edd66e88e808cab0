#include "gpu/launcher.h"

#include "gpu/launches/norm_elements.h"
#include "gpu/launches/prepare.h"

namespace lockstep::gpu {

Launcher::Launcher(Driver& driver, const GpuMemory& memory, const program::Program& program)
    : context_{driver, memory, program, driver.style()} {}

void Launcher::run(const program::Instruction& instruction, const PackGroup& group,
                   const device::StepInput& input) const {
  std::visit(PackLaunches{context_, instruction, group, input}, instruction.operation);
}

void Launcher::prepare(const program::Instruction& instruction) const {
  launch_prepare(context_, instruction);
}

bool Launcher::norm_elements(const program::Instruction& instruction) const {
  return launch_norm_elements(context_, instruction);
}

void Launcher::join_packs(program::BufferId partial, const PackGroup& group) const {
  const GpuMemory& memory = context_.memory;
  const std::size_t count = context_.elements_of(partial);
  context_.floats("join_packs",
                  {memory.pack_sums(partial), memory.stack(partial), memory.schedule(), as_int(count),
                   group.first, group.packs},
                  count);
}

}  // namespace lockstep::gpu
