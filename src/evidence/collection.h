// Evidence in a limited time: parts run one after the other, and what becomes of one does not stop the next.
#pragma once
#include <deque>

#include "evidence/part.h"

namespace lockstep::evidence {

// How a part came to its end.
struct Ending {
  bool in_time = true;
  Fault fault = Fault::ours;  // means nothing where nothing is wrong
  std::string wrong = {};     // in one line; empty: nothing
};

// Runs a part for at most `seconds`, and passes its rows on.
using RunPart = std::function<Ending(const Part& part, double seconds, const TakeRow& row)>;

class Collection {
 public:
  struct Options {
    double seconds = 600;         // for all parts together
    RunPart run;                  // what it throws passes through
    std::function<double()> now;  // seconds since any moment
    std::function<void(const Part& part, double seconds_gone)> on_begin = nullptr;
    std::function<void(const Result& result)> on_end = nullptr;
  };

  explicit Collection(Options options);

  // A part gets at most half of the time that is left, so that there is some for those behind it. With less
  // than a second left for it, it is left out. The result stays where it is.
  const Result& run(const Part& part);

  void leave_out(const Part& part, const std::string& why);

  const std::deque<Result>& results() const { return results_; }
  double seconds() const { return options_.seconds; }

 private:
  const Result& add(Result result);

  const Options options_;
  const double start_;
  std::deque<Result> results_;
};

}  // namespace lockstep::evidence
