#include "gpu/probe.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "arithmetic/pack.h"
#include "arithmetic/scalar.h"
#include "base/error.h"
#include "base/float_environment.h"
#include "base/hex_float.h"
#include "base/random.h"

namespace lockstep::gpu {
namespace {

constexpr std::array kEdges{0.0f,
                            -0.0f,
                            0x1p-149f,
                            -0x1p-149f,
                            0x1.8p-148f,
                            0x1.fffffcp-127f,
                            0x1p-126f,
                            0x1.000002p-126f,
                            0x1p-64f,
                            0x1.000002p-24f,
                            0x1.fffffep-1f,
                            1.0f,
                            -1.0f,
                            0x1.000002p+0f,
                            -0x1.000002p+0f,
                            0x1.000004p+0f,
                            3.0f,
                            10.0f,
                            0x1p+24f,
                            0x1.000002p+24f,
                            -87.5f,
                            88.0f,
                            0x1p+64f,
                            0x1.fffffep+127f,
                            -0x1.fffffep+127f,
                            std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()};

struct Operands {
  float a, b, c;
};

// An operation of a kernel, and what the host makes of the same operands.
struct Operation {
  const char* name;
  int operands;
  float (*expected)(const Operands&);
};

float sum(const Operands& o) { return o.a + o.b; }
float product(const Operands& o) { return o.a * o.b; }
float fused(const Operands& o) { return std::fma(o.a, o.b, o.c); }
float quotient(const Operands& o) { return o.a / o.b; }
float square_root(const Operands& o) { return std::sqrt(o.a); }
float unfused(const Operands& o) {
  const float rounded = o.b * o.c;
  return rounded + o.a;
}
float product_and_zero(const Operands& o) {
  const float rounded = o.a * o.c;
  return rounded + 0.0f;
}

float exponential(const Operands& o) { return arithmetic::exp_law(o.a); }
float logarithm(const Operands& o) { return arithmetic::log_law(o.a); }
float pixel(const Operands& o) {
  return static_cast<float>(static_cast<std::uint8_t>(std::bit_cast<std::uint32_t>(o.a))) / 255.0f;
}
float relu(const Operands& o) { return o.a > 0 || std::isnan(o.a) ? o.a : 0.0f; }
float maximum(const Operands& o) { return o.b > o.a || (std::isnan(o.b) && !std::isnan(o.a)) ? o.b : o.a; }

// In the order of the kernels' results.
constexpr std::array<Operation, 10> kScalarOperations{
    {{"a + b", 2, sum},
     {"a * b", 2, product},
     {"fma(a, b, c)", 3, fused},
     {"a / b", 2, quotient},
     {"sqrt(a)", 1, square_root},
     {"exp(a)", 1, exponential},
     {"log(a)", 1, logarithm},
     {"b * c + a in two roundings", 3, unfused},
     {"a float of the bits of a", 1,
      [](const Operands& o) { return static_cast<float>(std::bit_cast<std::int32_t>(o.a)); }},
     {"the last byte of a / 255", 1, pixel}}};
constexpr std::array<Operation, 12> kLaneOperations{
    {{"a + b of lanes", 2, sum},
     {"a * b of lanes", 2, product},
     {"fma(a, b, c) of lanes", 3, fused},
     {"a / b of lanes", 2, quotient},
     {"exp(a) of lanes", 1, exponential},
     {"log(a) of lanes", 1, logarithm},
     {"b * c + a of lanes in two roundings", 3, unfused},
     {"a * c + 0 of lanes", 3, product_and_zero},
     {"relu(a) of lanes", 1, relu},
     {"the maximum of lanes", 2, maximum},
     {"is a of lanes infinite or NaN?", 1,
      [](const Operands& o) { return std::isfinite(o.a) ? 0.0f : 1.0f; }},
     {"sqrt(a) of lanes", 1, square_root}}};

// Every third case has any bits, the others have exponents near each other, where sums and products meet.
float draw(std::uint32_t word, std::size_t index) {
  if (index % 3 == 0) return std::bit_cast<float>(word);
  return std::bit_cast<float>((word & 0x807fffffu) | (120 + (word >> 23) % 16) << 23);
}

std::vector<Operands> cases_of(std::size_t random_cases) {
  std::vector<Operands> cases;
  cases.reserve(kEdges.size() * kEdges.size() * kEdges.size() + random_cases);
  for (const float a : kEdges) {
    for (const float b : kEdges) {
      for (const float c : kEdges) cases.push_back({a, b, c});
    }
  }
  const std::uint32_t stream = stream_id("probe:arithmetic");
  for (std::size_t i = 0; i < random_cases; ++i) {
    const std::array<std::uint32_t, 4> words = random_block(0, i, 0, stream);
    cases.push_back({draw(words[0], i), draw(words[1], i), draw(words[2], i)});
  }
  while (cases.size() % arithmetic::kPack != 0) cases.push_back({1, 1, 1});
  return cases;
}

bool same(float expected, float found) {
  return std::bit_cast<std::uint32_t>(expected) == std::bit_cast<std::uint32_t>(found) ||
         (std::isnan(expected) && std::isnan(found));  // the bits of a NaN are outside the law
}

std::string operand_text(const Operation& operation, const Operands& o) {
  std::string text = "a = " + hex_float(o.a);
  if (operation.operands > 1) text += ", b = " + hex_float(o.b);
  if (operation.operands > 2) text += ", c = " + hex_float(o.c);
  return text;
}

class Prober {
 public:
  Prober(Driver& driver, std::span<const Operands> cases)
      : driver_(driver),
        cases_(cases),
        out_(driver.allocate(std::max(kScalarOperations.size(), kLaneOperations.size()) * cases.size() *
                             sizeof(float))) {
    for (std::unique_ptr<Memory>& memory : operands_) memory = driver.allocate(cases.size() * sizeof(float));
    std::array<std::vector<float>, 3> columns;
    for (const Operands& o : cases) {
      columns[0].push_back(o.a);
      columns[1].push_back(o.b);
      columns[2].push_back(o.c);
    }
    for (std::size_t i = 0; i < columns.size(); ++i)
      driver.write(Queue::compute, *operands_[i], 0, std::as_bytes(std::span(columns[i])));
    driver.wait(*driver.record(Queue::compute));  // here the columns go
  }

  std::optional<Mismatch> run(std::string_view kernel, std::span<const Operation> operations,
                              std::size_t work_items) {
    const std::vector<Argument> arguments{operands_[0].get(), operands_[1].get(), operands_[2].get(),
                                          out_.get(), static_cast<int>(cases_.size())};
    driver_.launch(Queue::compute, kernel, arguments, work_items);
    std::vector<float> found(operations.size() * cases_.size());
    driver_.read(Queue::compute, *out_, 0, std::as_writable_bytes(std::span(found)));
    driver_.wait(*driver_.record(Queue::compute));
    const FloatEnvironment environment;  // again: a driver may have changed it
    for (std::size_t o = 0; o < operations.size(); ++o) {
      for (std::size_t i = 0; i < cases_.size(); ++i) {
        const float expected = operations[o].expected(cases_[i]), got = found[o * cases_.size() + i];
        if (!same(expected, got))
          return Mismatch{operations[o].name, operand_text(operations[o], cases_[i]),
                          std::bit_cast<std::uint32_t>(expected), std::bit_cast<std::uint32_t>(got)};
      }
    }
    return std::nullopt;
  }

 private:
  Driver& driver_;
  const std::span<const Operands> cases_;
  std::array<std::unique_ptr<Memory>, 3> operands_;
  const std::unique_ptr<Memory> out_;
};

}  // namespace

std::optional<Mismatch> probe(Driver& driver, std::size_t cases) {
  const FloatEnvironment environment;
  constexpr std::size_t kAtOnce = 1 << 18;
  const std::vector<Operands> all = cases_of(cases);
  for (std::size_t first = 0; first < all.size(); first += kAtOnce) {
    const std::span<const Operands> some =
        std::span(all).subspan(first, std::min(kAtOnce, all.size() - first));
    Prober prober(driver, some);
    if (auto mismatch = prober.run("probe_arithmetic", kScalarOperations, some.size())) return mismatch;
    if (auto mismatch =
            prober.run("probe_lanes", kLaneOperations, driver.style().items_for_floats(some.size())))
      return mismatch;
  }
  return std::nullopt;
}

std::string inexactness(Driver& driver, std::size_t cases) {
  const std::optional<Mismatch> mismatch = probe(driver, cases);
  if (!mismatch) return {};
  return fmt::format(
      "rounds differently: {} with {} gave {:#010x}, expected {:#010x}; the same bits cannot be "
      "promised on it, train without it",
      mismatch->operation, mismatch->operands, mismatch->found, mismatch->expected);
}

}  // namespace lockstep::gpu
