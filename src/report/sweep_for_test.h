// Sweeps as the book's exercise makes them, for the tests of everything that shows one.
#pragma once
#include <string>
#include <vector>

#include "report/sweep_row.h"

namespace lockstep::report {

// A hash that stands for the weights of one learning rate and batch size.
inline std::string weights_of(double lr, int batch) {
  std::string digits = std::to_string(static_cast<int>(lr * 1000)) + "0" + std::to_string(batch);
  return std::string(32 - digits.size(), 'a') + digits;
}

// Every combination; equal weights on every number of devices; learning rates above 1 diverge.
inline std::vector<SweepRow> sweep_of(const std::vector<double>& rates, const std::vector<int>& batches,
                                      const std::vector<int>& devices) {
  std::vector<SweepRow> rows;
  for (const double lr : rates) {
    for (const int batch : batches) {
      for (const int count : devices) {
        rows.push_back({.lr = lr,
                        .batch = batch,
                        .devices = count,
                        .accuracy = 0.5 + lr / 4,
                        .seconds_per_epoch = 2.0 / count,
                        .weights = weights_of(lr, batch),
                        .diverged = lr > 1});
      }
    }
  }
  return rows;
}

}  // namespace lockstep::report
