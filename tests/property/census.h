// Counts in how many cases each thing that matters was there, so that a reader sees what a run has tried.
#pragma once
#include <ostream>
#include <string>
#include <vector>

#include "property/case.h"

namespace lockstep::property {

// What came of a case.
struct Outcome {
  std::string gpu_kind = {};                 // "" without a GPU
  std::vector<bool> gpus = {};               // by device
  std::vector<std::vector<int>> packs = {};  // by step and device
  bool denormal = false, negative_zero = false, refused = false;
};

class Census {
 public:
  // `gpu_kinds`: those this machine has. What needs another kind is not counted.
  explicit Census(const std::vector<std::string>& gpu_kinds);

  void count(const Case& c, const Outcome& outcome);
  int cases() const { return cases_; }

  // Names of what was in no case.
  std::vector<std::string> never() const;
  // One line a thing: in how many cases it was.
  friend std::ostream& operator<<(std::ostream& out, const Census& census);

 private:
  struct Row {
    std::string name;
    bool (*had)(const Case&, const Outcome&);
    std::string gpu_kind = {};  // not empty: counted among cases with such a GPU alone
    int cases = 0;
  };
  std::vector<Row> rows_;
  int cases_ = 0;
};

}  // namespace lockstep::property
