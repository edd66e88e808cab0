#include "train/calibrate.h"

#include <chrono>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cpu/cpu_device.h"
#include "cpu/kernels.h"
#include "device/faulty_device.h"
#include "device/passing_on.h"
#include "model/zoo.h"

namespace lockstep::train {
namespace {

data::Dataset pictures(std::size_t count) {
  data::Dataset set{1, 28, 28, 10, std::vector<std::uint8_t>(count * 28 * 28, 7), {}};
  for (std::size_t e = 0; e < count; ++e) set.labels.push_back(static_cast<std::uint8_t>(e % 10));
  return set;
}

const Job kJob{.model = model::zoo_model("mlp"), .batch = 64};

// The second device says that it is of another kind.
struct Crew {
  std::unique_ptr<run::Crew> crew;
  explicit Crew(const std::string& second, device::Drill drill = {.kind = device::Drill::Kind::slow}) {
    auto devices = cpu::make_cpu_devices({.names = {"cpu:0", second}, .threads = 1, .bind = false});
    devices[1] = device::make_faulty(std::move(devices[1]), drill, nullptr);
    crew = std::make_unique<run::Crew>(std::move(devices), run::Crew::Options{.share_cores = true});
  }
};

TEST(Calibrate, DevicesThatAreAlikeNeedNoMeasurement) {
  Crew same("cpu:1");
  EXPECT_TRUE(shares_for(*same.crew, kJob, {}, pictures(64)).empty());
}

TEST(Calibrate, DevicesOfOneKindAndOtherModelsAreMeasured) {
  std::vector<std::unique_ptr<device::Device>> devices;
  for (const cpu::Kernels* kernels : cpu::usable_kernels())
    devices.push_back(cpu::make_cpu_device(
        {.name = fmt::format("cpu:{}", devices.size()), .threads = 1, .target = std::string(kernels->name)}));
  if (devices.size() < 2) GTEST_SKIP() << "this CPU has one set of kernels";
  const std::size_t count = devices.size();
  run::Crew crew(std::move(devices), {.share_cores = true});
  EXPECT_EQ(shares_for(crew, kJob, {}, pictures(64)).size(), count);
}

TEST(Calibrate, GivenSharesStay) {
  Crew mixed("opencl:0");
  EXPECT_EQ(shares_for(*mixed.crew, kJob, {.shares = {5, 1}}, pictures(64)), (std::vector<double>{5, 1}));
}

TEST(Calibrate, DevicesOfOtherKindsAreMeasuredAndADrillIsSpared) {
  Crew mixed("opencl:0", {.kind = device::Drill::Kind::fail});
  const std::vector<double> shares = shares_for(*mixed.crew, kJob, {}, pictures(64));
  ASSERT_EQ(shares.size(), 2U);
  for (const double share : shares) EXPECT_GT(share, 0);
}

// Rests after every segment, many times as long as the segment took, however busy the machine is.
class RestingDevice final : public device::PassingDevice {
 public:
  explicit RestingDevice(std::unique_ptr<device::Device> inner)
      : PassingDevice(*inner), inner_(std::move(inner)) {}

  std::string name() const override { return "opencl:0"; }
  std::unique_ptr<device::Executable> load(const program::Program& program,
                                           const device::LoadOptions& options) override {
    return std::make_unique<Executable>(inner_->load(program, options));
  }

 private:
  struct Executable final : device::PassingExecutable {
    using PassingExecutable::PassingExecutable;
    void run(std::size_t segment, const device::StepInput& input, device::Watcher& watcher) override {
      const auto begin = std::chrono::steady_clock::now();
      PassingExecutable::run(segment, input, watcher);
      std::this_thread::sleep_for(std::chrono::milliseconds(20) +
                                  9 * (std::chrono::steady_clock::now() - begin));
    }
  };

  const std::unique_ptr<device::Device> inner_;
};

TEST(Calibrate, TheFasterDeviceGetsMore) {
  for (const std::size_t slow : {0U, 1U}) {
    auto devices = cpu::make_cpu_devices({.names = {"cpu:0", "cpu:1"}, .threads = 1, .bind = false});
    devices[slow] = std::make_unique<RestingDevice>(std::move(devices[slow]));
    run::Crew crew(std::move(devices), {.share_cores = true});
    const std::vector<double> shares = shares_for(crew, kJob, {}, pictures(64));
    ASSERT_EQ(shares.size(), 2U);
    EXPECT_GT(shares[1 - slow], 2 * shares[slow]);
  }
}

}  // namespace
}  // namespace lockstep::train
