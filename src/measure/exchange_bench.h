// One exchange by itself, of each kind, in turns with copying the same bytes.
#pragma once
#include <string>
#include <vector>

#include "measure/exchange_work.h"
#include "measure/make_crew.h"
#include "measure/pace.h"
#include "measure/statistics.h"

namespace lockstep::measure {

struct ExchangeFigure {
  std::string kind;
  std::vector<DeviceWork> work = {};  // by device
  Spread seconds = {};                // of one exchange
  Spread against_best = {};           // its time over that of the first kind of the table, turn by turn
  double formula = 1;                 // the same by longest_path, with a core for every device
  double formula_here = 1;            // and with the cores this process may use

  // Copied by all devices together. Joining takes part of the time.
  double bytes_per_second() const { return static_cast<double>(bytes_in_all(work)) / seconds.median; }
};

struct ExchangeFigures {
  std::size_t bytes = 0;  // of the sums
  int devices = 2;
  int cores = 1;                           // that this process may use
  std::vector<ExchangeFigure> kinds = {};  // as exchange::kinds() has them
  Spread copy_one = {}, copy_all = {};     // seconds: `bytes` copied by the first device, and by every device

  double copy_one_bytes_per_second() const { return static_cast<double>(bytes) / copy_one.median; }
  double copy_all_bytes_per_second() const { return devices * static_cast<double>(bytes) / copy_all.median; }
};

struct ExchangeBenchOptions {
  MakeCrew make_crew;
  std::size_t elements = 1 << 17;  // of the sums
  int devices = 2;                 // of one thread each
  int examples = 256;              // of a minibatch: it decides who holds which subtrees
  Pace pace{};
};

// Throws Error(device) if the memory of this machine is too small.
ExchangeFigures bench_exchange(const ExchangeBenchOptions& options);

}  // namespace lockstep::measure
