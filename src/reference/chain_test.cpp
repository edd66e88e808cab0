// Every kind of layer against central differences of the same network in double: the outside oracle, and the
// one place where a tolerance is right.
#include "reference/chain.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <variant>

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/same_bits_for_test.h"
#include "reference/convolution.h"
#include "reference/softmax_cross_entropy.h"
#include "reference/update.h"
#include "reference/winograd.h"

namespace lockstep::reference {
namespace {

using Doubles = std::vector<double>;
using model::Shape;

// ---- the network in double, one example at a time

struct DoubleLayer {
  Shape in, out;
  const Doubles& x;
  const Doubles* weight;
  const Doubles* bias;

  static std::size_t at(const Shape& s, int c, int y, int column) {
    return static_cast<std::size_t>((c * s.height + y) * s.width + column);
  }

  // Calls visit(output index, output channel, input y, input x, ky, kx) for every tap inside the image.
  template <class Window, class Visit>
  void visit_taps(const Window& window, model::Extent size, Visit visit) const {
    for (int o = 0; o < out.channels; ++o)
      for (int v = 0; v < out.height; ++v)
        for (int u = 0; u < out.width; ++u)
          for (int ky = 0; ky < size.height; ++ky)
            for (int kx = 0; kx < size.width; ++kx) {
              const int y = v * window.stride.height + ky - window.padding.height;
              const int column = u * window.stride.width + kx - window.padding.width;
              if (y < 0 || y >= in.height || column < 0 || column >= in.width) continue;
              visit(at(out, o, v, u), o, y, column, ky, kx);
            }
  }

  Doubles zeros() const { return Doubles(static_cast<std::size_t>(out.elements())); }

  Doubles operator()(const model::Conv2d& conv) const {
    Doubles y = zeros();
    const int plane = out.height * out.width;
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = (*bias)[i / static_cast<std::size_t>(plane)];
    visit_taps(conv, conv.kernel, [&](std::size_t i, int o, int row, int column, int ky, int kx) {
      for (int c = 0; c < in.channels; ++c) {
        const int w = ((o * in.channels + c) * conv.kernel.height + ky) * conv.kernel.width + kx;
        y[i] += (*weight)[static_cast<std::size_t>(w)] * x[at(in, c, row, column)];
      }
    });
    return y;
  }
  Doubles operator()(const model::Linear&) const {
    Doubles y = *bias;
    for (std::size_t o = 0; o < y.size(); ++o) {
      for (std::size_t i = 0; i < x.size(); ++i) y[o] += (*weight)[o * x.size() + i] * x[i];
    }
    return y;
  }
  Doubles operator()(const model::Relu&) const {
    Doubles y = x;
    for (double& value : y) value = std::max(value, 0.0);
    return y;
  }
  Doubles operator()(const model::AvgPool& pool) const {
    Doubles y = zeros();
    visit_taps(pool, pool.window, [&](std::size_t i, int c, int row, int column, int, int) {
      y[i] += x[at(in, c, row, column)] / (pool.window.height * pool.window.width);
    });
    return y;
  }
  Doubles operator()(const model::MaxPool& pool) const {
    Doubles y(static_cast<std::size_t>(out.elements()), -1e300);
    visit_taps(pool, pool.window, [&](std::size_t i, int c, int row, int column, int, int) {
      y[i] = std::max(y[i], x[at(in, c, row, column)]);
    });
    return y;
  }
  Doubles operator()(const model::Flatten&) const { return x; }
};

double mean_loss(const model::Model& model, const std::vector<Doubles>& parameters, const Tensor& images,
                 const std::vector<std::uint8_t>& labels) {
  const std::vector<Shape> shapes = model::infer_shapes(model);
  const auto pixels = static_cast<std::ptrdiff_t>(model.input.elements());
  double sum = 0;
  for (std::size_t e = 0; e < labels.size(); ++e) {
    const auto first = images.begin() + static_cast<std::ptrdiff_t>(e) * pixels;
    Doubles x(first, first + pixels);
    std::size_t next = 0;
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
      const model::LayerKind& kind = model.layers[i].kind;
      const bool trained =
          std::holds_alternative<model::Conv2d>(kind) || std::holds_alternative<model::Linear>(kind);
      const DoubleLayer layer{shapes[i], shapes[i + 1], x, trained ? &parameters[next] : nullptr,
                              trained ? &parameters[next + 1] : nullptr};
      Doubles y = std::visit(layer, kind);
      x = std::move(y);
      if (trained) next += 2;
    }
    double exps = 0;
    for (const double z : x) exps += std::exp(z);
    sum += std::log(exps) - x[labels[e]];
  }
  return sum / static_cast<double>(labels.size());
}

// ---- the check

Tensor random_tensor(std::size_t count, std::string_view name) {
  Tensor values(count);
  const std::uint32_t stream = stream_id(name);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(random_block(7, i, 0, stream)[0] >> 8) * 0x1p-23f - 1.0f;
  }
  return values;
}

constexpr int kExamples = 19;         // a whole pack and a short one
constexpr std::size_t kProbes = 25;   // elements checked per parameter
constexpr double kDifference = 1e-5;  // step of the central difference
constexpr double kTolerance = 2e-6;   // gradients are below 1; fp32 has 6e-8

void check_gradients(const model::Model& model) {
  const Tensor images = random_tensor(static_cast<std::size_t>(kExamples * model.input.elements()), "images");
  std::vector<std::uint8_t> labels;
  const int classes = model::classes_of(model);
  for (int e = 0; e < kExamples; ++e) labels.push_back(static_cast<std::uint8_t>(e % classes));

  std::vector<Tensor> parameters;
  std::vector<Doubles> doubles;
  for (const model::Parameter& parameter : model::parameters_of(model)) {
    parameters.push_back(random_tensor(parameter.elements(), parameter.name));
    for (float& value : parameters.back()) value *= 0.5f;
    doubles.emplace_back(parameters.back().begin(), parameters.back().end());
  }
  const std::vector<Tensor> activations = forward(model, parameters, kExamples, images);
  const Loss loss = softmax_cross_entropy(classes, activations.back(), labels);
  EXPECT_NEAR(loss_sum(loss.loss) / kExamples, mean_loss(model, doubles, images, labels), 1e-5);

  const std::vector<Tensor> sums = backward(model, parameters, kExamples, activations, loss.dz);
  ASSERT_EQ(sums.size(), parameters.size());
  for (std::size_t p = 0; p < sums.size(); ++p) {
    const Tensor mean = mean_gradient(sums[p], kExamples);
    ASSERT_EQ(mean.size(), parameters[p].size());
    for (std::size_t i = 0; i < mean.size(); i += 1 + mean.size() / kProbes) {
      const double kept = doubles[p][i];
      doubles[p][i] = kept + kDifference;
      const double above = mean_loss(model, doubles, images, labels);
      doubles[p][i] = kept - kDifference;
      const double below = mean_loss(model, doubles, images, labels);
      doubles[p][i] = kept;
      EXPECT_NEAR(mean[i], (above - below) / (2 * kDifference), kTolerance)
          << "parameter " << p << " at " << i;
    }
  }
}

using model::AvgPool, model::Conv2d, model::Flatten, model::Linear, model::MaxPool, model::Relu;

// The layer under test stands behind a convolution, whose gradients need its input gradient.
void check_behind_convolution(const model::LayerKind& kind) {
  check_gradients({.name = "behind",
                   .input = {2, 7, 6},
                   .layers = {{"conv1", Conv2d{.out_channels = 3, .kernel = {2, 2}}},
                              {"tested", kind},
                              {"flatten1", Flatten{}},
                              {"linear1", Linear{4}}}});
}

// Fast if allowed: conv1 in tiles of 4, conv2 in tiles of 2.
model::Model two_convolutions(arithmetic::ConvolutionRule rule) {
  return {.name = "two",
          .input = {16, 6, 6},
          .layers = {{"conv1", Conv2d{.out_channels = 17, .kernel = {3, 3}}},
                     {"conv2", Conv2d{.out_channels = 16, .kernel = {3, 3}}},
                     {"flatten1", Flatten{}}},
          .convolution = rule};
}

TEST(Chain, TakesTheAlgorithmThatTheRuleAllows) {
  const arithmetic::ConvolutionShape first{
      .in_channels = 16, .out_channels = 17, .height = 6, .width = 6, .kernel_height = 3, .kernel_width = 3};
  const arithmetic::ConvolutionShape second{
      .in_channels = 17, .out_channels = 16, .height = 4, .width = 4, .kernel_height = 3, .kernel_width = 3};
  const Tensor x = random_tensor(16 * 36, "x"), dy = random_tensor(16 * 4, "dy");
  const std::vector<Tensor> parameters{random_tensor(17 * 16 * 9, "w1"), random_tensor(17, "b1"),
                                       random_tensor(16 * 17 * 9, "w2"), random_tensor(16, "b2")};

  const model::Model fast = two_convolutions(arithmetic::ConvolutionRule::fast);
  const Tensor middle = winograd_forward(first, 4, 1, x, parameters[0], parameters[1]);
  const Tensor last = winograd_forward(second, 2, 1, middle, parameters[2], parameters[3]);
  const std::vector<Tensor> activations{x, middle, last, last};  // the last is flat
  EXPECT_THAT(forward(fast, parameters, 1, x), SameBits(activations));
  const Tensor back = winograd_input_gradient(second, 2, 1, dy, parameters[2]);
  EXPECT_THAT(
      backward(fast, parameters, 1, activations, dy),
      SameBits(std::vector<Tensor>{
          winograd_weight_gradient(first, 4, 1, x, back), convolution_bias_gradient(first, 1, back),
          winograd_weight_gradient(second, 2, 1, middle, dy), convolution_bias_gradient(second, 1, dy)}));

  const Tensor direct = convolution_forward(first, 1, x, parameters[0], parameters[1]);
  EXPECT_NE(direct, middle);
  EXPECT_THAT(forward(two_convolutions(arithmetic::ConvolutionRule::direct), parameters, 1, x)[1],
              SameBits(direct));
}

TEST(Gradients, OfLinearLayers) {
  check_gradients(
      {.name = "linear", .input = {6}, .layers = {{"linear1", Linear{5}}, {"linear2", Linear{3}}}});
}
TEST(Gradients, OfConvolution) { check_behind_convolution(Conv2d{.out_channels = 4, .kernel = {3, 2}}); }
TEST(Gradients, OfConvolutionWithStrideAndPadding) {
  check_behind_convolution(Conv2d{.out_channels = 2, .kernel = {3, 2}, .stride = {2, 3}, .padding = {1, 2}});
}
TEST(Gradients, OfConvolutionWithPerPackChains) {
  check_gradients({.name = "sixteens",
                   .input = {16, 3, 2},
                   .layers = {{"conv1", Conv2d{.out_channels = 16, .kernel = {3, 3}, .padding = {1, 1}}},
                              {"flatten1", Flatten{}},
                              {"linear1", Linear{3}}}});
}
TEST(Gradients, OfFastConvolution) {
  model::Model model = two_convolutions(arithmetic::ConvolutionRule::fast);
  model.layers.push_back({"linear1", Linear{3}});
  check_gradients(model);
}
TEST(Gradients, OfRelu) { check_behind_convolution(Relu{}); }
TEST(Gradients, OfAveragePoolByTwo) { check_behind_convolution(AvgPool{.window = {2, 2}, .stride = {2, 2}}); }
TEST(Gradients, OfAveragePoolThatOverlaps) {
  check_behind_convolution(AvgPool{.window = {3, 2}, .stride = {2, 1}, .padding = {1, 1}});
}
TEST(Gradients, OfMaxPool) { check_behind_convolution(MaxPool{.window = {2, 2}, .stride = {2, 2}}); }
TEST(Gradients, OfMaxPoolThatOverlaps) {
  check_behind_convolution(MaxPool{.window = {3, 2}, .stride = {2, 1}, .padding = {1, 1}});
}

}  // namespace
}  // namespace lockstep::reference
