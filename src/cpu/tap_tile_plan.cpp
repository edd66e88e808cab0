#include "cpu/tap_tile_plan.h"

#include <algorithm>

#include "cpu/size.h"

namespace lockstep::cpu {
namespace {

constexpr int kLinearBlock = 256;  // input units of a linear layer whose weights and inputs stay in L1
// The same for one pack and weights in canonical order, whose rows lie pages apart: all 128 of 800 at once
// take 70 us, 64 at a time 40 (AVX-512, Emerald Rapids).
constexpr int kCanonicalBlock = 64;
constexpr int kListedTaps =
    25;  // a list of about this length keeps the inner loop long and the list in cache

}  // namespace

TapTilePlan::TapTilePlan(const program::Convolution& c, Direction direction, program::Epilogue epilogue,
                         int most_packs, const Kernels& kernels, const CacheSizes& caches)
    : kernels_(kernels),
      direction_(direction),
      epilogue_(epilogue),
      in_channels_(direction == Direction::forward ? c.input.channels : c.output.channels),
      out_channels_(direction == Direction::forward ? c.output.channels : c.input.channels),
      in_((direction == Direction::forward ? c.input : c.output).extent()),
      out_((direction == Direction::forward ? c.output : c.input).extent()),
      kernel_(c.kernel),
      stride_(c.stride),
      padding_(c.padding),
      linear_(c.linear()),
      in_step_(linear_ ? Strides{kPack, 0, in_channels_ * kPack}
                       : Strides{in_.area() * kPack, in_.width * kPack, kPack}),
      out_step_(linear_ ? Strides{kPack, 0, out_channels_ * kPack}
                        : Strides{out_.area() * kPack, out_.width * kPack, kPack}) {
  const bool forward = direction == Direction::forward;
  const int packs = linear_ ? most_packs : 1;
  const int phase_width = forward ? out_.width : std::max(1, out_.width / stride_.width);
  tile_ = choose_tile(kernels, out_channels_, linear_ ? packs : phase_width);
  // An input gradient tiles down as well as across, so a block is whole tiles in both directions.
  const int multiple = epilogue == program::Epilogue::relu_average_pool ? 2 : forward ? 1 : tile_.positions;
  block_ = choose_block({in_channels_, in_.height, in_.width, out_.height, out_.width, kernel_.height,
                         kernel_.width, forward ? stride_.height : 1, forward ? stride_.width : 1, multiple},
                        input_room(kernels, caches));
  if (linear_)
    block_ = {std::min(in_channels_, canonical() && packs == 1 ? kCanonicalBlock : kLinearBlock), 1, packs};
  while (in_channels_ % (2 * listed_) == 0 && 2 * listed_ * c.taps() <= kListedTaps) listed_ *= 2;
  block_.channels = std::min(in_channels_, (block_.channels + listed_ - 1) / listed_ * listed_);
  // Single positions want long tiles of channels; a block that an epilogue reads again has to stay in L1.
  const int tiles_in_group = dense() ? 1 : std::max(1, most_tile_channels(kernels, 1) / tile_.channels);
  // A group of a linear layer is whole tiles of at least a cache line of weights: they are transposed, or lie
  // in the parameter, together.
  const int tiles_in_line = (kPack + tile_.channels - 1) / tile_.channels;
  widest_ = std::min(out_channels_, (linear_ ? tiles_in_line : tiles_in_group) * tile_.channels);
  row_ = canonical() ? out_channels_ : widest_;
  for (int o = 0; o < out_channels_; o += widest_) first_.push_back(o);
  first_.push_back(out_channels_);
  for (int n = 1; n <= packs; ++n) {
    const program::Extent out = linear_ ? program::Extent{1, n} : out_;
    std::vector<Block>& blocks = blocks_.emplace_back();
    for (int y = 0; y < out.height; y += block_.rows) {
      for (int x = 0; x < out.width; x += block_.columns) blocks.push_back(make_block(y, x, out));
    }
  }
  lists_.clear();
}

// Taps inside the image, relative to the position's own input.
std::vector<Tap> TapTilePlan::taps_of(int row, int column) const {
  if (linear_) return {{0, 0}};
  const auto source = [this](int output, int tap, int stride, int padding, int inputs) {
    int input = output * stride + tap - padding;
    if (direction_ == Direction::input_gradient) {
      input = output + padding - tap;
      if (input < 0 || input % stride != 0) return -1;
      input /= stride;
    }
    return input >= 0 && input < inputs ? input : -1;
  };
  const bool forward = direction_ == Direction::forward;
  const int own_row = forward ? row * stride_.height : row / stride_.height;
  const int own_column = forward ? column * stride_.width : column / stride_.width;
  std::vector<Tap> taps;
  for (int ky = 0; ky < kernel_.height; ++ky) {
    const int y = source(row, ky, stride_.height, padding_.height, in_.height);
    for (int kx = 0; kx < kernel_.width && y >= 0; ++kx) {
      const int x = source(column, kx, stride_.width, padding_.width, in_.width);
      if (x < 0) continue;
      taps.push_back(
          {static_cast<int>((y - own_row) * in_step_.row + (x - own_column) * in_step_.column) * kFloatBytes,
           (ky * kernel_.width + kx) * row_ * kFloatBytes});
    }
  }
  return taps;
}

// The index of a tap list: every list is kept once, written out for listed_ channels.
int TapTilePlan::list_of(const std::vector<Tap>& taps) {
  const auto equal = [&](const std::vector<Tap>& other) {
    return std::equal(taps.begin(), taps.end(), other.begin(), other.end(),
                      [](const Tap& a, const Tap& b) { return a.input == b.input && a.weight == b.weight; });
  };
  const auto found = std::find_if(lists_.begin(), lists_.end(), equal);
  if (found != lists_.end()) return static_cast<int>(found - lists_.begin());
  lists_.push_back(taps);
  list_starts_.push_back(static_cast<int>(taps_.size()));
  for (int c = 0; c < listed_; ++c) {
    for (const Tap& tap : taps) {
      taps_.push_back({tap.input + c * static_cast<int>(in_step_.channel) * kFloatBytes,
                       tap.weight + c * kernel_.height * kernel_.width * row_ * kFloatBytes});
    }
  }
  return static_cast<int>(lists_.size()) - 1;
}

// How many positions from (row, column) on in steps share a list and are not taken yet, at most a tile's.
int TapTilePlan::neighbours(int list, int row, int column, int row_step, int column_step, const Block& block,
                            const std::vector<bool>& taken) {
  int count = 1;
  for (; count < tile_.positions; ++count) {
    const int y = row + count * row_step, x = column + count * column_step;
    if (y >= block.row + block.rows || x >= block.column + block.columns) break;
    if (taken[size((y - block.row) * block.columns + x - block.column)] || list_of(taps_of(y, x)) != list)
      break;
  }
  return count;
}

TapTilePlan::Block TapTilePlan::make_block(int row, int column, program::Extent out) {
  Block block{
      row, column, std::min(block_.rows, out.height - row), std::min(block_.columns, out.width - column), {}};
  const bool forward = direction_ == Direction::forward;
  // Positions that can share a list are a step apart: those between them meet other taps.
  const program::Extent step = forward ? program::Extent{1, 1} : stride_;
  std::vector<bool> taken(size(block.rows * block.columns), false);
  for (int y = row; y < row + block.rows; ++y) {
    for (int x = column; x < column + block.columns; ++x) {
      if (taken[size((y - row) * block.columns + x - column)]) continue;
      const std::vector<Tap> taps = taps_of(y, x);
      const int list = list_of(taps), few = std::min(static_cast<int>(taps.size()), 2);
      const int across = neighbours(list, y, x, 0, step.width, block, taken);
      const int down = neighbours(list, y, x, step.height, 0, block, taken);
      const bool vertical = down > across;
      const int width = std::max(across, down);
      for (int i = 0; i < width; ++i) {
        const int down_by = vertical ? i * step.height : 0, across_by = vertical ? 0 : i * step.width;
        taken[size((y - row + down_by) * block.columns + x - column + across_by)] = true;
      }
      auto stream = std::find_if(block.streams.begin(), block.streams.end(), [&](const Stream& s) {
        return s.width == width && s.vertical == vertical && s.few_taps == few;
      });
      if (stream == block.streams.end())
        stream = block.streams.insert(stream, Stream{width, vertical, few, {}, 0});
      const int own_row = forward ? y * stride_.height : y / stride_.height;
      const int own_column = forward ? x * stride_.width : x / stride_.width;
      const std::ptrdiff_t output =
          dense() ? (static_cast<std::ptrdiff_t>(y - row) * block.columns + x - column) * kPack
                  : y * out_step_.row + x * out_step_.column;
      stream->positions.push_back({static_cast<int>(own_row * in_step_.row + own_column * in_step_.column),
                                   static_cast<int>(output), list_starts_[size(list)],
                                   static_cast<int>(taps.size()) * listed_});
    }
  }
  std::ptrdiff_t sums = 0;
  for (Stream& stream : block.streams) {
    stream.first_sum = sums;
    sums += stream.width * static_cast<std::ptrdiff_t>(stream.positions.size());
  }
  return block;
}

std::size_t TapTilePlan::prepared_floats() const {
  if (canonical()) return size(row_) * size(in_channels_);
  return (first_.size() - 1) * size(row_) * size(in_channels_) * size(kernel_.height * kernel_.width);
}

std::size_t TapTilePlan::scratch_floats() const {
  const std::size_t positions = size(block_.rows) * size(block_.columns);
  return (size(out_channels_) * (1 + positions) + size(widest_) * positions) * kPack;
}

TapTilePlan::Scratch TapTilePlan::divide(float* scratch) const {
  const std::ptrdiff_t positions = static_cast<std::ptrdiff_t>(block_.rows) * block_.columns;
  float* const sums = scratch + static_cast<std::ptrdiff_t>(out_channels_) * kPack;
  return {scratch, sums, sums + out_channels_ * positions * kPack};
}

std::ptrdiff_t TapTilePlan::weights_of(int in_channel, int channels, Channels group) const {
  if (canonical()) return static_cast<std::ptrdiff_t>(in_channel) * row_ + group.first;
  const std::ptrdiff_t groups = std::ssize(first_) - 1, before = group.first / widest_;
  return (in_channel * groups + before * channels) * kernel_.height * kernel_.width * row_;
}

void TapTilePlan::prepare(const float* weights, float* prepared, int part, int parts) const {
  if (canonical()) return;
  const int taps = kernel_.height * kernel_.width, groups = static_cast<int>(first_.size()) - 1;
  // A group's rows are read from end to end: the parameter may come from far.
  for (int g = groups * part / parts; g < groups * (part + 1) / parts; ++g) {
    const auto [first, count] = group(size(g));
    for (int c0 = 0; c0 < in_channels_; c0 += block_.channels) {
      const int channels = std::min(block_.channels, in_channels_ - c0);
      float* const to = prepared + weights_of(c0, channels, {first, count});
      if (direction_ == Direction::forward) {
        // [output channel][input channel][tap]: a group is rows of one long run each
        const std::ptrdiff_t run = static_cast<std::ptrdiff_t>(channels) * taps;
        const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(in_channels_) * taps;
        const float* const from = weights + first * row + static_cast<std::ptrdiff_t>(c0) * taps;
        const int blocked = count / 4 * 4;
        std::ptrdiff_t i = 0;
        for (; i + kPack <= run; i += kPack) {
          kernels_.transpose_pack(from + i, row, to + i * row_, row_, blocked);
          for (int o = blocked; o < count; ++o) {
            for (int j = 0; j < kPack; ++j) to[(i + j) * row_ + o] = from[o * row + i + j];
          }
        }
        for (; i < run; ++i) {
          for (int o = 0; o < count; ++o) to[i * row_ + o] = from[o * row + i];
        }
      } else {
        for (int c = 0; c < channels; ++c) {
          const float* const from =
              weights + (static_cast<std::ptrdiff_t>(c0 + c) * out_channels_ + first) * taps;
          float* const rows = to + static_cast<std::ptrdiff_t>(c) * taps * row_;
          for (int o = 0; o < count; ++o) {
            for (int tap = 0; tap < taps; ++tap) rows[tap * row_ + o] = from[o * taps + tap];
          }
        }
      }
    }
  }
}

void TapTilePlan::run(const Operands& operands, float* scratch) const {
  const Scratch parts = divide(scratch);
  for (int o = 0; o < out_channels_; ++o) {
    std::fill_n(parts.start + o * kPack, kPack, operands.bias == nullptr ? 0.0f : operands.bias[o]);
  }
  for (const Block& block : blocks_[size(operands.packs - 1)]) {
    for (int c = 0; c < in_channels_; c += block_.channels) {
      const bool last = c + block_.channels >= in_channels_;
      for (std::size_t g = 0; g + 1 < first_.size(); ++g) {
        for (const Stream& stream : block.streams) run_stream(block, stream, c, group(g), operands, parts);
        if (last && dense()) finish_block(block, group(g), operands, parts.finished);
      }
    }
  }
}

// One stream of positions, one block of input channels, one group of output channels: tile by tile.
void TapTilePlan::run_stream(const Block& block, const Stream& stream, int in_channel, Channels group,
                             const Operands& operands, const Scratch& scratch) const {
  const int channels = std::min(block_.channels, in_channels_ - in_channel);
  const int taps = kernel_.height * kernel_.width;
  const bool forward = direction_ == Direction::forward;
  const bool begins = in_channel == 0, ends = in_channel + channels == in_channels_;
  const std::ptrdiff_t stream_positions = stream.width * static_cast<std::ptrdiff_t>(stream.positions.size());
  const std::ptrdiff_t block_positions = static_cast<std::ptrdiff_t>(block_.rows) * block_.columns;
  float* const sums = scratch.sums + (group.first * block_positions + stream.first_sum * group.count) * kPack;
  const Strides out_step = dense() ? Strides{static_cast<std::ptrdiff_t>(block.rows) * block.columns * kPack,
                                             block.columns * kPack, kPack}
                                   : out_step_;
  float* const output = dense() ? scratch.finished : operands.output + group.first * out_step.channel;

  TapTileJob job{};
  job.scatter = ends;
  job.input = operands.input + in_channel * in_step_.channel;
  job.input_position = stream.vertical ? (forward ? stride_.height : 1) * in_step_.row
                                       : (forward ? stride_.width : 1) * in_step_.column;
  job.positions = stream.positions.data();
  job.position_count = static_cast<int>(stream.positions.size());
  job.taps = taps_.data();
  job.repeats = channels / listed_;
  job.input_repeat = listed_ * in_step_.channel;
  job.weight_repeat = static_cast<std::ptrdiff_t>(listed_) * taps * row_;
  const float* const weights = operands.weights + weights_of(in_channel, channels, group);

  const int most = most_tile_channels(kernels_, stream.width), tiles = (group.count + most - 1) / most;
  for (int t = 0; t < tiles; ++t) {
    const int first = group.count * t / tiles, count = group.count * (t + 1) / tiles - first;
    float* const tile_sums = sums + first * stream_positions * kPack;
    job.start = begins ? scratch.start + (group.first + first) * kPack : tile_sums;
    job.start_position = begins ? 0 : count * kPack;
    job.start_tile = job.start_position * stream.width;
    job.weights = weights + first;
    if (ends) {
      job.output = output + first * out_step.channel;
      job.output_position = stream.vertical ? (forward ? 1 : stride_.height) * out_step.row
                                            : (forward ? 1 : stride_.width) * out_step.column;
      job.output_channel = out_step.channel;
    } else {
      job.output = tile_sums;
      job.output_position = count * kPack;
      job.output_channel = kPack;
      job.output_tile = job.output_position * stream.width;
    }
    if (stream.few_taps == 0 || stream.few_taps * channels < 2) {
      kernels_.tap_tile_short(job, count, stream.width);
    } else {
      (ends && !dense() ? kernels_.tap_tile_finished
                        : kernels_.tap_tile)[size(count)][size(stream.width)](job);
    }
  }
}

void TapTilePlan::finish_block(const Block& block, Channels group, const Operands& operands,
                               const float* finished) const {
  const bool pooled = epilogue_ == program::Epilogue::relu_average_pool;
  const int shrink = pooled ? 2 : 1, width = out_.width / shrink, height = out_.height / shrink;
  BlockJob job{};
  job.block = finished;
  job.channels = group.count;
  job.rows = block.rows;
  job.columns = block.columns;
  if (linear_) {
    // the packs of a linear layer stand in columns
    job.y_channel = out_step_.channel;
    job.y_column = out_step_.column;
    job.y = operands.output + group.first * job.y_channel + block.column * job.y_column;
  } else {
    job.y_channel = static_cast<std::ptrdiff_t>(height) * width * kPack;
    job.y_row = static_cast<std::ptrdiff_t>(width) * kPack;
    job.y_column = kPack;
    job.y = operands.output + group.first * job.y_channel + block.row / shrink * job.y_row +
            block.column / shrink * job.y_column;
  }
  if (pooled) {
    job.mask_channel = out_.area() * 2;
    job.mask_row = static_cast<std::ptrdiff_t>(out_.width) * 2;
    job.mask = operands.mask + group.first * job.mask_channel + block.row * job.mask_row + block.column * 2;
  }
  (pooled ? kernels_.relu_pool_block : kernels_.relu_block)(job);
}

}  // namespace lockstep::cpu
