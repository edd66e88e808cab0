// A small checkpoint with everything in it.
#pragma once
#include <bit>
#include <limits>

#include "store/checkpoint.h"

namespace lockstep::store {

inline Checkpoint checkpoint_for_test(std::int64_t step = 235) {
  const float nan = std::bit_cast<float>(0x7fc12345u);
  return {.config = {.job = {.model = "mlp", .seed = ~std::uint64_t{0}, .momentum = 0.9f},
                     .machine = {.data_directory = "/a \"b\"\n"}},
          .step = step,
          .epoch = 3,
          .step_in_epoch = 1,
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
                      .test_loss = std::numeric_limits<float>::infinity()}},
          .parameters = {{.name = "z.weight", .shape = {2, 1}, .values = {1.5f, -0.0f}},
                         {.name = "a.bias", .shape = {1}, .values = {nan}}},
          .velocity = {{.name = "z.weight", .shape = {2, 1}, .values = {0x1p-149f, 2.0f}},
                       {.name = "a.bias", .shape = {1}, .values = {-1.0f}}}};
}

}  // namespace lockstep::store
