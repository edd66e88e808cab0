#include "program/layers/batch_norm.h"

#include "program/builder.h"

namespace lockstep::program {
namespace {

constexpr PackGroups kByPack{1};

std::size_t row(const Shape& shape, int numbers) {
  return static_cast<std::size_t>(shape.channels) * static_cast<std::size_t>(numbers);
}

}  // namespace

void BatchNormNode::forward(Builder& builder, const Node& node) const {
  const BufferId x = builder.input(node), gamma = builder.parameter(first_parameter),
                 beta = builder.parameter(first_parameter + 1), mean = builder.parameter(first_parameter + 2),
                 variance = builder.parameter(first_parameter + 3);
  const bool evaluates = builder.program().purpose == Purpose::evaluation;
  const PackGroups groups{evaluates ? 0 : group_packs};
  const BufferId coefficients = builder.add_table(node.name + ".coefficients", row(shape, 4), groups);
  if (evaluates) {
    builder.emit_prepare(
        {RunningCoefficients{shape.channels, eps}, node.name, {mean, variance, gamma, beta}, {coefficients}});
  } else {
    const BufferId by_pack = builder.add_table(node.name + ".triples", row(shape, 3), kByPack),
                   by_group = builder.add_table(node.name + ".group", row(shape, 3), groups);
    builder.emit({NormStatistics{shape}, node.name, {x}, {by_pack}});
    // A rank updates its running statistics with those of all groups.
    builder.meet({.by_pack = by_pack,
                  .by_group = by_group,
                  .op = Join::Operator::statistics,
                  .groups = groups,
                  .to_all_ranks = true},
                 {NormCoefficients{.channels = shape.channels, .eps = eps},
                  node.name,
                  {by_group, gamma, beta},
                  {coefficients}});
    builder.program().running.push_back({NormRunning{.channels = shape.channels, .momentum = momentum},
                                         node.name,
                                         {by_group, mean, variance},
                                         {mean, variance}});
    builder.keep(node, "coefficients", coefficients);
    builder.keep(node, "triples", by_group);
  }
  Instruction norm{NormForward{shape, groups, relu}, node.name, {x, coefficients}, {}};
  if (in_sum) {
    builder.postpone(node, std::move(norm));
    return;
  }
  norm.outputs = {builder.add_output(node)};
  builder.emit(std::move(norm));
}

void BatchNormNode::backward(Builder& builder, const Node& node) const {
  const PackGroups groups{group_packs};
  const BufferId dy = builder.gradient(node), x = builder.input(node),
                 coefficients = builder.kept(node, "coefficients");
  const BufferId sums = builder.add_table(node.name + ".sums", row(shape, 2), kByPack);
  builder.emit({NormSums{shape, groups, relu},
                node.name,
                {dy, x, coefficients},
                {sums, builder.sum_of(first_parameter), builder.sum_of(first_parameter + 1)}});
  if (!builder.wants_gradient(node.inputs[0])) return;
  const BufferId by_group = builder.add_table(node.name + ".group_sums", row(shape, 2), groups),
                 factors = builder.add_table(node.name + ".factors", row(shape, 3), groups),
                 dx = builder.add_activation(node.name + ".dx", node.input);
  builder.meet({.by_pack = sums, .by_group = by_group, .op = Join::Operator::add, .groups = groups},
               {NormFactors{.channels = shape.channels},
                node.name,
                {builder.kept(node, "triples"), coefficients, by_group},
                {factors}});
  builder.emit({NormInputGradient{shape, groups, relu}, node.name, {dy, x, coefficients, factors}, {dx}});
  builder.add_gradient(node, 0, dx);
}

}  // namespace lockstep::program
