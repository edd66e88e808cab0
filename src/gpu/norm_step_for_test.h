// A step with batch norm and an evaluation on a device, held against plain loops (norm_law_for_test.h).
#pragma once
#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/same_bits_for_test.h"
#include "device/device.h"
#include "gpu/norm_programs_for_test.h"
#include "reference/pack_tree.h"

namespace lockstep::gpu {

inline const std::vector<NormStepCase> kNormSteps = {
    {{1, 1, 1}, 37, 0, false},  {{3, 2, 3}, 70, 0, true},  {{3, 2, 3}, 70, 1, false},
    {{17, 7, 7}, 37, 0, false}, {{17, 7, 7}, 67, 2, true}, {{5, 3, 1}, 16, 1, true},
    {{2, 2, 2}, 115, 3, false},
};

class NormStep {
 public:
  explicit NormStep(const NormStepCase& c, unsigned seed = 1) : law_(law_of(c)), programs_(c, law_) {
    draw_operands(seed);
    const std::vector<arithmetic::PackRange> all{{0, law_.packs()}};
    program_ = programs_.of(all)[0];
    evaluation_ = programs_.evaluation();
    expect_by_law();
  }

  // Two steps: a kernel's first run is followed more closely than the next one. Then an evaluation with the
  // parameters of this training. In Order::layer activations are compared, too.
  void expect_on(device::Device& device, device::Order order) const {
    const auto executable = device.load(program_, {.most_packs = law_.packs(), .order = order});
    for (int step = 0; step < 2; ++step) {
      upload(*executable, parameters_);
      run(*executable, program_);
      for (std::size_t i = 0; i < program_.gradients.size(); ++i)
        EXPECT_THAT(downloaded(*executable, program_.gradients[i]), SameBits(gradients_[i]));
      for (std::size_t i = 0; i < parameters_.size(); ++i)
        EXPECT_THAT(downloaded(*executable, program_.parameters[i]), SameBits(updated_[i])) << i;
      if (order == device::Order::layer) expect_of(*executable, program_, {0, law_.packs()});
    }
    const auto evaluation = device.load(
        evaluation_,
        {.most_packs = law_.packs(), .order = device::Order::layer, .parameters_of = executable.get()});
    run(*evaluation, evaluation_);
    expect_activation(*evaluation, programs_.evaluation_y, evaluated_, {0, law_.packs()});
  }

  // What a device that has these packs makes of the step, in layer order.
  void expect_of(const device::Executable& executable, const program::Program& p,
                 arithmetic::PackRange share) const {
    expect_activation(executable, programs_.ids.y, y_, share);
    expect_activation(executable, programs_.ids.dx, dx_, share);
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      EXPECT_THAT(downloaded(executable, p.parameters[i]), SameBits(updated_[i])) << i;
  }
  device::StepInput input() const { return {{bytes_.data(), labels_.data(), order_}}; }
  const std::vector<std::vector<float>>& parameters() const { return parameters_; }

  // A gradient that is not finite leaves the running statistics as they are.
  void expect_nothing_after_a_bad_verdict(device::Device& device) const {
    const auto executable = device.load(program_, {.most_packs = law_.packs()});
    std::vector<std::vector<float>> parameters = parameters_;
    parameters[1][0] = std::numeric_limits<float>::infinity();
    upload(*executable, parameters);
    run(*executable, program_);
    EXPECT_EQ(executable->counts(program_.verdict)[0], 0);
    for (std::size_t i = 2; i < parameters.size(); ++i)
      EXPECT_THAT(downloaded(*executable, program_.parameters[i]), SameBits(parameters[i]));
  }

  const program::Program& program() const { return program_; }
  NormPrograms& programs() { return programs_; }

 private:
  // Events are signalled by one thread here.
  struct Seen : device::Watcher {
    explicit Seen(int count) : events(static_cast<std::size_t>(count)) {}
    void begin(const program::Instruction&) override {}
    void signal(program::EventId event) override { events[static_cast<std::size_t>(event)] = true; }
    std::vector<bool> events;
  };

  static NormLaw law_of(const NormStepCase& c) {
    NormLaw law;
    law.channels = c.shape.channels;
    law.positions = c.shape.height * c.shape.width;
    law.examples = c.examples;
    law.group_packs = c.group_packs;
    law.relu = c.relu;
    return law;
  }

  void draw_operands(unsigned seed) {
    std::mt19937 random(seed);
    const auto n = static_cast<std::size_t>(law_.examples);
    for (std::size_t i = 0; i < law_.elements(); ++i)
      bytes_.push_back(static_cast<std::uint8_t>(random() % 256));
    for (std::uint32_t e = 0; e < n; ++e) order_.push_back(static_cast<std::uint32_t>(n - 1 - e));
    labels_.assign(n, 0);
    const std::size_t pixels = law_.elements() / n;
    for (const std::uint32_t e : order_) {
      for (std::size_t p = 0; p < pixels; ++p)
        x_.push_back(static_cast<float>(bytes_[e * pixels + p]) / 255.0f);
    }
    std::normal_distribution<float> normal;
    for (int parameter = 0; parameter < 4; ++parameter) {
      std::vector<float>& values = parameters_.emplace_back(static_cast<std::size_t>(law_.channels));
      for (float& value : values) value = parameter == 3 ? 0.5f + std::abs(normal(random)) : normal(random);
    }
  }

  void expect_by_law() {
    const std::vector<float>&gamma = parameters_[0], &beta = parameters_[1];
    const std::vector<float> group = law_.group_triples(law_.triples(x_));
    const std::vector<float> coefficients = law_.coefficients(group, gamma, beta);
    y_ = law_.forward(x_, coefficients);
    std::vector<float> dy;
    for (std::size_t i = 0; i < y_.size(); ++i) dy.push_back(y_[i] + x_[i]);
    const std::vector<float> sums = law_.sums(dy, x_, coefficients, y_);
    const std::vector<float> factors = law_.factors(group, coefficients, law_.group_sums(sums));
    dx_ = law_.input_gradient(dy, x_, coefficients, factors, y_);
    const auto channels = static_cast<std::size_t>(law_.channels);
    for (const std::size_t number : {std::size_t{1}, std::size_t{0}}) {  // gamma, beta
      std::vector<float>& gradient = gradients_.emplace_back();
      for (std::size_t c = 0; c < channels; ++c) {
        std::vector<float> of_packs;
        for (std::size_t row = number * channels + c; row < sums.size(); row += 2 * channels)
          of_packs.push_back(sums[row]);
        gradient.push_back((reference::pack_tree(of_packs) + 0.0f) / static_cast<float>(law_.examples));
      }
    }
    updated_ = parameters_;
    law_.running(group, updated_[2], updated_[3]);
    NormLaw whole = law_;
    whole.group_packs = 0;
    evaluated_ = whole.forward(x_, law_.coefficients(updated_[2], updated_[3], gamma, beta));
  }

  void upload(device::Executable& executable, const std::vector<std::vector<float>>& parameters) const {
    for (std::size_t i = 0; i < parameters.size(); ++i)
      executable.upload(program_.parameters[i], parameters[i]);
  }

  // All segments, and each join when what it waits for has happened.
  void run(device::Executable& executable, const program::Program& p) const {
    Seen seen(p.events);
    executable.begin(0);
    std::size_t next = 0;
    for (std::size_t s = 0; s < p.segments.size(); ++s) {
      executable.run(s, input(), seen);
      for (; next < p.exchange.size(); ++next) {
        const program::ExchangeInstruction& instruction = p.exchange[next];
        const auto happened = [&](program::EventId event) {
          return seen.events[static_cast<std::size_t>(event)];
        };
        if (!std::ranges::all_of(instruction.waits, happened)) break;
        executable.join(std::vector{std::get<program::Join>(instruction.operation)}, input());
        for (const program::EventId event : instruction.signals) seen.signal(event);
      }
    }
    EXPECT_EQ(next, p.exchange.size());
  }

  std::vector<float> downloaded(const device::Executable& executable, program::BufferId buffer) const {
    std::vector<float> values(static_cast<std::size_t>(law_.channels));
    executable.download(buffer, values);
    return values;
  }

  void expect_activation(const device::Executable& executable, program::BufferId buffer,
                         const std::vector<float>& expected, arithmetic::PackRange share) const {
    const std::size_t pixels = law_.elements() / static_cast<std::size_t>(law_.examples);
    const int last = std::min(share.last * arithmetic::kPack, law_.examples);
    std::vector<float> found(expected);
    for (int e = share.first * arithmetic::kPack; e < last; ++e) {
      const std::span<float> one = std::span(found).subspan(static_cast<std::size_t>(e) * pixels, pixels);
      std::ranges::fill(one, -7.0f);
      executable.download_activation(buffer, e, one);
    }
    EXPECT_THAT(found, SameBits(expected)) << "buffer " << buffer;
  }

  const NormLaw law_;
  std::vector<std::uint8_t> bytes_, labels_;
  std::vector<std::uint32_t> order_;
  std::vector<float> x_, y_, dx_, evaluated_;
  std::vector<std::vector<float>> parameters_, gradients_, updated_;  // gamma, beta, mean, var
  NormPrograms programs_;
  program::Program program_, evaluation_;
};

}  // namespace lockstep::gpu
