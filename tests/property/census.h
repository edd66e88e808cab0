// Counts in how many cases each thing that matters was there, so that a reader sees what a run has tried.
#pragma once
#include <map>
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
  bool overflowed = false;  // a parameter was not finite after its update
  std::size_t buckets = 1;  // of the exchange
};

class Census {
 public:
  // `gpu_kinds`: those this machine has. What needs another kind is not counted.
  explicit Census(const std::vector<std::string>& gpu_kinds);

  void count(const Case& c, const Outcome& outcome);
  int cases() const { return cases_; }

  // What was in fewer cases than a run of the usual length must have.
  std::vector<std::string> too_seldom() const;
  int median_layers() const;
  double part_with_skip() const;  // cases in which a value has several readers, of all
  double part_with_norm() const;  // cases with a batch norm, of all
  // One line a thing: in how many cases it was. And a histogram of the numbers of layers.
  friend std::ostream& operator<<(std::ostream& out, const Census& census);

 private:
  struct Row {
    std::string name;
    bool (*had)(const Case&, const Outcome&);
    std::string gpu_kind = {};  // not empty: counted among cases with such a GPU alone
    int least = 1;
    int cases = 0;
  };
  void add_batch_norms(bool gpus);
  void add_fused();
  void add_layer_kinds();
  void add_update_rules();

  std::vector<Row> rows_;
  std::map<int, int> cases_by_layers_;
  int cases_ = 0, with_skip_ = 0, with_norm_ = 0;
};

}  // namespace lockstep::property
