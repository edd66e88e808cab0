// Whole steps on OpenCL devices against the naive twins, in every style, bit for bit.
#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "device/kernels_for_test.h"
#include "device/steps_for_test.h"
#include "gpu/gpu_device.h"
#include "gpu/gpu_executable.h"
#include "gpu/opencl/opencl_driver.h"
#include "model/zoo.h"
#include "program/checked_for_test.h"

namespace lockstep::gpu::opencl {
namespace {

// The first device there is, in each style.
constexpr std::array<const char*, 3> kStyles{"Lanes", "NarrowPacks", "Packs"};
class OpenClDevice : public testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {
 protected:
  static void SetUpTestSuite() {
    std::string problem;
    const std::shared_ptr<const Library> library = Library::open(problem);
    if (!library) return;
    const std::vector<Found> found = library->devices();
    if (found.empty()) return;
    for (const Style& style : {kLaneStyle, pack_style(8), pack_style(16)})
      devices().push_back(make_gpu_device(make_opencl_driver(
          library, {.found = found[0], .style = style, .cache = device::kernels_for_test()})));
  }
  static void TearDownTestSuite() { devices().clear(); }
  static std::vector<std::unique_ptr<device::Device>>& devices() {
    static std::vector<std::unique_ptr<device::Device>> made;
    return made;
  }
};

TEST_P(OpenClDevice, StepsEqualTheNaiveTwin) {
  if (devices().empty()) GTEST_SKIP() << "no OpenCL device here";
  const auto [style, index] = GetParam();
  const device::Case& c = device::step_case(index);
  for (const int examples : c.examples) {
    const device::StepOfCase step(c, examples, static_cast<unsigned>(index) + 1);
    for (const bool plain : {false, true}) {
      SCOPED_TRACE(testing::Message() << c.name << ", " << examples << " examples"
                                      << (plain ? ", neither trimmed nor fused" : ""));
      step.expect_on(*devices()[style], device::Order::layer, plain);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, OpenClDevice,
                         testing::Combine(testing::Range<std::size_t>(0, kStyles.size()),
                                          testing::Range<std::size_t>(0, device::step_cases())),
                         [](const auto& instance) {
                           return fmt::format("{}Case{}", kStyles[std::get<0>(instance.param)],
                                              std::get<1>(instance.param));
                         });

// Of the first device there is, as it is on a CPU; null: there is none.
std::unique_ptr<Driver> first_driver() {
  std::string problem;
  const std::shared_ptr<const Library> library = Library::open(problem);
  if (!library || library->devices().empty()) return nullptr;
  const Found found = library->devices().front();
  return make_opencl_driver(
      library,
      {.found = found, .style = pack_style(found.vector_floats), .cache = device::kernels_for_test()});
}

// The host only fills queues: it waits once, for the check of the gradients, and the loss and the predictions
// come with the answer.
TEST(OpenClStep, OfLenetTakesFewLaunchesAndOneWait) {
  const std::unique_ptr<Driver> driver = first_driver();
  if (!driver) GTEST_SKIP() << "no OpenCL device here";
  const std::vector<std::uint8_t> pixels(256 * 28 * 28, 100), labels(256, 3);
  std::vector<std::uint32_t> order(256);
  std::iota(order.begin(), order.end(), 0u);
  for (const auto rule : {arithmetic::ConvolutionRule::direct, arithmetic::ConvolutionRule::fast}) {
    model::Model lenet = model::zoo_model("lenet");
    lenet.convolution = rule;
    const program::Program p = program::checked_data_parallel(program::compile_training(lenet), {}, 16)[0];
    GpuExecutable executable(p, {}, *driver);
    const device::StepInput input{{pixels.data(), labels.data(), order}, {0.1f}};
    run_step(executable, p, input);
    const Counters before = driver->counters();
    EXPECT_GT(before.waits, 10) << "a first step is followed instruction by instruction";
    run_step(executable, p, input);
    float loss = 0;
    executable.download(p.loss, {&loss, 1});
    EXPECT_EQ(executable.counts(p.tally)[3], 256);
    EXPECT_LE(driver->counters().launches - before.launches, 60);
    EXPECT_EQ(driver->counters().waits - before.waits, 1);
    RecordProperty(rule == arithmetic::ConvolutionRule::fast ? "fast_launches" : "direct_launches",
                   static_cast<int>(driver->counters().launches - before.launches));
  }
}

// Others copy what was sent out of the host's memory while its sender already hashes its parameters.
TEST(OpenClExchange, ShowingAParameterLeavesWhatIsBeingSent) {
  const std::unique_ptr<Driver> driver = first_driver();
  if (!driver) GTEST_SKIP() << "no OpenCL device here";
  const program::Program p =
      program::checked_data_parallel(program::compile_training(model::zoo_model("mlp")), {.ranks = 2}, 16)[0];
  GpuExecutable executable(p, {.alone = false}, *driver);
  for (const program::BufferId id : p.parameters) {
    const std::size_t elements = p.buffers[static_cast<std::size_t>(id)].elements;
    executable.upload(id, std::vector<float>(elements, 1.0f));
    const std::span<std::byte> bytes = executable.bytes({{id, 0, elements}});
    const std::span sent(reinterpret_cast<float*>(bytes.data()), elements);
    std::ranges::fill(sent, 2.0f);
    EXPECT_EQ(std::ranges::count(executable.parameter(id), 1.0f), static_cast<std::ptrdiff_t>(elements));
    EXPECT_EQ(std::ranges::count(sent, 2.0f), static_cast<std::ptrdiff_t>(elements));
  }
}

}  // namespace
}  // namespace lockstep::gpu::opencl
