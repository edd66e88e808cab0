#include "cpu/steps/buffer_step.h"
#include "cpu/steps/define_step.h"

namespace lockstep::cpu {
namespace {

class UnpoolStep : public PackStep {
 public:
  UnpoolStep(const program::Pool& pool, const program::Instruction& i, const StepContext& context)
      : PackStep(i, context), pool_(pool) {}
  void run_pack(const Work& work, int pack) const override {
    UnpoolJob job{};
    job.dy = in(0, work, pack);
    job.mask = bytes(inputs_[1], work, pack);
    job.dx = out(0, work, pack);
    job.channels = pool_.input.channels;
    job.rows = pool_.input.height;
    job.columns = job.mask_columns = pool_.input.width;
    job.dy_columns = pool_.output.width;
    job.dy_channel = static_cast<std::ptrdiff_t>(pool_.output.height) * pool_.output.width * kPack;
    job.dx_channel = static_cast<std::ptrdiff_t>(job.rows) * job.columns * kPack;
    job.mask_channel = static_cast<std::ptrdiff_t>(job.rows) * job.columns * 2;
    kernels_.unpool(job);
  }

 private:
  const program::Pool pool_;
};

}  // namespace

std::unique_ptr<Step> make_step(const program::Unpool& unpool, const program::Instruction& instruction,
                                const StepContext& context) {
  return std::make_unique<UnpoolStep>(unpool.pool, instruction, context);
}

template std::unique_ptr<Step> StepMaker::operator()(const program::Unpool&) const;

}  // namespace lockstep::cpu
