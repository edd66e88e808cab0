// Values of config.toml, one kind each: its type and its limits. Every refusal is Error(usage) with file,
// line, key, what was expected and what was found.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <toml++/toml.h>

#include "arithmetic/algorithm.h"
#include "store/data_sizes.h"

namespace lockstep::store {

// One value and where it stands.
struct ConfigValue {
  const toml::node& node;
  std::string_view file;
  std::string_view key;  // job.lr

  [[noreturn]] void refuse(std::string_view expected, std::string_view found) const;
  [[noreturn]] void refuse_type(std::string_view expected) const;
};

void read(std::string& into, const ConfigValue& value);
void read_hash(std::string& into, const ConfigValue& value);
void read_data_sizes(DataSizes& into, const ConfigValue& value);
void read_integer(int& into, const ConfigValue& value, int least);
void read_seed(std::uint64_t& into, const ConfigValue& value);
void read_truth(bool& into, const ConfigValue& value);
void read_rate(float& into, const ConfigValue& value);
void read_momentum(std::optional<float>& into, const ConfigValue& value);
void read_number(std::optional<double>& into, const ConfigValue& value);
void read_seconds(double& into, const ConfigValue& value);
void read_convolution(arithmetic::ConvolutionRule& into, const ConfigValue& value);
void read_ghost(int& into, const ConfigValue& value);
void read_exchange(std::string& into, const ConfigValue& value);
void read_devices(std::vector<std::string>& into, const ConfigValue& value);
void read_shares(std::vector<double>& into, const ConfigValue& value);

}  // namespace lockstep::store
