// What a verification found under one setting, for people and for programs.
#pragma once
#include <string>

#include "audit/verify.h"
#include "report/verify_table.h"

namespace lockstep::app {

report::VerifyRow verify_row(const audit::SettingResult& result);

// "2xcpu, sharded: step 4, cpu:1: layer linear2, ..."
std::string difference_text(const audit::Setting& setting, const audit::ReplicaDifference& difference);

// One object: devices, threads, exchange, order, steps, weights, equal, seconds, difference if there is one,
// hashes by step and parameter.
std::string verify_json(const audit::SettingResult& result);

}  // namespace lockstep::app
