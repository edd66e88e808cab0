#include "random_program.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "arithmetic/pack.h"
#include "legal_lists.h"
#include "program/rank_builder.h"

namespace lockstep::random_program {
namespace {

using arithmetic::kPack;
using program::BufferId;
using program::Join;
using program::Program;
using program::Region;
using program::Role;

constexpr int kActivations = 5, kSums = 4, kCounts = 5;
constexpr std::size_t kInbox = 600;

class Drawer {
 public:
  explicit Drawer(std::uint32_t seed) : random_(seed) {
    ranks_ = between(2, 4);
    packs_ = between(1, 7);
    const int first = between(0, packs_ - 1);
    share_ = {first, between(first + 1, packs_)};
    rows_ = static_cast<int>(arithmetic::cover(packs_, share_).size());
    elements_ = static_cast<std::size_t>(between(1, 9));
    for (int i = 0; i < kSums; ++i) sum_elements_.push_back(3 * static_cast<std::size_t>(between(1, 12)));
    counts_ = static_cast<std::size_t>(between(1, 5));
    for (int rank = 0; rank < ranks_; ++rank) add_rank();
    draw_examples();
  }

  Drawn draw() {
    result_.before = numbers_;
    for (int rank = 0; rank < ranks_; ++rank) load(rank);
    const int operations = between(4, 40);
    for (int i = 0; i < operations; ++i) {
      switch (between(0, 5)) {
        case 0:
        case 1:
          compute(between(0, ranks_ - 1));
          break;
        case 2:
        case 3:
          send();
          break;
        case 4:
          join_floats(between(0, ranks_ - 1));
          break;
        default:
          join_counts(between(0, ranks_ - 1));
      }
    }
    result_.programs = lists_.programs();
    for (const Program& program : result_.programs)
      result_.segments += static_cast<int>(program.segments.size());
    result_.after = numbers_;
    return std::move(result_);
  }

 private:
  int between(int least, int most) { return std::uniform_int_distribution(least, most)(random_); }
  program::RankBuilder& at(int rank) { return lists_.at(rank); }
  std::vector<float>& floats(int rank, BufferId id) {
    return numbers_[static_cast<std::size_t>(rank)].floats[static_cast<std::size_t>(id)];
  }
  std::vector<std::int64_t>& counts(int rank, BufferId id) {
    return numbers_[static_cast<std::size_t>(rank)].counts[static_cast<std::size_t>(id)];
  }
  BufferId activation(int i) const { return i; }
  BufferId partial(int i) const { return kActivations + 1 + 2 * i; }
  BufferId gradient(int i) const { return partial(i) + 1; }
  BufferId count(int i) const { return kActivations + 1 + 2 * kSums + i; }
  BufferId inbox() const { return kActivations + 1 + 2 * kSums + kCounts; }
  BufferId labels() const { return kActivations; }

  void add_rank() {
    Program program;
    program.purpose = program::Purpose::replay;
    program.packs = packs_;
    program.input = {static_cast<int>(elements_), 1, 1};
    program.classes = 2;
    program::RankBuilder builder(program);
    Numbers& numbers = numbers_.emplace_back();
    const auto add = [&](std::string name, Role role, std::size_t elements, std::size_t held) {
      builder.add_buffer(std::move(name), role, elements);
      numbers.floats.emplace_back(role == Role::counts ? 0 : held);
      numbers.counts.emplace_back(role == Role::counts ? held : 0);
    };
    const std::size_t lanes = static_cast<std::size_t>(share_.size()) * elements_ * kPack;
    for (int i = 0; i < kActivations; ++i) add(fmt::format("a{}", i), Role::activation, elements_, lanes);
    add("labels", Role::labels, 1, 0);
    for (int i = 0; i < kSums; ++i) {
      const std::size_t n = sum_elements_[static_cast<std::size_t>(i)];
      add(fmt::format("p{}", i), Role::partial, n, n * static_cast<std::size_t>(rows_));
      add(fmt::format("g{}", i), Role::gradient, n, n);
      builder.program().sums.push_back({.partial = partial(i), .gradient = gradient(i)});
      for (float& v : numbers.floats[static_cast<std::size_t>(partial(i))])
        v = static_cast<float>(between(1, 2000)) / 64.0f;
    }
    for (int i = 0; i < kCounts; ++i) {
      add(fmt::format("c{}", i), Role::counts, counts_, counts_);
      for (std::int64_t& v : numbers.counts.back()) v = between(0, 1);
    }
    add("inbox", Role::inbox, kInbox, kInbox);
    lists_.add(std::move(builder));
    inbox_used_.push_back(0);
    used_up_.emplace_back(kSums, false);
    joined_.emplace_back(kSums, false);
    arrived_.emplace_back(kSums);
  }

  void draw_examples() {
    const int count = (packs_ - 1) * kPack + between(1, kPack);
    for (int e = 0; e < count; ++e) {
      result_.examples.push_back(static_cast<std::uint32_t>(count - 1 - e));
      result_.labels.push_back(static_cast<std::uint8_t>(between(0, 1)));
      for (std::size_t i = 0; i < elements_; ++i)
        result_.pixels.push_back(static_cast<std::uint8_t>(random_()));
    }
  }

  // ---- work

  void append_work(int rank, program::Instruction instruction) {
    lists_.append_work(rank, std::move(instruction), share_,
                       between(0, 3) == 0 ? LegalLists::Opens::always : LegalLists::Opens::where_needed);
  }

  void load(int rank) {
    append_work(rank, {program::Load{at(rank).program().input}, "input", {}, {activation(0), labels()}});
    std::vector<float>& to = floats(rank, activation(0));
    for (std::size_t i = 0; i < to.size(); ++i) {
      const std::size_t lane = i % kPack, element = i / kPack % elements_, pack = i / kPack / elements_;
      const std::size_t e = (static_cast<std::size_t>(share_.first) + pack) * kPack + lane;
      const bool present = e < result_.examples.size();
      to[i] = present ? static_cast<float>(result_.pixels[result_.examples[e] * elements_ + element]) / 255.0f
                      : 0;
    }
    // Every number is written before it is read.
    for (int i = 1; i < kActivations; ++i) {
      append_work(rank, {program::ReluForward{}, "relu", {activation(0)}, {activation(i)}});
      floats(rank, activation(i)) = to;
    }
  }

  void compute(int rank) {
    const BufferId a = activation(between(0, kActivations - 1)), b = activation(between(0, kActivations - 1)),
                   to = activation(between(0, kActivations - 1));
    const std::vector<float> left = floats(rank, a), right = floats(rank, b);
    std::vector<float>& result = floats(rank, to);
    switch (between(0, 4)) {
      case 0:
        append_work(rank, {program::ReluForward{}, "relu", {a}, {to}});
        for (std::size_t i = 0; i < result.size(); ++i) result[i] = left[i] > 0 ? left[i] : 0;
        break;
      case 1:
        append_work(rank, {program::ReluBackward{}, "relu", {a, b}, {to}});
        for (std::size_t i = 0; i < result.size(); ++i) result[i] = right[i] > 0 ? left[i] : 0;
        break;
      case 2: {
        const BufferId y = activation(between(0, kActivations - 1));
        const std::vector<float> passed = floats(rank, y);
        append_work(rank, {program::ReluBackward{}, "relu", {a, y, b}, {to}});
        for (std::size_t i = 0; i < result.size(); ++i) result[i] = passed[i] > 0 ? left[i] + right[i] : 0;
        break;
      }
      case 3:
        append_work(rank, {program::Add{.relu = true}, "add", {a, b}, {to}});
        for (std::size_t i = 0; i < result.size(); ++i)
          result[i] = left[i] + right[i] > 0 ? left[i] + right[i] : 0;
        break;
      default:
        append_work(rank, {program::Add{}, "add", {a, b}, {to}});
        for (std::size_t i = 0; i < result.size(); ++i) result[i] = left[i] + right[i];
    }
  }

  // ---- exchange

  void append_message(int from, const Region& source, int to, const Region& target) {
    lists_.append_message(from, source, to, target);
    ++result_.messages;
  }

  void send() {
    const int from = between(0, ranks_ - 1);
    const int to = (from + between(1, ranks_ - 1)) % ranks_;
    switch (between(0, 2)) {
      case 0:
        return send_packs(from, to);
      case 1:
        return send_subtree(from, to);
      default: {
        const BufferId source = count(between(0, kCounts - 1)), target = count(between(0, kCounts - 1));
        append_message(from, at(from).whole(source), to, at(to).whole(target));
        counts(to, target) = counts(from, source);
      }
    }
  }

  // Whole packs of an activation, or a few elements of one pack.
  void send_packs(int from, int to) {
    const BufferId source = activation(between(0, kActivations - 1)),
                   target = activation(between(0, kActivations - 1));
    Region region{source, 0, elements_, between(share_.first, share_.last - 1)};
    region.rows = between(1, share_.last - region.row);
    if (region.rows == 1 && between(0, 1) == 0) {
      region.first = static_cast<std::size_t>(between(0, static_cast<int>(elements_) - 1));
      region.count = static_cast<std::size_t>(between(1, static_cast<int>(elements_ - region.first)));
    }
    Region received = region;
    received.buffer = target;
    append_message(from, region, to, received);
    const std::vector<float> numbers = floats(from, source);
    const std::size_t first =
        (static_cast<std::size_t>(region.row - share_.first) * elements_ + region.first) * kPack;
    const std::size_t size = region.count * static_cast<std::size_t>(region.rows) * kPack;
    std::copy_n(numbers.begin() + static_cast<std::ptrdiff_t>(first), size,
                floats(to, target).begin() + static_cast<std::ptrdiff_t>(first));
  }

  // To the inbox of the other rank, for a join there.
  void send_subtree(int from, int to) {
    const int sum = between(0, kSums - 1);
    const std::size_t n = sum_elements_[static_cast<std::size_t>(sum)];
    std::size_t& used = inbox_used_[static_cast<std::size_t>(to)];
    if (used + n > kInbox || used_up_[static_cast<std::size_t>(from)][static_cast<std::size_t>(sum)]) return;
    const Region held{partial(sum), 0, n, between(0, rows_ - 1)}, place{inbox(), used, n};
    used += n;
    append_message(from, held, to, place);
    std::copy_n(floats(from, partial(sum)).begin() +
                    static_cast<std::ptrdiff_t>(static_cast<std::size_t>(held.row) * n),
                n, floats(to, inbox()).begin() + static_cast<std::ptrdiff_t>(place.first));
    arrived_[static_cast<std::size_t>(to)][static_cast<std::size_t>(sum)].push_back(place);
  }

  float* at_region(int rank, const Region& region) {
    const std::size_t row = static_cast<std::size_t>(region.row) * at(rank).elements(region.buffer);
    return floats(rank, region.buffer).data() + row + region.first;
  }

  // Own subtrees and what has arrived, by a random tree.
  void join_floats(int rank) {
    const int sum = between(0, kSums - 1);
    auto& used_up = used_up_[static_cast<std::size_t>(rank)];
    auto& joined = joined_[static_cast<std::size_t>(rank)];
    if (joined[static_cast<std::size_t>(sum)]) return;
    const std::size_t n = sum_elements_[static_cast<std::size_t>(sum)];
    Join join;
    if (!used_up[static_cast<std::size_t>(sum)]) {
      for (int row = 0; row < rows_; ++row) join.inputs.push_back({partial(sum), 0, n, row});
    }
    for (const Region& place : arrived_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(sum)])
      join.inputs.push_back(place);
    if (join.inputs.empty()) return;
    std::ranges::shuffle(join.inputs, random_);
    constexpr Join::Operator kOperators[]{Join::Operator::add, Join::Operator::mean, Join::Operator::maximum,
                                          Join::Operator::statistics};
    join.op = kOperators[between(0, 3)];
    join.output = {gradient(sum), 0, n};
    std::vector<int> left(join.inputs.size());
    for (std::size_t i = 0; i < left.size(); ++i) left[i] = static_cast<int>(i);
    while (left.size() > 1) {
      const int at_left = between(0, static_cast<int>(left.size()) - 2);
      join.pairs.push_back(
          {left[static_cast<std::size_t>(at_left)], left[static_cast<std::size_t>(at_left) + 1]});
      left.erase(left.begin() + at_left + 1);
    }
    for (const arithmetic::JoinPair& pair : join.pairs)
      meet(join.op, at_region(rank, join.inputs[static_cast<std::size_t>(pair.into)]),
           at_region(rank, join.inputs[static_cast<std::size_t>(pair.from)]), n);
    finish(join.op, at_region(rank, join.inputs[0]), floats(rank, gradient(sum)));
    lists_.append_join(rank, std::move(join));
    used_up[static_cast<std::size_t>(sum)] = joined[static_cast<std::size_t>(sum)] = true;
    arrived_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(sum)].clear();
    ++result_.joins;
  }

  // The law's formulas, one number after the other.
  static void meet(Join::Operator op, float* left, const float* right, std::size_t n) {
    if (op != Join::Operator::statistics) {
      for (std::size_t i = 0; i < n; ++i)
        left[i] =
            op == Join::Operator::maximum ? (right[i] > left[i] ? right[i] : left[i]) : left[i] + right[i];
      return;
    }
    const std::size_t channels = n / 3;
    for (std::size_t c = 0; c < channels; ++c) {
      const float n_left = left[c], n_right = right[c], m_left = left[channels + c],
                  m_right = right[channels + c];
      const float delta = m_right - m_left, q = n_right / (n_left + n_right);
      left[c] = n_left + n_right;
      left[channels + c] = std::fma(delta, q, m_left);
      left[2 * channels + c] =
          std::fma(delta * delta, n_left * q, left[2 * channels + c] + right[2 * channels + c]);
    }
  }
  void finish(Join::Operator op, const float* value, std::vector<float>& to) const {
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] = value[i];
      if (op == Join::Operator::add || op == Join::Operator::mean) to[i] = value[i] + 0.0f;
      if (op == Join::Operator::mean) to[i] = to[i] / static_cast<float>(result_.examples.size());
    }
  }

  void join_counts(int rank) {
    Join join;
    join.op = between(0, 1) == 0 ? Join::Operator::integer_add : Join::Operator::both;
    const int inputs = between(1, kCounts);
    for (int i = 0; i < inputs; ++i) join.inputs.push_back(at(rank).whole(count(i)));
    for (int i = 1; i < inputs; ++i) join.pairs.push_back({0, i});
    const BufferId to = count(between(0, kCounts - 1));
    join.output = at(rank).whole(to);
    std::vector<std::int64_t> values = counts(rank, count(0));
    for (int i = 1; i < inputs; ++i) {
      for (std::size_t c = 0; c < values.size(); ++c)
        values[c] = join.op == Join::Operator::both ? values[c] & counts(rank, count(i))[c]
                                                    : values[c] + counts(rank, count(i))[c];
    }
    counts(rank, to) = values;
    lists_.append_join(rank, std::move(join));
    ++result_.joins;
  }

  std::mt19937 random_;
  int ranks_ = 0, packs_ = 0, rows_ = 0;
  arithmetic::PackRange share_;
  std::size_t elements_ = 0, counts_ = 0;
  std::vector<std::size_t> sum_elements_;
  LegalLists lists_;
  std::vector<Numbers> numbers_;
  std::vector<std::size_t> inbox_used_;                    // by rank
  std::vector<std::vector<bool>> used_up_, joined_;        // by rank, then sum
  std::vector<std::vector<std::vector<Region>>> arrived_;  // by rank, then sum: in the inbox, not yet joined
  Drawn result_;
};

}  // namespace

Drawn draw(std::uint32_t seed) { return Drawer(seed).draw(); }

}  // namespace lockstep::random_program
