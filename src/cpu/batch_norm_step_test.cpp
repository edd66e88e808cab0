// The eight instructions of batch norm in one step, written by hand: segments over packs and over elements,
// with joins of groups between them, on any number of threads, against plain loops.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "arithmetic/statistics.h"
#include "base/same_bits_for_test.h"
#include "cpu/batch_norm_for_test.h"
#include "cpu/cpu_device.h"
#include "cpu/cpu_executable.h"
#include "cpu/layers_for_test.h"
#include "device/steps_for_test.h"

namespace lockstep::cpu {
namespace {

using arithmetic::PackRange;
using program::Join;
using program::Region;
using program::Role;
using program::Segment;

constexpr std::size_t kChannels = 19;
constexpr program::Shape kShape{kChannels, 2, 3};
constexpr std::size_t kFloats = std::size_t{kChannels} * 2 * 3 * arithmetic::kPack;  // of a pack
constexpr float kEps = 1e-3f, kMomentum = 0.25f;

struct NormStepCase {
  int examples = 0;
  PackRange share = {};  // packs of the device
  program::PackGroups groups = {};
  bool relu = false;

  int packs() const { return arithmetic::pack_count(examples); }
  int group_count() const { return groups.count(packs()); }
  // Of the device: [first, last).
  int first_group() const { return groups.of(share.first); }
  int last_group() const { return groups.of(share.last - 1) + 1; }
  PackRange packs_of(int group) const {
    return groups.packs == 0 ? PackRange{0, packs()}
                             : PackRange{group * groups.packs, std::min((group + 1) * groups.packs, packs())};
  }
  std::size_t present(int pack) const {
    return static_cast<std::size_t>(std::min(arithmetic::kPack, examples - pack * arithmetic::kPack));
  }
  PlainNorm plain(int pack) const { return {kChannels, kFloats / kChannels / kPack, present(pack)}; }
};

// Buffers, in this order.
struct Id {
  enum : program::BufferId {
    x,
    dy,
    y,
    dx,
    evaluated,
    triples,
    group_triples,
    coefficients,
    sums,
    group_sums,
    factors,
    running,
    gamma,
    beta,
    running_mean,
    running_var,
    gamma_partial,
    beta_partial,
    gamma_gradient,
    beta_gradient,
    verdict
  };
};

// Segments, in this order.
enum : std::size_t {
  kStatistics,
  kCoefficients,
  kForward,
  kFactors,
  kBackward,
  kRunning,
  kRunningCoefficients,
  kEvaluation
};

Region row_of(program::BufferId buffer, int row, std::size_t numbers) {
  return {buffer, static_cast<std::size_t>(row) * numbers * kChannels, numbers * kChannels};
}

program::Program make_norm_program(const NormStepCase& c) {
  using namespace program;
  const auto packs = static_cast<std::size_t>(c.packs()), groups = static_cast<std::size_t>(c.group_count());
  const std::size_t elements = kFloats / kPack;
  Program p;
  p.purpose = Purpose::replay;
  p.packs = c.packs();
  p.input = kShape;
  for (const char* name : {"x", "dy", "y", "dx", "evaluated"})
    p.buffers.push_back({name, Role::activation, elements});
  p.buffers.push_back({"triples", Role::statistics, packs * 3 * kChannels});
  p.buffers.push_back({"group triples", Role::statistics, groups * 3 * kChannels});
  p.buffers.push_back({"coefficients", Role::statistics, groups * 4 * kChannels});
  p.buffers.push_back({"sums", Role::statistics, packs * 2 * kChannels});
  p.buffers.push_back({"group sums", Role::statistics, groups * 2 * kChannels});
  p.buffers.push_back({"factors", Role::statistics, groups * 3 * kChannels});
  p.buffers.push_back({"running coefficients", Role::statistics, 4 * kChannels});
  for (const char* name : {"gamma", "beta", "running mean", "running var"})
    p.buffers.push_back({name, Role::parameter, kChannels});
  for (const char* name : {"gamma partial", "beta partial"})
    p.buffers.push_back({name, Role::partial, kChannels});
  for (const char* name : {"gamma gradient", "beta gradient"})
    p.buffers.push_back({name, Role::gradient, kChannels});
  p.buffers.push_back({"verdict", Role::counts, 1});

  const auto over_elements = [](std::string name, Instruction instruction) {
    return Segment{std::move(name), Segment::Over::elements, {std::move(instruction)}};
  };
  constexpr int kAll = static_cast<int>(kChannels);
  p.segments = {
      {"statistics",
       Segment::Over::packs,
       {{NormStatistics{kShape}, "bn", {Id::x}, {Id::triples}, {0}}},
       c.share},
      over_elements("coefficients", {NormCoefficients{kAll, kEps, c.first_group(), c.last_group()},
                                     "bn",
                                     {Id::group_triples, Id::gamma, Id::beta},
                                     {Id::coefficients}}),
      {"forward",
       Segment::Over::packs,
       {{NormForward{kShape, c.groups, c.relu}, "bn", {Id::x, Id::coefficients}, {Id::y}},
        {NormSums{kShape, c.groups, c.relu},
         "bn",
         {Id::dy, Id::x, Id::coefficients},
         {Id::sums, Id::gamma_partial, Id::beta_partial},
         {1}}},
       c.share},
      over_elements("factors", {NormFactors{kAll, c.first_group(), c.last_group()},
                                "bn",
                                {Id::group_triples, Id::coefficients, Id::group_sums},
                                {Id::factors}}),
      {"backward",
       Segment::Over::packs,
       {{NormInputGradient{kShape, c.groups, c.relu},
         "bn",
         {Id::dy, Id::x, Id::coefficients, Id::factors},
         {Id::dx}}},
       c.share},
      over_elements("running", {NormRunning{kAll, kMomentum, c.group_count()},
                                "bn",
                                {Id::verdict, Id::group_triples, Id::running_mean, Id::running_var},
                                {Id::running_mean, Id::running_var}}),
      over_elements("running coefficients", {RunningCoefficients{kAll, kEps},
                                             "bn",
                                             {Id::running_mean, Id::running_var, Id::gamma, Id::beta},
                                             {Id::running}}),
      {"evaluation",
       Segment::Over::packs,
       {{NormForward{kShape, {}, c.relu}, "bn", {Id::x, Id::running}, {Id::evaluated}}},
       c.share}};
  // What the test looks at has a place for every pack.
  for (const BufferId buffer : {Id::x, Id::dy, Id::y, Id::dx, Id::evaluated})
    p.exchange.push_back({Send{1, {buffer, 0, elements, c.share.first}}});
  return p;
}

// Numbers by pack, met in the pack tree.
template <class Meet>
Tensor tree_of(const std::vector<Tensor>& by_pack, PackRange range, const Meet& meet) {
  if (range.size() == 1) return by_pack[static_cast<std::size_t>(range.first)];
  const int middle = range.first + arithmetic::left_size(range.size());
  Tensor left = tree_of(by_pack, {range.first, middle}, meet);
  meet(left, tree_of(by_pack, {middle, range.last}, meet));
  return left;
}

void meet_triples(Tensor& left, const Tensor& right) {
  arithmetic::join_statistics(left.data(), right.data(), kChannels);
}

void meet_sums(Tensor& left, const Tensor& right) {
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = left[i] + right[i];
}

// A step's numbers, and what plain loops make of them. Groups and packs by their numbers in the minibatch.
struct PlainNormStep {
  explicit PlainNormStep(const NormStepCase& c) {
    std::mt19937 random(static_cast<unsigned>(c.examples));
    for (int pack = 0; pack < c.packs(); ++pack) {
      x.push_back(random_numbers(kFloats, random));
      for (float& value : x.back()) value = 2 * value + 3;
      dy.push_back(random_numbers(kFloats, random));
      for (std::size_t i = 0; i < kFloats; ++i)
        if (i % kPack >= c.present(pack))
          x.back()[i] = dy.back()[i] = std::numeric_limits<float>::quiet_NaN();
      triples.push_back(c.plain(pack).triples(x.back()));
    }
    gamma = random_numbers(kChannels, random);
    beta = random_numbers(kChannels, random);
    mean = old_mean = random_numbers(kChannels, random);
    var = old_var = Tensor(kChannels, 1.5f);
    std::vector<Tensor> group_coefficients, group_triples;
    for (int group = 0; group < c.group_count(); ++group) {
      const Tensor& triple = group_triples.emplace_back(tree_of(triples, c.packs_of(group), meet_triples));
      Tensor variances(kChannels);
      for (std::size_t i = 0; i < kChannels; ++i) variances[i] = triple[2 * kChannels + i] / triple[i];
      group_coefficients.push_back(plain_coefficients(
          {triple.begin() + kChannels, triple.begin() + 2 * kChannels}, variances, gamma, beta, kEps));
      plain_running(triple, kMomentum, mean, var);
    }
    const Tensor running = plain_coefficients(mean, var, gamma, beta, kEps);
    for (int pack = 0; pack < c.packs(); ++pack) {
      const auto p = static_cast<std::size_t>(pack);
      const Tensor& own = group_coefficients[static_cast<std::size_t>(c.groups.of(pack))];
      y.push_back(c.plain(pack).forward(x[p], own, c.relu));
      evaluated.push_back(c.plain(pack).forward(x[p], running, c.relu));
      sums.push_back(c.plain(pack).sums(dy[p], x[p], c.relu ? y[p] : Tensor{}, own));
    }
    for (int pack = 0; pack < c.packs(); ++pack) {
      const auto p = static_cast<std::size_t>(pack), g = static_cast<std::size_t>(c.groups.of(pack));
      Tensor of_group = tree_of(sums, c.packs_of(c.groups.of(pack)), meet_sums);
      for (float& value : of_group) value = value + 0.0f;
      const Tensor factors = plain_factors(group_triples[g], group_coefficients[g], gamma, of_group);
      dx.push_back(c.plain(pack).input_gradient(dy[p], x[p], c.relu ? y[p] : Tensor{}, group_coefficients[g],
                                                factors));
    }
    gradients = tree_of(sums, {0, c.packs()}, meet_sums);
    for (float& value : gradients) value = (value + 0.0f) / static_cast<float>(c.examples);
  }

  std::vector<Tensor> x, dy, y, dx, evaluated, triples, sums;
  Tensor gamma, beta, old_mean, old_var, mean, var;
  Tensor gradients;  // of beta, then of gamma
};

// An executable, and the joins that another rank would have asked for.
class NormRun {
 public:
  NormRun(device::Executable& executable, int program, const NormStepCase& c)
      : executable_(executable), program_(program), case_(c), plain_(c), order_(size(c.examples)) {}

  void expect_plain_bits() {
    executable_.begin(program_);
    fill();
    run(kStatistics);
    EXPECT_EQ(signals_.counts[0], 1);
    receive(Id::triples, 3, plain_.triples);
    expect_rows(Id::triples, 3, plain_.triples);
    join_groups(Id::triples, Id::group_triples, 3, Join::Operator::statistics);
    run(kCoefficients);
    run(kForward);
    EXPECT_EQ(signals_.counts[1], 1);
    receive(Id::sums, 2, plain_.sums);
    expect_rows(Id::sums, 2, plain_.sums);
    join_groups(Id::sums, Id::group_sums, 2, Join::Operator::add);
    run(kFactors);
    run(kBackward);
    for (const std::int64_t good : {0, 1}) {
      executable_.counts(Id::verdict)[0] = good;
      run(kRunning);
      EXPECT_THAT(downloaded(Id::running_mean), SameBits(good == 1 ? plain_.mean : plain_.old_mean));
      EXPECT_THAT(downloaded(Id::running_var), SameBits(good == 1 ? plain_.var : plain_.old_var));
    }
    run(kRunningCoefficients);
    run(kEvaluation);
    for (int pack = case_.share.first; pack < case_.share.last; ++pack) {
      const auto p = static_cast<std::size_t>(pack);
      EXPECT_THAT(activation(Id::y, pack), SameBits(plain_.y[p])) << "pack " << pack;
      EXPECT_THAT(activation(Id::dx, pack), SameBits(plain_.dx[p])) << "pack " << pack;
      EXPECT_THAT(activation(Id::evaluated, pack), SameBits(plain_.evaluated[p])) << "pack " << pack;
    }
    if (case_.share.size() == case_.packs()) expect_gradients();
  }

 private:
  static std::size_t size(int n) { return static_cast<std::size_t>(n); }

  void run(std::size_t segment) { executable_.run(segment, input(), signals_); }
  device::StepInput input() const { return {{nullptr, nullptr, order_}}; }

  std::span<float> floats(const Region& region) {
    const std::span<std::byte> bytes = executable_.bytes({region});
    return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
  }
  Tensor activation(program::BufferId buffer, int pack) {
    const std::span<float> found = floats({buffer, 0, kFloats / kPack, pack});
    return {found.begin(), found.end()};
  }
  Tensor downloaded(program::BufferId buffer) {
    Tensor found(kChannels);
    executable_.download(buffer, found);
    return found;
  }

  void fill() {
    for (int pack = case_.share.first; pack < case_.share.last; ++pack) {
      std::ranges::copy(plain_.x[size(pack)], floats({Id::x, 0, kFloats / kPack, pack}).begin());
      std::ranges::copy(plain_.dy[size(pack)], floats({Id::dy, 0, kFloats / kPack, pack}).begin());
    }
    executable_.upload(Id::gamma, plain_.gamma);
    executable_.upload(Id::beta, plain_.beta);
    executable_.upload(Id::running_mean, plain_.old_mean);
    executable_.upload(Id::running_var, plain_.old_var);
  }

  // Rows of packs that the device does not have.
  void receive(program::BufferId buffer, std::size_t numbers, const std::vector<Tensor>& rows) {
    for (int pack = 0; pack < case_.packs(); ++pack) {
      if (pack < case_.share.first || pack >= case_.share.last)
        std::ranges::copy(rows[size(pack)], floats(row_of(buffer, pack, numbers)).begin());
    }
  }
  void expect_rows(program::BufferId buffer, std::size_t numbers, const std::vector<Tensor>& rows) {
    for (int pack = 0; pack < case_.packs(); ++pack) {
      const std::span<float> found = floats(row_of(buffer, pack, numbers));
      EXPECT_THAT(Tensor(found.begin(), found.end()), SameBits(rows[size(pack)])) << "pack " << pack;
    }
  }

  void join_groups(program::BufferId from, program::BufferId to, std::size_t numbers, Join::Operator op) {
    std::vector<Join> joins;
    for (int group = 0; group < case_.group_count(); ++group) {
      const PackRange packs = case_.packs_of(group);
      Join& join = joins.emplace_back(Join{.op = op});
      std::vector<PackRange> single;
      for (int pack = packs.first; pack < packs.last; ++pack) {
        join.inputs.push_back(row_of(from, pack, numbers));
        single.push_back({pack - packs.first, pack - packs.first + 1});
      }
      join.pairs = arithmetic::join_pairs(packs.size(), {0, packs.size()}, single);
      join.output = row_of(to, group, numbers);
    }
    executable_.join(joins, input());
  }

  void expect_gradients() {
    const Join of_gamma{.inputs = {{Id::gamma_partial, 0, kChannels}},
                        .output = {Id::gamma_gradient, 0, kChannels}};
    const Join of_beta{.inputs = {{Id::beta_partial, 0, kChannels}},
                       .output = {Id::beta_gradient, 0, kChannels}};
    executable_.join(std::vector{of_gamma, of_beta}, input());
    Tensor found = downloaded(Id::beta_gradient);
    const Tensor second = downloaded(Id::gamma_gradient);
    found.insert(found.end(), second.begin(), second.end());
    EXPECT_THAT(found, SameBits(plain_.gradients));
  }

  device::Executable& executable_;
  const int program_;
  const NormStepCase case_;
  const PlainNormStep plain_;
  const std::vector<std::uint32_t> order_;  // only its length counts
  device::Signals signals_;
};

TEST(BatchNormStep, HasTheBitsOfPlainLoopsOnAnyNumberOfThreads) {
  constexpr int kExamples = 75, kPacks = 5;  // 11 in the last
  for (const int threads : {1, 2, 3}) {
    for (const PackRange share : {PackRange{0, kPacks}, PackRange{2, kPacks}}) {
      for (const int group : {0, 1, 2}) {
        for (const bool relu : {false, true}) {
          for (const device::Order order : {device::Order::pack, device::Order::layer}) {
            SCOPED_TRACE(fmt::format("{} threads, packs from {}, groups of {}, {}, order {}", threads,
                                     share.first, group, relu ? "relu" : "no relu", static_cast<int>(order)));
            const NormStepCase c{kExamples, share, {group}, relu};
            const auto device = make_cpu_device({.threads = threads});
            const auto executable =
                device->load(make_norm_program(c),
                             {.most_packs = share.size(), .order = order, .alone = share.size() == kPacks});
            const auto& on_cpu = dynamic_cast<const CpuExecutable&>(*executable);
            EXPECT_EQ(on_cpu.allocated(), on_cpu.memory_plan().peak());
            NormRun(*executable, 0, c).expect_plain_bits();
          }
        }
      }
    }
  }
}

// Minibatches of a training differ in size, and so do the rows of its statistics.
TEST(BatchNormStep, FurtherProgramsHaveMoreOrFewerPacks) {
  const NormStepCase first{35, {0, 3}, {1}, true}, larger{75, {0, 5}, {1}, true},
      smaller{7, {0, 1}, {1}, true};
  const auto device = make_cpu_device({.threads = 2});
  const auto executable = device->load(make_norm_program(first), {.most_packs = 5});
  for (const NormStepCase& c : {larger, smaller})
    NormRun(*executable, executable->add(make_norm_program(c)), c).expect_plain_bits();
  NormRun(*executable, 0, first).expect_plain_bits();
}

}  // namespace
}  // namespace lockstep::cpu
