// Two crews that share nothing but a transport run one job with the bits of one crew: the rehearsal of a
// second host.
#include <algorithm>
#include <exception>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/same_bits_for_test.h"
#include "cpu/cpu_device.h"
#include "program/compile.h"
#include "run/runner.h"
#include "run/two_layers_for_test.h"
#include "transport/threads/thread_transport.h"

namespace lockstep::run {
namespace {

constexpr int kRanks = 5, kFirstOfSecond = 2;
constexpr std::size_t kPixels = 36;

struct Pictures {
  std::vector<std::uint8_t> pixels, labels;
  std::vector<std::uint32_t> order;
  Pictures() {
    for (std::uint32_t e = 0; e < 150; ++e) {
      order.push_back(149 - e);
      labels.push_back(static_cast<std::uint8_t>(e * 5 % 4));
      for (std::size_t p = 0; p < kPixels; ++p)
        pixels.push_back(static_cast<std::uint8_t>(e * 37 + p * p * 11));
    }
  }
  device::StepInput input(std::size_t count) const {
    return {{pixels.data(), labels.data(), std::span(order).first(count)}, {0.1f, 0.9f}};
  }
};
const Pictures kPictures;

Weights start() { return weights_by_index(two_layers()); }

// The ranks of both crews have packs of the same groups: their statistics meet in the middle of a step.
model::Model with_batch_norm() {
  model::Model model = two_layers();
  model.layers.insert(model.layers.begin() + 1,
                      {{"norm1", model::BatchNorm{}}, {"norm2", model::BatchNorm{.ghost = 48}}});
  return model;
}

std::vector<std::unique_ptr<device::Device>> devices_of(int first, int count) {
  std::vector<std::string> names;
  for (int rank = first; rank < first + count; ++rank) names.push_back(fmt::format("cpu:{}", rank));
  return cpu::make_cpu_devices({.names = names, .threads = 1, .bind = false});
}

Programs programs_of(const model::Model& model, bool shard) {
  return data_parallel(program::compile_training(model, {.rule = arithmetic::UpdateKind::momentum}),
                       {.ranks = kRanks, .shard_optimizer = shard, .smallest_bucket = 20});
}

// A part of the ranks, with a runner of its own.
struct Host {
  Host(transport::ThreadHub& hub, int first, int count, bool shard, const model::Model& model = two_layers())
      : crew(devices_of(first, count), {.share_cores = true,
                                        .first_rank = first,
                                        .ranks = kRanks,
                                        .connect = [&hub](int rank, transport::RankOptions options) {
                                          return hub.join(rank, std::move(options));
                                        }}) {
    runner = std::make_unique<Runner>(crew, programs_of(model, shard),
                                      RunnerOptions{.most_examples = 150, .record = true});
    runner->upload(weights_by_index(model));
  }
  Crew crew;
  std::unique_ptr<Runner> runner;
};

// Both at once, as two hosts are.
template <class Work>
void on_both(Host& a, Host& b, const Work& work) {
  std::exception_ptr error;
  std::thread other([&] {
    try {
      work(b);
    } catch (...) {
      error = std::current_exception();
    }
  });
  try {
    work(a);
  } catch (...) {
    other.join();
    throw;
  }
  other.join();
  if (error) std::rethrow_exception(error);
}

void expect_bits_of_one_crew(const model::Model& model, bool shard) {
  SCOPED_TRACE(shard ? "sharded optimizer" : "whole replicas");
  Crew whole(devices_of(0, kRanks), {.share_cores = true});
  Runner expected(whole, programs_of(model, shard), {.most_examples = 150, .record = true});
  expected.upload(weights_by_index(model));

  transport::ThreadHub hub(kRanks);
  Host first(hub, 0, kFirstOfSecond, shard, model),
      second(hub, kFirstOfSecond, kRanks - kFirstOfSecond, shard, model);
  for (const std::size_t batch : {150U, 33U, 1U, 150U}) {
    const StepResult right = expected.step(kPictures.input(batch));
    std::array<StepResult, 2> found;
    on_both(first, second,
            [&](Host& host) { found[&host == &first ? 0 : 1] = host.runner->step(kPictures.input(batch)); });
    for (const StepResult& result : found) {
      EXPECT_TRUE(result.finite);
      EXPECT_THAT(result.loss, SameBits(right.loss));
      EXPECT_EQ(result.seen, right.seen);
      EXPECT_EQ(result.right, right.right);
      EXPECT_EQ(result.packs, right.packs);
      EXPECT_FALSE(result.finding);
    }
    EXPECT_EQ(found[0].hashes, right.hashes) << "the first rank's crew has the hashes of all";
    EXPECT_TRUE(found[1].hashes.empty());
    const Weights weights = expected.download();
    for (int d = 0; d < first.crew.size(); ++d) EXPECT_THAT(first.runner->download(d), SameBits(weights));
    for (int d = 0; d < second.crew.size(); ++d) EXPECT_THAT(second.runner->download(d), SameBits(weights));
  }
}

TEST(TwoCrews, HaveTheBitsOfOneCrew) {
  for (const bool shard : {false, true}) expect_bits_of_one_crew(two_layers(), shard);
}

TEST(TwoCrews, HaveTheBitsOfOneCrewWithBatchNorm) {
  for (const bool shard : {false, true}) expect_bits_of_one_crew(with_batch_norm(), shard);
}

TEST(TwoCrews, AReplicaThatPartsIsNamedByTheFirstRanksCrew) {
  transport::ThreadHub hub(kRanks);
  Host first(hub, 0, kFirstOfSecond, false), second(hub, kFirstOfSecond, kRanks - kFirstOfSecond, false);
  Weights wrong = start();
  wrong[1][0] += 1;
  second.runner->executable(1).upload(second.runner->program().parameters[1], wrong[1]);
  std::array<std::optional<ReplicaFinding>, 2> found;
  on_both(first, second,
          [&](Host& host) { found[&host == &first ? 0 : 1] = host.runner->examine_replicas(); });
  ASSERT_TRUE(found[0]);
  EXPECT_EQ(found[0]->parameter, 1U);
  EXPECT_EQ(found[0]->devices, std::vector{kFirstOfSecond + 1});
  EXPECT_FALSE(found[1]);
}

TEST(TwoCrews, AStepThatIsNotFiniteIsRefusedByBoth) {
  for (const bool shard : {false, true}) {
    transport::ThreadHub hub(kRanks);
    Host first(hub, 0, kFirstOfSecond, shard), second(hub, kFirstOfSecond, kRanks - kFirstOfSecond, shard);
    Weights weights = start();
    weights.back()[0] = std::numeric_limits<float>::infinity();
    on_both(first, second, [&](Host& host) {
      host.runner->upload(weights);
      EXPECT_FALSE(host.runner->step(kPictures.input(150)).finite);
      EXPECT_THAT(host.runner->download(1), SameBits(weights));
    });
  }
}

TEST(TwoCrews, AnErrorInOneEndsTheOther) {
  transport::ThreadHub hub(kRanks);
  Host first(hub, 0, kFirstOfSecond, false), second(hub, kFirstOfSecond, kRanks - kFirstOfSecond, false);
  on_both(first, second, [&](Host& host) {
    if (&host == &second) {
      EXPECT_THROW(host.crew.run([](int) { throw Error(Fault::device, "it broke"); }), Error);
    } else {
      EXPECT_THROW(host.runner->step(kPictures.input(150)), Error);
    }
  });
}

}  // namespace
}  // namespace lockstep::run
