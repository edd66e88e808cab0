#include "cpu/steps/buffer_step.h"
#include "cpu/steps/define_step.h"

namespace lockstep::cpu {
namespace {

class PoolStep : public PackStep {
 public:
  PoolStep(const program::Pool& p, PoolFunction function, const program::Instruction& i,
           const StepContext& context)
      : PackStep(i, context),
        function_(function),
        job_{nullptr,         nullptr,         nullptr,          p.input.channels, p.input.height,
             p.input.width,   p.output.height, p.output.width,   p.window.height,  p.window.width,
             p.stride.height, p.stride.width,  p.padding.height, p.padding.width} {}
  void run_pack(const Work& work, int pack) const override {
    PoolJob job = job_;
    job.from = in(0, work, pack);
    if (inputs_.size() > 1) job.x = in(1, work, pack);
    job.to = out(0, work, pack);
    function_(job);
  }

 private:
  const PoolFunction function_;
  const PoolJob job_;
};

}  // namespace

std::unique_ptr<Step> make_step(const program::PoolForward& forward, const program::Instruction& instruction,
                                const StepContext& context) {
  const bool average = forward.pool.kind == program::Pool::Kind::average;
  const PoolFunction function = average ? context.kernels.average_pool : context.kernels.maximum_pool;
  return std::make_unique<PoolStep>(forward.pool, function, instruction, context);
}

std::unique_ptr<Step> make_step(const program::PoolBackward& backward,
                                const program::Instruction& instruction, const StepContext& context) {
  const bool average = backward.pool.kind == program::Pool::Kind::average;
  const PoolFunction function =
      average ? context.kernels.average_pool_gradient : context.kernels.maximum_pool_gradient;
  return std::make_unique<PoolStep>(backward.pool, function, instruction, context);
}

template std::unique_ptr<Step> StepMaker::operator()(const program::PoolForward&) const;
template std::unique_ptr<Step> StepMaker::operator()(const program::PoolBackward&) const;

}  // namespace lockstep::cpu
