// What a bench of exchanges found, for people and for programs.
#pragma once
#include <span>
#include <string>

#include "measure/exchange_bench.h"

namespace lockstep::app {

std::string bench_exchange_table(std::span<const measure::ExchangeFigures> figures);

// One object: exchanges of {bytes, devices, cores, kinds, memcpy_one and memcpy_all of {seconds, quartiles,
// gigabytes_per_second}}; kinds of {name, seconds, quartiles, gigabytes_per_second, bytes, sent and received
// by device, and against the first kind: ratio, ratio_quartiles, formula, formula_here}.
std::string bench_exchange_json(std::span<const measure::ExchangeFigures> figures);

}  // namespace lockstep::app
