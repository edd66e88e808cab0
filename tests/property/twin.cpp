#include "property/twin.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "arithmetic/step_scalars.h"
#include "reference/step.h"
#include "reference/update.h"

namespace lockstep::property {
namespace {

// Numbers by counting on from a seed: enough for pictures and for which element gets what.
class Numbers16 {
 public:
  explicit Numbers16(int seed) : state_(static_cast<std::uint32_t>(seed) + 1) {}
  std::uint32_t next() { return (state_ = state_ * 1664525U + 1013904223U) >> 16; }
  bool coin() { return (next() & 256) != 0; }
  int between(int least, int most) {
    return least + static_cast<int>(next() % static_cast<std::uint32_t>(most - least + 1));
  }

 private:
  std::uint32_t state_;
};

// Of a tensor all, some or none: sums of denormal numbers alone, and beside others.
void make_denormal(Tensor& tensor, Numbers16& random) {
  const int part = random.between(0, 2);
  for (float& value : tensor) {
    if (part == 0 || (part == 1 && random.coin())) continue;
    if (value == 0) value = random.coin() ? 1.0f : -1.0f;  // a bias
    value = std::ldexp(value, -random.between(124, 146));
  }
}

void make_negative_zero(Tensor& tensor, Numbers16& random) {
  const bool all = random.between(0, 3) == 0;
  for (float& value : tensor) {
    if (all || random.coin()) value = -0.0f;
  }
}

// Two such layers one behind the other overflow. Two steps cannot make a weight infinite: 2^101 and twice a
// tenth of the largest float have room.
void make_huge(Tensor& tensor, Numbers16& random) {
  const int exponent = random.coin() ? random.between(60, 100) : 0;
  for (float& value : tensor) value = std::ldexp(value, exponent);
}

}  // namespace

Examples::Examples(const Case& c) : picture(static_cast<std::size_t>(model_of(c).input.elements())) {
  const auto count = static_cast<std::size_t>(most_examples(c));
  const auto classes = static_cast<std::uint32_t>(model::classes_of(model_of(c)));
  Numbers16 random(c.seed);
  for (std::size_t i = 0; i < count * picture; ++i)
    pixels.push_back(static_cast<std::uint8_t>(random.coin() ? random.next() : 0));
  for (std::size_t i = 0; i < count; ++i) {
    labels.push_back(static_cast<std::uint8_t>(random.next() % classes));
    order.push_back(random.next() % static_cast<std::uint32_t>(count));
  }
}

device::StepInput Examples::input(const Case& c, std::size_t step) const {
  const reference::UpdateOptions update = update_of(c);
  arithmetic::StepScalars scalars(update.optimizer, update.schedule, update.learning_rate,
                                  {update.steps_per_epoch, update.epochs});
  const auto count = static_cast<std::size_t>(examples(c, step));
  return {.minibatch = {pixels.data(), labels.data(), std::span(order).first(count)},
          .update = scalars.at(step_number(c, step)),
          .step = step_number(c, step),
          .epoch = epoch(c, step),
          .seed = seed(c)};
}

Twin::Twin(const Case& c)
    : case_(c),
      model_(model_of(c)),
      parameters_(model::parameters_of(model_)),
      rule_(rule_of(c)),
      weights_(reference::initial_parameters(model_, static_cast<std::uint64_t>(c.seed))),
      states_(arithmetic::update_rule(rule_).states.size()) {
  Numbers16 random(c.seed);
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    Tensor& w = weights_[i];
    for (std::vector<Tensor>& state : states_)
      state.emplace_back(parameters_[i].trained() ? w.size() : 0, 0.0f);
    switch (numbers(c)) {
      case Numbers::usual:
        break;
      case Numbers::denormal:
        make_denormal(w, random);
        break;
      case Numbers::negative_zero:
        make_negative_zero(w, random);
        for (std::vector<Tensor>& state : states_) make_negative_zero(state.back(), random);
        break;
      case Numbers::huge:
        make_huge(w, random);
        break;
    }
  }
  look_at(weights_);
}

bool Twin::step(const Examples& set) {
  const auto count = static_cast<std::size_t>(examples(case_, steps_));
  const std::span<const std::uint32_t> numbers = std::span(set.order).first(count);
  const reference::Draws draws{seed(case_), epoch(case_, steps_), {numbers.begin(), numbers.end()}};
  const arithmetic::UpdateScalars scalars =
      reference::update_scalars(update_of(case_), step_number(case_, steps_));
  ++steps_;
  std::vector<float> images;
  std::vector<std::uint8_t> labels;
  for (const std::uint32_t e : numbers) {
    for (std::size_t p = 0; p < set.picture; ++p)
      images.push_back(static_cast<float>(set.pixels[e * set.picture + p]) / 255.0f);
    labels.push_back(set.labels[e]);
  }
  auto step = reference::train_step(model_, weights_, {images, labels, draws}, 0);
  loss_ = step.loss;
  if (!step.finite) return false;
  look_at(step.gradients);
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    if (!parameters_[i].trained()) {
      weights_[i] = std::move(step.parameters[i]);
      continue;
    }
    std::vector<Tensor> states;
    for (const std::vector<Tensor>& state : states_) states.push_back(state[i]);
    reference::update(rule_, weights_[i], states, step.gradients[i],
                      reference::scalars_for(model_, parameters_[i], scalars));
    for (std::size_t s = 0; s < states.size(); ++s) states_[s][i] = std::move(states[s]);
  }
  look_at(weights_);
  return true;
}

bool Twin::finite() const {
  return std::ranges::all_of(weights_, [](const Tensor& tensor) {
    return std::ranges::all_of(tensor, [](float value) { return std::isfinite(value); });
  });
}

std::vector<Tensor> Twin::state() const {
  std::vector<Tensor> all = weights_;
  for (const std::vector<Tensor>& state : states_) {
    for (std::size_t i = 0; i < state.size(); ++i) {
      if (parameters_[i].trained()) all.push_back(state[i]);
    }
  }
  return all;
}

void Twin::look_at(const std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) {
    for (const float value : tensor) {
      saw_denormal_ |= std::fpclassify(value) == FP_SUBNORMAL;
      saw_negative_zero_ |= value == 0 && std::signbit(value);
    }
  }
}

std::vector<std::uint32_t> bits(const std::vector<Tensor>& tensors) {
  constexpr std::uint32_t kNan = 0x7fc00000;
  std::vector<std::uint32_t> all;
  for (const Tensor& tensor : tensors) {
    for (const float value : tensor)
      all.push_back(std::isnan(value) ? kNan : std::bit_cast<std::uint32_t>(value));
  }
  return all;
}

}  // namespace lockstep::property
