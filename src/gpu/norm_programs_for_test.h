// The instructions of batch norm as programs that are written by hand, for one rank or several: three
// segments over packs with the joins of groups between them, then the running statistics, and an evaluation.
#pragma once
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "gpu/kernels/norm_law_for_test.h"
#include "program/order.h"
#include "program/rank_builder.h"
#include "program/sums.h"

namespace lockstep::gpu {

struct NormStepCase {
  program::Shape shape = {};
  int examples = 1;
  int group_packs = 0;  // 0: all
  bool relu = false;
};

class NormPrograms {
 public:
  struct Ids {
    program::BufferId x, labels, y, dy, dx, evaluated, triples, group, coefficients, sums, group_sums,
        factors, running;
  };
  NormPrograms(const NormStepCase& c, const NormLaw& law) : case_(c), law_(law) {}

  // The step of ranks that have these packs. Only a rank that is alone makes mean gradients.
  std::vector<program::Program> of(std::span<const arithmetic::PackRange> shares) {
    using namespace program;
    std::vector<RankBuilder> ranks(shares.size(), buffers());
    std::vector<Instruction> statistics, sums;
    std::vector<EventId> measured, summed;
    for (RankBuilder& rank : ranks) {
      const std::vector<Sum>& of = rank.program().sums;
      std::vector<BufferId> inputs{ids.dy, ids.x, ids.coefficients};
      if (law_.relu) inputs.push_back(ids.y);
      statistics.push_back({NormStatistics{case_.shape}, "bn", {ids.x}, {ids.triples}});
      sums.push_back({NormSums{case_.shape, {law_.group_packs}, law_.relu},
                      "bn",
                      inputs,
                      {ids.sums, of[0].partial, of[1].partial}});
      measured.push_back(rank.when_done(statistics.back()));
      summed.push_back(rank.when_done(sums.back()));
    }
    Events grouped =
        by_group(ranks, shares, ids.triples, 3, ids.group, Join::Operator::statistics, measured, false);
    Events factored = by_group(ranks, shares, ids.sums, 2, ids.group_sums, Join::Operator::add, summed, true);
    std::vector<Program> result;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      Program& p = ranks[rank].program();
      add_segments(p, shares[rank], std::move(statistics[rank]), std::move(sums[rank]));
      p.segments[1].waits = std::move(grouped[rank]);
      p.segments[3].waits = std::move(factored[rank]);
      if (ranks.size() == 1) {
        const std::size_t channels = ranks[0].elements(p.gradients[0]);
        p.segments[5].waits = means(ranks[0], summed[0]);
        p.segments[5].instructions[0].operation = Check{{{0, channels}, {0, channels}}};
        p.segments[5].instructions[0].inputs = p.gradients;
      }
      result.push_back(p);
    }
    expect_right(result);
    return result;
  }

  // With the parameters of a training. Its output is evaluation_y.
  program::Program evaluation() {
    using namespace program;
    RankBuilder builder({});
    Program& p = builder.program();
    p.purpose = Purpose::evaluation;
    p.packs = law_.packs();
    p.input = case_.shape;
    p.classes = 1;
    const auto channels = static_cast<std::size_t>(law_.channels);
    for (const char* name : {"gamma", "beta", "mean", "var"})
      p.parameters.push_back(builder.add_buffer(name, Role::parameter, channels));
    const auto elements = static_cast<std::size_t>(case_.shape.elements());
    const BufferId x = builder.add_buffer("x", Role::activation, elements);
    const BufferId labels = builder.add_buffer("labels", Role::labels, 1);
    const BufferId coefficients = builder.add_buffer("coefficients", Role::statistics, 4 * channels);
    evaluation_y = builder.add_buffer("y", Role::activation, elements);
    p.segments.push_back({"prepare",
                          Segment::Over::elements,
                          {{RunningCoefficients{law_.channels, law_.eps},
                            "bn",
                            {p.parameters[2], p.parameters[3], p.parameters[0], p.parameters[1]},
                            {coefficients}}}});
    p.segments.push_back(
        {"evaluation",
         Segment::Over::packs,
         {{Load{case_.shape}, "", {}, {x, labels}},
          {NormForward{case_.shape, {}, law_.relu}, "bn", {x, coefficients}, {evaluation_y}}},
         {0, p.packs}});
    program::check_order({&p, 1});
    program::check_sums({&p, 1});
    return p;
  }

  Ids ids = {};
  program::BufferId evaluation_y = -1;

 private:
  // Accesses to the same numbers are ordered, and packs are computed with the statistics of their own group.
  // The sums of the gradients are not checked: only a rank that is alone joins them.
  static void expect_right(std::vector<program::Program> programs) {
    program::check_order(programs);
    for (program::Program& p : programs) p.purpose = program::Purpose::replay;
    program::check_sums(programs);
  }

  // Everything but the exchange and the segments; the same on every rank.
  program::RankBuilder buffers() {
    using namespace program;
    const auto channels = static_cast<std::size_t>(law_.channels);
    const auto packs = static_cast<std::size_t>(law_.packs()),
               groups = static_cast<std::size_t>(law_.groups());
    RankBuilder builder({});
    Program& p = builder.program();
    p.packs = law_.packs();
    p.input = case_.shape;
    p.classes = 1;
    const auto activation = [&](const char* name) {
      return builder.add_buffer(name, Role::activation, static_cast<std::size_t>(case_.shape.elements()));
    };
    const auto statistics = [&](const char* name, std::size_t rows, std::size_t numbers) {
      return builder.add_buffer(name, Role::statistics, rows * numbers * channels);
    };
    ids.x = activation("x");
    ids.labels = builder.add_buffer("labels", Role::labels, 1);
    ids.y = activation("y");
    ids.dy = activation("dy");
    ids.dx = activation("dx");
    ids.triples = statistics("triples", packs, 3);
    ids.group = statistics("group", groups, 3);
    ids.coefficients = statistics("coefficients", groups, 4);
    ids.sums = statistics("sums", packs, 2);
    ids.group_sums = statistics("group_sums", groups, 2);
    ids.factors = statistics("factors", groups, 3);
    for (const char* name : {"gamma", "beta", "mean", "var"})
      p.parameters.push_back(builder.add_buffer(name, Role::parameter, channels));
    for (std::size_t i = 0; i < 2; ++i) {
      const BufferId partial = builder.add_buffer("partial", Role::partial, channels);
      p.gradients.push_back(builder.add_buffer("gradient", Role::gradient, channels));
      p.sums.push_back({partial, p.gradients[i], p.parameters[i]});
    }
    p.verdict = builder.add_buffer("verdict", Role::counts, 1);
    return builder;
  }

  // By rank: events, perhaps none.
  using Events = std::vector<std::vector<program::EventId>>;

  // Rows of packs meet in rows of groups, on the rank that has the group's first pack (or last one), which
  // hands them to all others. `done`: the instruction that makes the rows. Returns when they are there.
  Events by_group(std::vector<program::RankBuilder>& ranks, std::span<const arithmetic::PackRange> shares,
                  program::BufferId from, std::size_t numbers, program::BufferId to,
                  program::Join::Operator op, const std::vector<program::EventId>& made,
                  bool last_owns) const {
    const std::size_t row = numbers * static_cast<std::size_t>(law_.channels);
    const auto rows = [&](program::BufferId buffer, int first, int last) {
      return program::Region{buffer, static_cast<std::size_t>(first) * row,
                             static_cast<std::size_t>(last - first) * row};
    };
    const int each = law_.group_packs == 0 ? law_.packs() : law_.group_packs;
    Events there(ranks.size());
    for (int g = 0; g < law_.groups(); ++g) {
      const int begin = g * each, end = std::min(begin + each, law_.packs());
      const int wanted = last_owns ? end - 1 : begin;
      std::size_t owner = 0;
      while (wanted >= shares[owner].last) ++owner;
      std::vector<program::EventId> waits{made[owner]};
      for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        const int first = std::max(begin, shares[rank].first), last = std::min(end, shares[rank].last);
        if (rank == owner || first >= last) continue;
        ranks[rank].send(static_cast<int>(owner), rows(from, first, last), {made[rank]});
        waits.push_back(ranks[owner].receive(static_cast<int>(rank), rows(from, first, last), {made[owner]}));
      }
      program::Join join{.op = op, .output = rows(to, g, g + 1)};
      std::vector<arithmetic::PackRange> single;
      for (int pack = begin; pack < end; ++pack) {
        join.inputs.push_back(rows(from, pack, pack + 1));
        single.push_back({pack - begin, pack - begin + 1});
      }
      join.pairs = arithmetic::join_pairs(end - begin, {0, end - begin}, single);
      const program::EventId joined = ranks[owner].join(std::move(join), std::move(waits));
      there[owner].push_back(joined);
      for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        if (rank == owner) continue;
        ranks[owner].send(static_cast<int>(rank), rows(to, g, g + 1), {joined});
        there[rank].push_back(ranks[rank].receive(static_cast<int>(owner), rows(to, g, g + 1)));
      }
    }
    return there;
  }

  // The mean gradients of gamma and beta, of a rank that is alone.
  std::vector<program::EventId> means(program::RankBuilder& rank, program::EventId summed) const {
    const arithmetic::PackRange every{0, law_.packs()};
    const std::vector<arithmetic::PackRange> subtrees = arithmetic::cover(law_.packs(), every);
    std::vector<program::EventId> done;
    for (const program::Sum& sum : std::vector(rank.program().sums)) {
      program::Join join{.pairs = arithmetic::join_pairs(law_.packs(), every, subtrees),
                         .output = rank.whole(sum.gradient)};
      for (int row = 0; row < static_cast<int>(subtrees.size()); ++row)
        join.inputs.push_back({sum.partial, 0, rank.elements(sum.partial), row});
      done.push_back(rank.join(std::move(join), {summed}));
    }
    return done;
  }

  void add_segments(program::Program& p, arithmetic::PackRange share, program::Instruction statistics,
                    program::Instruction sums) const {
    using namespace program;
    using Over = Segment::Over;
    const BufferId gamma = p.parameters[0], beta = p.parameters[1], mean = p.parameters[2],
                   variance = p.parameters[3];
    const PackGroups groups{law_.group_packs};
    const int channels = law_.channels, packs = share.size();
    const int first = packs == 0 ? 0 : groups.of(share.first);
    const int last = packs == 0 ? 0 : groups.of(share.last - 1) + 1;
    std::vector<BufferId> of_dx{ids.dy, ids.x, ids.coefficients, ids.factors};
    if (law_.relu) of_dx.push_back(ids.y);
    p.segments = {{"statistics",
                   Over::packs,
                   {{Load{case_.shape}, "", {}, {ids.x, ids.labels}}, std::move(statistics)},
                   share},
                  {"coefficients",
                   Over::elements,
                   {{NormCoefficients{channels, law_.eps, first, last},
                     "bn",
                     {ids.group, gamma, beta},
                     {ids.coefficients}}}},
                  {"forward",
                   Over::packs,
                   {{NormForward{case_.shape, groups, law_.relu}, "bn", {ids.x, ids.coefficients}, {ids.y}},
                    {Add{}, "loss", {ids.y, ids.x}, {ids.dy}},
                    std::move(sums)},
                   share},
                  {"factors",
                   Over::elements,
                   {{NormFactors{channels, first, last},
                     "bn",
                     {ids.group, ids.coefficients, ids.group_sums},
                     {ids.factors}}}},
                  {"backward",
                   Over::packs,
                   {{NormInputGradient{case_.shape, groups, law_.relu}, "bn", of_dx, {ids.dx}}},
                   share},
                  {"check", Over::elements, {{Check{}, "", {}, {p.verdict}}}},
                  {"update",
                   Over::elements,
                   {{NormRunning{channels, law_.momentum, law_.groups()},
                     "bn",
                     {p.verdict, ids.group, mean, variance},
                     {mean, variance}}}}};
  }

  const NormStepCase case_;
  const NormLaw law_;
};

}  // namespace lockstep::gpu
