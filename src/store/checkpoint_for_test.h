// A small checkpoint with everything in it, and the tensors that its job has.
#pragma once
#include <limits>

#include "store/checkpoint.h"

namespace lockstep::store {

// Requires: 7 steps at least. Two epochs are finished, which takes an even number of them.
inline Checkpoint checkpoint_for_test(std::int64_t step = 235) {
  return {.config = {.job = {.model = "mlp",
                             .seed = ~std::uint64_t{0},
                             .optimizer = arithmetic::sgd_with_momentum(0.9f)},
                     .machine = {.data_directory = "/a \"b\"\n"}},
          .step = step,
          .epoch = 3,
          .step_in_epoch = 2 - step % 2,
          .loss_sum = 0.1,
          .seconds = 5e-324,
          .epochs = {{.epoch = 1,
                      .train_loss = 1.0 / 3,
                      .seconds = 1e22,
                      .evaluation_seconds = 0,
                      .test_correct = 9000,
                      .test_examples = 10000,
                      .test_loss = 0.1f},
                     {.epoch = 2,
                      .train_loss = -0.0,
                      .seconds = 0.1 + 0.2,
                      .evaluation_seconds = std::numeric_limits<double>::max(),
                      .test_correct = 0,
                      .test_examples = std::numeric_limits<std::int64_t>::max(),
                      .test_loss = std::numeric_limits<float>::max()}},
          .tensors = {{.name = "z.weight", .shape = {2, 1}, .values = {1.5f, -0.0f}},
                      {.name = "a.bias", .shape = {1}, .values = {-0x1.23456p-130f}},
                      {.name = "velocity:z.weight", .shape = {2, 1}, .values = {0x1p-149f, 2.0f}},
                      {.name = "velocity:a.bias", .shape = {1}, .values = {-1.0f}}}};
}

inline ExpectedTensors tensors_for_test(const JobConfig& job) {
  return {{{"z.weight", {2, 1}}, {"a.bias", {1}}, {"velocity:z.weight", {2, 1}}, {"velocity:a.bias", {1}}},
          "model " + job.model};
}

}  // namespace lockstep::store
