// Instructions that run for each pack.
#include <algorithm>

#include "base/error.h"
#include "cpu/lane_chain_plan.h"
#include "cpu/outer_product_plan.h"
#include "cpu/step.h"
#include "cpu/winograd_gradient_plan.h"

namespace lockstep::cpu {
namespace {

using program::BufferId;
using program::Instruction;

// Knows where an instruction's buffers are.
class BufferStep : public Step {
 public:
  BufferStep(const Instruction& i, const StepContext& context)
      : arena_(context.arena), kernels_(context.kernels), inputs_(i.inputs), outputs_(i.outputs) {}

 protected:
  const float* in(std::size_t i, const Work& work, int pack) const {
    return arena_.activation(inputs_[i], work.workspace, pack % arena_.slots(inputs_[i]));
  }
  float* out(std::size_t i, const Work& work, int pack) const {
    return arena_.activation(outputs_[i], work.workspace, pack % arena_.slots(outputs_[i]));
  }
  std::uint8_t* bytes(BufferId id, const Work& work, int pack) const {
    return arena_.bytes(id, work.workspace, pack % arena_.slots(id));
  }
  JoinTarget join(std::size_t output, const Work& work, int pack) const {
    return arena_.join_target(outputs_[output], work.thread, work.schedule[static_cast<std::size_t>(pack)]);
  }

  const Arena& arena_;
  const Kernels& kernels_;
  const std::vector<BufferId> inputs_, outputs_;
};

// Takes one pack after the other.
class PackStep : public BufferStep {
 public:
  using BufferStep::BufferStep;

  void run(const Work& work) const override {
    for (int pack = work.first; pack < work.last; ++pack) run_pack(work, pack);
  }

 protected:
  virtual void run_pack(const Work& work, int pack) const = 0;
};

class LoadStep : public PackStep {
 public:
  LoadStep(const program::Load& load, const Instruction& i, const StepContext& context)
      : PackStep(i, context),
        pixels_(load.shape.elements()),
        nothing_(static_cast<std::size_t>(pixels_), 0) {}

  void run_pack(const Work& work, int pack) const override {
    const device::Minibatch& minibatch = work.input.minibatch;
    std::uint8_t* const labels = bytes(outputs_[1], work, pack);
    std::array<const std::uint8_t*, kPack> examples{};
    for (std::size_t lane = 0; lane < kPack; ++lane) {
      const std::size_t e = static_cast<std::size_t>(work.first_pack + pack) * kPack + lane;
      const bool present = e < minibatch.examples.size();
      const std::uint32_t example = present ? minibatch.examples[e] : 0;
      examples[lane] =
          present ? minibatch.pixels + static_cast<std::size_t>(example) * static_cast<std::size_t>(pixels_)
                  : nothing_.data();
      labels[lane] = present ? minibatch.labels[example] : 0;
    }
    kernels_.load_pixels(examples.data(), pixels_, out(0, work, pack));
  }

 private:
  const int pixels_;
  const std::vector<std::uint8_t> nothing_;  // the picture of an absent example
};

// A convolution forward, or its input gradient: the latter has no bias.
class ConvolutionStep : public BufferStep {
 public:
  ConvolutionStep(Direction direction, const Instruction& i, const StepContext& context)
      : BufferStep(i, context), plan_(context.plans.layers.at({i.inputs[1], direction})) {}
  std::size_t scratch_floats() const override { return plan_->scratch_floats(); }

  void run(const Work& work) const override {
    // Where a plan takes several packs at once, their numbers lie one behind the other.
    for (int pack = work.first; pack < work.last; pack += plan_->most_packs()) {
      run_packs(work, pack, std::min(plan_->most_packs(), work.last - pack));
    }
  }

 private:
  void run_packs(const Work& work, int pack, int packs) const {
    ConvolutionPlan::Operands operands{};
    operands.input = in(0, work, pack);
    operands.weights = arena_.prepared(inputs_[1], work.workspace);
    operands.bias = inputs_.size() > 2 ? arena_.shared(inputs_[2]) : nullptr;
    operands.output = out(0, work, pack);
    operands.mask = outputs_.size() > 1 ? bytes(outputs_[1], work, pack) : nullptr;
    operands.packs = packs;
    plan_->run(operands, work.scratch());
  }

  const std::shared_ptr<const ConvolutionPlan> plan_;
};

class LaneChainStep : public PackStep {
 public:
  LaneChainStep(const program::Convolution& c, const Instruction& i, const StepContext& context)
      : PackStep(i, context), plan_(c, context.kernels) {}
  std::size_t scratch_floats() const override { return plan_.scratch_floats(); }
  void run_pack(const Work& work, int pack) const override {
    const JoinTarget weights = join(0, work, pack), bias = join(1, work, pack);
    if (inputs_.size() == 2) {
      plan_.run(in(0, work, pack), in(1, work, pack), weights, bias, work.scratch());
    } else {
      plan_.run_unpooled(in(0, work, pack), in(1, work, pack), bytes(inputs_[2], work, pack), weights, bias,
                         work.scratch());
    }
  }

 private:
  const LaneChainPlan plan_;
};

class OuterProductStep : public BufferStep {
 public:
  OuterProductStep(const program::Convolution& c, const Instruction& i, const StepContext& context)
      : BufferStep(i, context), plan_(c, context.kernels), group_(plan_.most_packs(context.group)) {}
  std::size_t scratch_floats() const override { return plan_.scratch_floats(group_); }

  void run(const Work& work) const override {
    for (int first = work.first; first < work.last; first += group_) {
      std::vector<OuterProductPlan::PackOperands> packs;
      for (int pack = first; pack < std::min(first + group_, work.last); ++pack) {
        packs.push_back({in(0, work, pack), in(1, work, pack), join(0, work, pack), join(1, work, pack)});
      }
      plan_.run(packs, work.scratch());
    }
  }

 private:
  const OuterProductPlan plan_;
  const int group_;
};

class WinogradGradientStep : public PackStep {
 public:
  WinogradGradientStep(const program::Convolution& c, const Instruction& i, const StepContext& context)
      : PackStep(i, context), plan_(c, context.kernels, cache_sizes()) {}
  std::size_t scratch_floats() const override { return plan_.scratch_floats(); }
  void run_pack(const Work& work, int pack) const override {
    plan_.run(in(0, work, pack), in(1, work, pack), join(0, work, pack), join(1, work, pack), work.scratch());
  }

 private:
  const WinogradGradientPlan plan_;
};

class ReluStep : public PackStep {
 public:
  ReluStep(const Instruction& i, const StepContext& context)
      : PackStep(i, context),
        floats_(context.program.buffers[static_cast<std::size_t>(i.outputs[0])].elements * kPack) {}
  void run_pack(const Work& work, int pack) const override {
    if (inputs_.size() == 1) {
      kernels_.relu(in(0, work, pack), out(0, work, pack), floats_);
    } else {
      kernels_.relu_gradient(in(0, work, pack), in(1, work, pack), out(0, work, pack), floats_);
    }
  }

 private:
  const std::size_t floats_;
};

class AddStep : public PackStep {
 public:
  AddStep(const Instruction& i, const StepContext& context)
      : PackStep(i, context),
        floats_(context.program.buffers[static_cast<std::size_t>(i.outputs[0])].elements * kPack) {}
  void run_pack(const Work& work, int pack) const override {
    kernels_.sum(in(0, work, pack), in(1, work, pack), out(0, work, pack), floats_);
  }

 private:
  const std::size_t floats_;
};

class PoolStep : public PackStep {
 public:
  PoolStep(const program::Pool& p, PoolFunction function, const Instruction& i, const StepContext& context)
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

class UnpoolStep : public PackStep {
 public:
  UnpoolStep(const program::Pool& pool, const Instruction& i, const StepContext& context)
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

class LossStep : public PackStep {
 public:
  LossStep(const program::Loss& loss, const Instruction& i, const StepContext& context)
      : PackStep(i, context), classes_(loss.classes) {}
  void run_pack(const Work& work, int pack) const override {
    const auto examples = static_cast<int>(work.input.minibatch.examples.size());
    alignas(64) std::array<std::int32_t, kPack> predicted{};
    LossJob job{};
    job.z = in(0, work, pack);
    job.labels = bytes(inputs_[1], work, pack);
    job.classes = classes_;
    job.present = std::min(kPack, examples - (work.first_pack + pack) * kPack);
    job.dz = outputs_.size() > 3 ? out(3, work, pack) : nullptr;
    job.loss = out(0, work, pack);
    job.predicted = predicted.data();
    kernels_.loss(job);
    std::array<float, kPack> losses{};
    std::copy_n(job.loss, kPack, losses.begin());
    const float sum = arithmetic::lane_tree(losses) + 0.0f;
    kernels_.join_row(&sum, 0, 1, join(1, work, pack));
    std::int64_t* const seen = arena_.tally(outputs_[2], work.thread);
    for (int lane = 0; lane < job.present; ++lane) {
      const std::uint8_t label = job.labels[lane];
      ++seen[label];
      seen[classes_ + label] += predicted[static_cast<std::size_t>(lane)] == label;
    }
  }

 private:
  const int classes_;
};

// From an operation to its step.
struct PackStepMaker {
  const Instruction& i;
  const StepContext& context;

  std::unique_ptr<Step> operator()(const program::Load& o) const {
    return std::make_unique<LoadStep>(o, i, context);
  }
  std::unique_ptr<Step> operator()(const program::Forward&) const {
    return std::make_unique<ConvolutionStep>(Direction::forward, i, context);
  }
  std::unique_ptr<Step> operator()(const program::InputGradient&) const {
    return std::make_unique<ConvolutionStep>(Direction::input_gradient, i, context);
  }
  std::unique_ptr<Step> operator()(const program::WeightGradient& o) const {
    switch (o.convolution.algorithms.weight_gradient) {
      case arithmetic::WeightGradientAlgorithm::per_lane:
        return std::make_unique<LaneChainStep>(o.convolution, i, context);
      case arithmetic::WeightGradientAlgorithm::per_row:
        return std::make_unique<OuterProductStep>(o.convolution, i, context);
      case arithmetic::WeightGradientAlgorithm::winograd:
        return std::make_unique<WinogradGradientStep>(o.convolution, i, context);
    }
    return nullptr;
  }
  std::unique_ptr<Step> operator()(const program::UnpoolWeightGradient& o) const {
    return std::make_unique<LaneChainStep>(o.convolution, i, context);
  }
  std::unique_ptr<Step> operator()(const program::ReluForward&) const {
    return std::make_unique<ReluStep>(i, context);
  }
  std::unique_ptr<Step> operator()(const program::ReluBackward&) const {
    return std::make_unique<ReluStep>(i, context);
  }
  std::unique_ptr<Step> operator()(const program::PoolForward& o) const {
    const bool average = o.pool.kind == program::Pool::Kind::average;
    return std::make_unique<PoolStep>(
        o.pool, average ? context.kernels.average_pool : context.kernels.maximum_pool, i, context);
  }
  std::unique_ptr<Step> operator()(const program::PoolBackward& o) const {
    const bool average = o.pool.kind == program::Pool::Kind::average;
    return std::make_unique<PoolStep>(
        o.pool, average ? context.kernels.average_pool_gradient : context.kernels.maximum_pool_gradient, i,
        context);
  }
  std::unique_ptr<Step> operator()(const program::Unpool& o) const {
    return std::make_unique<UnpoolStep>(o.pool, i, context);
  }
  std::unique_ptr<Step> operator()(const program::Add&) const {
    return std::make_unique<AddStep>(i, context);
  }
  std::unique_ptr<Step> operator()(const program::Loss& o) const {
    return std::make_unique<LossStep>(o, i, context);
  }
  std::unique_ptr<Step> operator()(const program::Prepare&) const { return not_over_packs(); }
  std::unique_ptr<Step> operator()(const program::Check&) const { return not_over_packs(); }
  std::unique_ptr<Step> operator()(const program::Update&) const { return not_over_packs(); }

  [[noreturn]] std::unique_ptr<Step> not_over_packs() const {
    throw Error(Fault::ours, "defect: '{}' does not run over packs", program::operation_name(i.operation));
  }
};

}  // namespace

std::unique_ptr<Step> make_pack_step(const Instruction& instruction, const StepContext& context) {
  return std::visit(PackStepMaker{instruction, context}, instruction.operation);
}

}  // namespace lockstep::cpu
