// Dropout of a pack: every lane counts through its own example. Compiled once per instruction set.
#include "cpu/layers/dropout.h"

#include <algorithm>
#include <array>

#include "base/random.h"
#include "cpu/simd/targets.h"
#include "cpu/steps/buffer_step.h"
#include "cpu/steps/define_step.h"

#define HWY_TARGET_INCLUDE "cpu/layers/dropout.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if HWY_NATIVE_FMA && !HWY_HAVE_SCALABLE
#include "cpu/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {

using Words = hn::RebindToUnsigned<Tag>;         // a word a lane
using WideWords = hn::RepartitionToWide<Words>;  // the words of every second lane, in the lower halves
constexpr Words kWords{};
constexpr WideWords kWideWords{};

// Four words a lane of Philox 4x32-10 (base/random.h). A product of two words takes the room of two lanes, so
// even and odd lanes go through the rounds apart. The upper halves hold what is of no use: a multiplication
// does not read them.
struct PhiloxLanes {
  hn::Vec<WideWords> c0, c1, c2, c3;

  HWY_INLINE void round(hn::Vec<WideWords> key0, hn::Vec<WideWords> key1) {
    const auto multiplied = [](hn::Vec<WideWords> counter, std::uint32_t by) HWY_ATTR {
      return hn::MulEven(hn::BitCast(kWords, counter), hn::Set(kWords, by));
    };
    const auto first = multiplied(c0, philox::kMultiplier0), second = multiplied(c2, philox::kMultiplier1);
    c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(second), c1), key0);
    c1 = second;
    c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(first), c3), key1);
    c3 = first;
  }
};

HWY_INLINE void store_words(hn::Vec<WideWords> even, hn::Vec<WideWords> odd, std::uint32_t* to) {
  const auto upper = hn::ShiftLeft<32>(odd);
  hn::Store(hn::OddEven(hn::BitCast(kWords, upper), hn::BitCast(kWords, even)), kWords, to);
}

// Words of 16 lanes: block `block` of each lane's example, counted from the example's first.
class DropoutWords {
 public:
  // An example has `blocks` of them.
  DropoutWords(const DropoutJob& job, std::uint32_t blocks) : epoch_(job.epoch), stream_(job.stream) {
    for (int lane = 0; lane < kPack; ++lane) {
      const std::uint64_t first = std::uint64_t{job.examples[lane]} * blocks;
      low_[lane] = static_cast<std::uint32_t>(first);
      high_[lane] = static_cast<std::uint32_t>(first >> 32);
    }
    auto key0 = static_cast<std::uint32_t>(job.seed), key1 = static_cast<std::uint32_t>(job.seed >> 32);
    for (int round = 0; round < philox::kRounds; ++round) {
      key0_[round] = key0;
      key1_[round] = key1;
      key0 += philox::kWeyl0;
      key1 += philox::kWeyl1;
    }
  }

  HWY_INLINE void draw(std::uint32_t block) {
    HWY_UNROLL(4) for (int v = 0; v < kVectors; ++v) {
      const auto more = hn::Set(kWords, block);
      const auto low = hn::Add(hn::Load(kWords, low_ + v * kLanes), more);
      const auto carry = hn::IfThenElseZero(hn::Lt(low, more), hn::Set(kWords, 1));
      const auto high = hn::Add(hn::Load(kWords, high_ + v * kLanes), carry);
      const auto epoch = hn::Set(kWideWords, epoch_), stream = hn::Set(kWideWords, stream_);
      const auto even_low = hn::BitCast(kWideWords, low), even_high = hn::BitCast(kWideWords, high);
      PhiloxLanes even{even_low, even_high, epoch, stream};
      PhiloxLanes odd{hn::ShiftRight<32>(even_low), hn::ShiftRight<32>(even_high), epoch, stream};
      for (int round = 0; round < philox::kRounds; ++round) {
        const auto key0 = hn::Set(kWideWords, key0_[round]), key1 = hn::Set(kWideWords, key1_[round]);
        even.round(key0, key1);
        odd.round(key0, key1);
      }
      store_words(even.c0, odd.c0, words_[0] + v * kLanes);
      store_words(even.c1, odd.c1, words_[1] + v * kLanes);
      store_words(even.c2, odd.c2, words_[2] + v * kLanes);
      store_words(even.c3, odd.c3, words_[3] + v * kLanes);
    }
  }

  // Of the block that was drawn last.
  const std::uint32_t* word(std::uint32_t index) const { return words_[index]; }

 private:
  alignas(64) std::uint32_t low_[kPack], high_[kPack], words_[4][kPack];
  std::uint64_t key0_[philox::kRounds], key1_[philox::kRounds];
  const std::uint64_t epoch_, stream_;
};

HWY_NOINLINE inline void run(Target, const DropoutJob& job) {
  // Above it, the upper 24 bits of a word keep an element; they are never above 2^24.
  alignas(64) std::int32_t dropped[kPack];
  for (int lane = 0; lane < kPack; ++lane)
    dropped[lane] = lane < job.present ? static_cast<std::int32_t>(job.threshold) - 1 : 1 << 24;
  const auto whole_elements = static_cast<std::uint32_t>(job.channels * job.whole_rows * job.whole_columns);
  DropoutWords words(job, (whole_elements + 3) / 4);
  const hn::RebindToSigned<Tag> whole;
  const Vec scale = hn::Set(kTag, job.scale);
  const float* x = job.x;
  float* y = job.y;
  std::uint32_t drawn = ~0u;
  for (int image_row = 0; image_row < job.channels * job.rows; ++image_row) {
    const int channel = image_row / job.rows, row = image_row % job.rows;
    const auto first = static_cast<std::uint32_t>((channel * job.whole_rows + row) * job.whole_columns);
    for (std::uint32_t element = first; element < first + static_cast<std::uint32_t>(job.columns);
         ++element) {
      if (element / 4 != drawn) words.draw(drawn = element / 4);
      HWY_UNROLL(4) for (int v = 0; v < kVectors; ++v) {
        const auto word = hn::Load(kWords, words.word(element % 4) + v * kLanes);
        const auto upper = hn::BitCast(whole, hn::ShiftRight<8>(word));
        const auto kept = hn::Gt(upper, hn::Load(whole, dropped + v * kLanes));
        const Vec scaled = hn::Mul(load(x + v * kLanes), scale);
        store(hn::IfThenElseZero(hn::RebindMask(kTag, kept), scaled), y + v * kLanes);
      }
      x += kPack;
      y += kPack;
    }
  }
}

}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
#include "cpu/simd/kernel_of.h"

namespace lockstep::cpu {
namespace {

class DropoutStep : public PackStep {
 public:
  DropoutStep(const program::Dropout& d, const program::Instruction& i, const StepContext& context)
      : PackStep(i, context), kernel_(dropout_kernel(context.kernels)), dropout_(d) {}
  void run_pack(const Work& work, int pack) const override {
    const std::span<const std::uint32_t> examples = work.input.minibatch.examples;
    const std::size_t first = static_cast<std::size_t>(work.first_pack + pack) * kPack;
    const std::size_t present = std::min<std::size_t>(kPack, examples.size() - first);
    std::array<std::uint32_t, kPack> of_lanes{};
    std::ranges::copy(examples.subspan(first, present), of_lanes.begin());
    kernel_({.x = in(0, work, pack),
             .y = out(0, work, pack),
             .channels = dropout_.kept.channels,
             .rows = dropout_.kept.height,
             .columns = dropout_.kept.width,
             .whole_rows = dropout_.whole.height,
             .whole_columns = dropout_.whole.width,
             .examples = of_lanes.data(),
             .present = static_cast<int>(present),
             .seed = work.input.seed,
             .epoch = static_cast<std::uint32_t>(work.input.epoch),
             .stream = dropout_.stream,
             .threshold = dropout_.threshold,
             .scale = dropout_.scale});
  }

 private:
  const DropoutFunction kernel_;
  const program::Dropout dropout_;
};

}  // namespace

DropoutFunction dropout_kernel(const Kernels& row) { return kernel_of<DropoutJob>(row); }

std::unique_ptr<Step> make_step(const program::Dropout& dropout, const program::Instruction& instruction,
                                const StepContext& context) {
  return std::make_unique<DropoutStep>(dropout, instruction, context);
}

template std::unique_ptr<Step> StepMaker::operator()(const program::Dropout&) const;

}  // namespace lockstep::cpu
#endif
