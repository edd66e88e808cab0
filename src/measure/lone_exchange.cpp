#include "measure/lone_exchange.h"

#include <utility>

namespace lockstep::measure {

LoneExchange::LoneExchange(Options options) : options_(std::move(options)) {
  for (int device = 0; device < options_.crew.size(); ++device) {
    const auto d = static_cast<std::size_t>(device);
    runs_.emplace_back(run::ExchangeRun::Options{*options_.executables.at(d), options_.crew.transport(device),
                                                 options_.crew.activity(device), clocks_.emplace_back(),
                                                 options_.crew.direct(device)});
  }
}

void LoneExchange::run() {
  options_.crew.run([this](int device) {
    const auto d = static_cast<std::size_t>(device);
    options_.executables[d]->begin(options_.number);
    runs_[d].begin(options_.programs[d], options_.input);
    for (const program::Segment& segment : options_.programs[d].segments) {
      for (const program::Instruction& instruction : segment.instructions) {
        for (const program::EventId event : instruction.signals) runs_[d].signal(event);
      }
    }
    runs_[d].finish();
  });
}

}  // namespace lockstep::measure
