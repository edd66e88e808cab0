// Values that people type, with their limits. Every refusal is Error(usage): which value, what was expected,
// what was found. `name` is what the value is called: "--batch", "config.toml: job.batch".
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace lockstep::app {

struct WholeRange {
  int least = 0, most = 0;
};

int whole_number(std::string_view name, std::string_view text, WholeRange range);
std::uint64_t seed_number(std::string_view name, std::string_view text);

// Finite and above 0 as float, rounded once from the text.
float positive_number(std::string_view name, std::string_view text);

// A timeout: from a tenth of a second to a million.
double seconds_number(std::string_view name, std::string_view text);
void expect_seconds(std::string_view name, double value);

// Any, NaN and infinity too: its limits are checked later.
double number(std::string_view name, std::string_view text);

// From 0 to below 1.
float fraction(std::string_view name, std::string_view text);

// One of `names`, or the refusal that says the nearest.
std::string known_name(std::string_view name, std::string_view text, std::span<const std::string> names);

// Any but the empty one.
std::filesystem::path given_path(std::string_view name, std::string_view text);

// The same limits for values that are numbers already.
void expect_within(std::string_view name, int value, WholeRange range);
void expect_positive(std::string_view name, float value);

}  // namespace lockstep::app
