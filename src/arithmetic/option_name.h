// What a refusal calls an option. An option has one name here (weight_decay); a command line, a file and the
// library each write it in their own way (--weight-decay, config.toml:7: job.weight_decay, weight_decay).
#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace lockstep::arithmetic {

using OptionName = std::function<std::string(std::string_view option)>;

}  // namespace lockstep::arithmetic
