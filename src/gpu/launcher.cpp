#include "gpu/launcher.h"

#include "base/error.h"
#include "gpu/launches/norm_elements.h"
#include "gpu/launches/prepare.h"

namespace lockstep::gpu {

Launcher::Launcher(Driver& driver, const GpuMemory& memory, const program::Program& program)
    : context_{driver, memory, program, driver.style()} {}

void Launcher::run(const program::Instruction& instruction, const PackGroup& group,
                   const device::StepInput& input) const {
  const PackLaunches launches{context_, instruction, group, input};
  const auto launch = [&]<class Operation>(const Operation& operation) {
    if constexpr (Operation::kTraits.over == program::Over::packs) {
      launches(operation);
    } else {
      throw Error(Fault::ours, "defect: '{}' does not run over packs", Operation::kTraits.name);
    }
  };
  std::visit(launch, instruction.operation);
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
