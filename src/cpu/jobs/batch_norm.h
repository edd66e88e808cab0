// Batch norm (simd/batch_norm.h). Numbers of a channel stand as program/program.h says: [number][channel].
#pragma once
#include <cstddef>

namespace lockstep::cpu {

// ---- of a pack. Activations are [channel][position][lane].

struct NormStatisticsJob {
  const float* x;
  int channels, positions;
  int present;  // lanes that hold an example
  float* triples;
};
using NormStatisticsFunction = void (*)(const NormStatisticsJob&);

struct NormForwardJob {
  const float* x;
  const float* coefficients;
  const float* addend;  // of a residual sum; null: there is none
  float* y;             // may be x or the addend
  int channels, positions;
  bool relu;  // behind the sum
};
using NormForwardFunction = void (*)(const NormForwardJob&);

// What the backward pass reads.
struct NormBackward {
  const float *dy, *x;
  const float* coefficients;
  int channels, positions;
  int present;
  bool relu;  // behind the norm
};
using NormSumsFunction = void (*)(const NormBackward&, float* sums);
using NormInputGradientFunction = void (*)(const NormBackward&, const float* factors,
                                           float* dx);  // dx may be dy

// ---- of a group. Each takes some channels; the numbers of a row are `channels` apart, the channels of all.

struct NormCoefficientsJob {
  const float* numbers;  // of values; null: `variances` holds variances
  const float* means;
  const float* variances;  // or sums of squared deviations
  const float *gamma, *beta;
  float eps;
  float* coefficients;
  std::size_t channels, count;
};
using NormCoefficientsFunction = void (*)(const NormCoefficientsJob&);

struct NormFactorsJob {
  const float *triples, *coefficients, *sums;
  float* factors;
  std::size_t channels, count;
};
using NormFactorsFunction = void (*)(const NormFactorsJob&);

struct NormRunningJob {
  const float* triples;
  float momentum;
  float *mean, *variance;  // running
  std::size_t channels, count;
};
using NormRunningFunction = void (*)(const NormRunningJob&);

}  // namespace lockstep::cpu
