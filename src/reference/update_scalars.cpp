#include "reference/update_scalars.h"

#include <cmath>

namespace lockstep::reference {
namespace {

// b^t: t factors, from 1.
double product_of(double b, std::int64_t t) {
  double product = 1;
  for (std::int64_t factor = 1; factor <= t; ++factor) product *= b;
  return product;
}

double step_rate(const UpdateOptions& options, double lr, std::int64_t t) {
  const std::int64_t epoch = (t - 1) / options.steps_per_epoch + 1;
  const std::int64_t k = (epoch - 1) / options.schedule.step_epochs;
  return lr * product_of(options.schedule.step_factor, k);
}

double cosine_rate(const UpdateOptions& options, double lr, std::int64_t t) {
  const std::int64_t all = options.steps_per_epoch * options.epochs, warm = options.schedule.warmup;
  double u = 1;
  if (t > warm) u = static_cast<double>(all - t + 1) / static_cast<double>(all - warm);
  const double x = u * 0x1.921fb54442d18p+0;
  const double z = x * x;
  double q = -0x1.761b41316381ap-75;
  q = std::fma(q, z, 0x1.71b8ef6dcf572p-66);
  q = std::fma(q, z, -0x1.2f49b46814157p-57);
  q = std::fma(q, z, 0x1.952c77030ad4ap-49);
  q = std::fma(q, z, -0x1.ae7f3e733b81fp-41);
  q = std::fma(q, z, 0x1.6124613a86d09p-33);
  q = std::fma(q, z, -0x1.ae64567f544e4p-26);
  q = std::fma(q, z, 0x1.71de3a556c734p-19);
  q = std::fma(q, z, -0x1.a01a01a01a01ap-13);
  q = std::fma(q, z, 0x1.1111111111111p-7);
  q = std::fma(q, z, -0x1.5555555555555p-3);
  const double s = std::fma(x * z, q, x);
  const double least = options.schedule.lr_min;
  return std::fma(lr - least, s * s, least);
}

}  // namespace

double learning_rate(const UpdateOptions& options, std::int64_t t) {
  double lr = options.learning_rate;
  if (options.schedule.kind == arithmetic::ScheduleKind::step) lr = step_rate(options, lr, t);
  if (options.schedule.kind == arithmetic::ScheduleKind::cosine) lr = cosine_rate(options, lr, t);
  const std::int64_t warm = options.schedule.warmup;
  if (t < warm) lr = lr * (static_cast<double>(t) / static_cast<double>(warm));
  return lr;
}

arithmetic::UpdateScalars update_scalars(const UpdateOptions& options, std::int64_t t) {
  using arithmetic::UpdateKind;
  const arithmetic::Optimizer& o = options.optimizer;
  const bool is_adam = o.kind == UpdateKind::adam || o.kind == UpdateKind::adamw;
  const double lr = learning_rate(options, t);
  arithmetic::UpdateScalars scalars;
  scalars.learning_rate = static_cast<float>(lr);
  scalars.momentum = o.momentum;
  scalars.weight_decay = static_cast<float>(o.weight_decay);
  if (o.kind == UpdateKind::adamw) scalars.weight_decay = static_cast<float>(lr * o.weight_decay);
  if (!is_adam) return scalars;
  const double root = std::sqrt(1 - product_of(o.beta2, t));
  scalars.learning_rate = static_cast<float>((lr * root) / (1 - product_of(o.beta1, t)));
  scalars.eps = static_cast<float>(o.eps * root);
  scalars.beta1 = static_cast<float>(o.beta1);
  scalars.beta2 = static_cast<float>(o.beta2);
  scalars.one_minus_beta1 = static_cast<float>(1 - o.beta1);
  scalars.one_minus_beta2 = static_cast<float>(1 - o.beta2);
  return scalars;
}

}  // namespace lockstep::reference
