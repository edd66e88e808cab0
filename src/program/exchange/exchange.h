// How partial sums travel between devices and meet: lists of instructions, one list a device.
//
// Every device has partial sums of all gradients over its own packs, a few complete subtrees of the pack tree
// each. For every element one device is the owner: it receives the subtrees of the others, joins them in the
// law's order, divides by the examples, and sends the result to everyone. Which device owns what is all that
// tells one exchange from another (sharded.cpp, star.cpp). A list runs from top to bottom; sends and receives
// of a pair of devices match in that order. It depends on sizes, packs and devices alone.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "arithmetic/tree.h"

namespace lockstep::program::exchange {

inline constexpr std::size_t kLineFloats = 16;  // of a cache line: devices do not share one

// Elements [first, first + count) of one of the program's sums.
struct Range {
  int sum = 0;
  std::size_t first = 0, count = 0;
  bool operator==(const Range&) const = default;
};

// Where numbers are sent from, or received into.
struct Place {
  enum class Of {
    held,       // the partial sums of the device's own packs: complete subtree `slot`
    inbox,      // what others sent, from float `slot` on
    gradient,   // the finished mean
    parameter,  // of the sum
    verdict,    // whether all gradients that device `slot` owns are finite
  };
  Of of = Of::held;
  Range range = {};
  std::size_t slot = 0;
  bool operator==(const Place&) const = default;
};

struct Send {
  int to = 0;
  Place place = {};
};
struct Receive {
  int from = 0;
  Place place = {};
};
// The rest of the pack tree over `range`, divided by the examples of the step, into the gradient.
struct Join {
  Range range = {};
  std::vector<Place> subtrees = {};  // of all devices, in the order of the packs
  std::vector<arithmetic::JoinPair> pairs = {};
};
// Are these gradients finite? The answer is the device's own verdict.
struct Check {
  std::vector<Range> ranges = {};
};
struct Agree {};  // the step ends here, on every device, unless all verdicts are good
struct Update {   // of the owner's part of a parameter
  Range range = {};
};

struct Instruction {
  std::variant<Send, Receive, Join, Check, Agree, Update> operation;
  int group = -1;  // not before the device's own sums of this group of sums are complete
  int after = -1;  // not before this earlier receive of the list, and those posted with it, have arrived
};

using List = std::vector<Instruction>;

inline constexpr std::size_t kSmallestGroup =
    16 * 1024;  // 64 KB of sums: what a wake-up of a thread is worth

// What an exchange depends on.
struct Setting {
  std::vector<std::size_t> sums = {};  // elements of each, in the order they become complete
  std::vector<bool> trained = {};      // belongs to a parameter; the loss does not
  int packs = 1;
  std::vector<arithmetic::PackRange> shares = {};  // of each device
  std::size_t smallest_group = kSmallestGroup;     // of sums whose exchange starts together, in elements
  bool shard_optimizer = false;  // owners update their parts and send parameters instead of gradients

  int devices() const { return static_cast<int>(shares.size()); }
};

// Part of a sum and who owns it.
struct Shard {
  Range range = {};
  int owner = 0;
  bool operator==(const Shard&) const = default;
};

// One row a kind of exchange.
struct Kind {
  std::string_view name;
  std::vector<Shard> (*shards)(std::span<const std::size_t> sums, int devices);
};
std::span<const Kind> kinds();
const Kind& kind_named(std::string_view name);  // throws Error(usage) with the nearest name

// Sums whose exchange starts together, once all of them are complete: [first, last) in the order they become
// complete. Small ones go with their neighbours, because a message has a price of its own.
struct Group {
  int first = 0, last = 0;
  bool operator==(const Group&) const = default;
};
std::vector<Group> group_sums(std::span<const std::size_t> sums, std::size_t smallest = kSmallestGroup);

// The lists of all devices.
std::vector<List> emit(const Setting& setting, std::span<const Shard> shards);

// Floats of inbox a list needs.
std::size_t inbox_floats(const List& list);

}  // namespace lockstep::program::exchange
