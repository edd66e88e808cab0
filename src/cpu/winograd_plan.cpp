#include "cpu/winograd_plan.h"

#include <algorithm>

#include "base/error.h"
#include "cpu/size.h"

namespace lockstep::cpu {
namespace {

std::ptrdiff_t elements(const program::Shape& shape) { return static_cast<std::ptrdiff_t>(shape.elements()); }

}  // namespace

WinogradPlan::WinogradPlan(const program::Convolution& c, Direction direction, program::Epilogue epilogue,
                           int most_packs, const ProductLayout& layout, std::ptrdiff_t weights_offset,
                           const Kernels& kernels)
    : kernels_(kernels),
      winograd_(winograd_of(kernels, c)),
      c_(c),
      direction_(direction),
      epilogue_(epilogue),
      most_packs_(most_packs),
      grid_(c),
      layout_(layout),
      weights_offset_(weights_offset),
      input_step_(layout.input_step()),
      output_step_(layout.output_step()),
      no_bias_(size(layout.out_channels), 0.0f) {
  check(epilogue != program::Epilogue::relu_average_pool || winograd_.relu_pool_output != nullptr,
        "a pool by two cannot follow tiles of {}", winograd_.tile);
  for (int i = 0; i < layout.in_channels; ++i) {
    taps_.push_back({i * kPack * kFloatBytes, i * layout.row() * kFloatBytes});
  }
  const int rest = (layout.groups - 1) % layout.round_groups + 1;
  for (int tiles = 0; tiles <= layout.round_tiles; ++tiles) {
    full_.push_back(streams_of(tiles, layout.round_groups));
    last_.push_back(streams_of(tiles, rest));
  }
}

// Register tiles of neighbouring tiles; what is left over makes a narrower stream.
std::vector<WinogradPlan::Stream> WinogradPlan::streams_of(int tiles, int groups) const {
  std::vector<Stream> streams;
  const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(layout_.round_groups) * layout_.width * kPack;
  for (int first = 0; first < tiles;) {
    const int neighbours = std::min(layout_.neighbours, tiles - first);
    const int last = first + (tiles - first) / neighbours * neighbours;
    Stream& stream = streams.emplace_back(Stream{neighbours, {}});
    for (int f = 0; f < grid_.side(); ++f) {
      for (int t = first; t < last; t += neighbours) {
        for (int g = 0; g < groups; ++g) {
          stream.positions.push_back(
              {static_cast<std::int32_t>(f * input_step_ +
                                         static_cast<std::ptrdiff_t>(t) * layout_.in_channels * kPack),
               static_cast<std::int32_t>(f * output_step_ + t * row +
                                         static_cast<std::ptrdiff_t>(g) * layout_.width * kPack),
               0, layout_.in_channels,
               static_cast<std::int32_t>(f * layout_.weight_step + layout_.weight(g * layout_.width, 0))});
        }
      }
    }
    first = last;
  }
  return streams;
}

std::size_t WinogradPlan::scratch_floats() const {
  return size(grid_.frequencies() * (input_step_ + output_step_)) + size(layout_.width) * kPack;
}

WinogradPlan::Scratch WinogradPlan::divide(float* scratch) const {
  float* const products = scratch + grid_.frequencies() * input_step_;
  return {scratch, products, products + grid_.frequencies() * output_step_};
}

void WinogradPlan::run(const Operands& operands, float* scratch) const {
  const Scratch parts = divide(scratch);
  std::fill_n(parts.zero, layout_.width * kPack, 0.0f);
  const int tiles = grid_.count() * operands.packs;
  LapClock clock(operands.laps);
  Round round{};
  for (round.first = 0; round.first < tiles; round.first += layout_.round_tiles) {
    round.count = std::min(layout_.round_tiles, tiles - round.first);
    transform_in(operands, round, parts.inputs);
    clock.lap(&Laps::into);
    for (round.group = 0; round.group < layout_.groups; round.group += layout_.round_groups) {
      round.groups = std::min(layout_.round_groups, layout_.groups - round.group);
      multiply(operands, round, parts);
      clock.lap(&Laps::products);
      transform_out(operands, round, parts.products);
      clock.lap(&Laps::back);
    }
  }
}

void WinogradPlan::transform_in(const Operands& operands, const Round& round, float* inputs) const {
  const bool forward = direction_ == Direction::forward;
  const program::Shape& image = forward ? c_.input : c_.output;
  IntoFrequenciesJob job{};
  job.image_next = image.area() * kPack;
  job.frequency = input_step_;
  job.frequencies_next = kPack;
  job.count = layout_.in_channels;
  for (int i = 0; i < round.count; ++i) {
    const int pack = (round.first + i) / grid_.count(), tile = (round.first + i) % grid_.count();
    const TileGrid::Square square = forward ? grid_.input(tile, kPack) : grid_.output(tile, kPack);
    job.image = operands.input + pack * elements(image) * kPack + square.offset;
    job.window = square.window;
    job.frequencies = inputs + static_cast<std::ptrdiff_t>(i) * layout_.in_channels * kPack;
    (forward ? winograd_.input : winograd_.output_gradient)(job);
  }
}

// Per frequency a chain over the input channels from +0.
void WinogradPlan::multiply(const Operands& operands, const Round& round, const Scratch& scratch) const {
  TapTileJob job{};
  job.start = scratch.zero;
  job.scatter = true;
  job.output_position = static_cast<std::ptrdiff_t>(layout_.round_groups) * layout_.width * kPack;
  job.output_channel = kPack;
  job.input_position = static_cast<std::ptrdiff_t>(layout_.in_channels) * kPack;
  job.taps = taps_.data();
  job.repeats = 1;
  const float* const weights =
      operands.weights + weights_offset_ + layout_.weight(round.group * layout_.width, 0);
  const auto& streams = round.groups == layout_.round_groups ? full_ : last_;
  for (int row = 0; row < grid_.side(); ++row) {
    const std::ptrdiff_t f = static_cast<std::ptrdiff_t>(row) * grid_.side();
    job.input = scratch.inputs + f * input_step_;
    job.weights = weights + f * layout_.weight_step;
    job.output = scratch.products + f * output_step_;
    for (const Stream& stream : streams[size(round.count)]) {
      const TapTile tap_tile = kernels_.tap_tile[size(layout_.width)][size(stream.neighbours)];
      job.positions = stream.positions.data();
      job.position_count = static_cast<int>(stream.positions.size());
      tap_tile(job);
    }
  }
}

FromFrequencies WinogradPlan::transform_back() const {
  if (direction_ == Direction::input_gradient) return winograd_.input_gradient;
  switch (epilogue_) {
    case program::Epilogue::none:
      return winograd_.output;
    case program::Epilogue::relu:
      return winograd_.relu_output;
    case program::Epilogue::relu_average_pool:
      return winograd_.relu_pool_output;
  }
  return nullptr;
}

void WinogradPlan::transform_out(const Operands& operands, const Round& round, const float* products) const {
  const int channel = round.group * layout_.width;
  FromFrequenciesJob job{};
  job.frequency = output_step_;
  job.frequencies_next = kPack;
  job.count = std::min(round.groups * layout_.width, layout_.out_channels - channel);
  for (int i = 0; i < round.count; ++i) {
    const int pack = (round.first + i) / grid_.count(), tile = (round.first + i) % grid_.count();
    job.frequencies =
        products + static_cast<std::ptrdiff_t>(i) * layout_.round_groups * layout_.width * kPack;
    if (direction_ == Direction::forward) {
      place_output(operands, pack, tile, channel, job);
    } else {
      place_input_gradient(operands, pack, tile, channel, job);
    }
    transform_back()(job);
  }
}

void WinogradPlan::place_output(const Operands& operands, int pack, int tile, int channel,
                                FromFrequenciesJob& job) const {
  TileGrid::Square square = grid_.output(tile, kPack);
  job.bias = (operands.bias == nullptr ? no_bias_.data() : operands.bias) + channel;
  job.window = square.window;
  job.image_next = c_.output.area() * kPack;
  if (epilogue_ == program::Epilogue::relu_average_pool) {
    const std::ptrdiff_t first = square.offset / kPack, width = c_.output.width;
    job.mask_row = width * 2;
    job.mask_next = c_.output.area() * 2;
    job.mask = operands.mask + (pack * elements(c_.output) + channel * c_.output.area() + first) * 2;
    job.image_next /= 4;
    job.window.row = width / 2 * kPack;
    square.offset = (first / width / 2 * (width / 2) + first % width / 2) * kPack;
    job.image = operands.output + pack * elements(c_.output) / 4 * kPack;
  } else {
    job.image = operands.output + pack * elements(c_.output) * kPack;
  }
  job.image += channel * job.image_next + square.offset;
}

void WinogradPlan::place_input_gradient(const Operands& operands, int pack, int tile, int channel,
                                        FromFrequenciesJob& job) const {
  const TileGrid::Square square = grid_.input(tile, kPack);
  const int overlap = winograd_.kernel - 1;
  job.window = square.window;
  job.image_next = c_.input.area() * kPack;
  job.image = operands.output + pack * elements(c_.input) * kPack + channel * job.image_next + square.offset;
  job.seen_rows = grid_.in_first_row(tile) ? 0 : overlap;
  job.seen_columns = grid_.in_first_column(tile) ? 0 : overlap;
}

}  // namespace lockstep::cpu
