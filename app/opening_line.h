// The first line of a training: what is trained, on what data, by which devices, and which examples share
// statistics.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "model/model.h"

namespace lockstep::app {

struct OpeningFacts {
  const model::Model& model;
  const data::Split& data;
  std::string data_directory = {};
  std::vector<std::string> devices = {};
  int threads = 0;  // of each device; 0: not all of them are teams of threads
  int cores = 1;    // that this process may use
};

// "lenet (129,388 parameters) on Fashion-MNIST (60,000 examples, 10,000 to test)": other data than
// Fashion-MNIST is called by its directory.
std::string model_and_data(const OpeningFacts& facts);

// "training lenet (...) on Fashion-MNIST (...) with 2xcpu, 1 thread each", ended by a newline; of a model
// with batch norm also its form, ", batch norm ghost:48".
std::string opening_line(const OpeningFacts& facts);

}  // namespace lockstep::app
