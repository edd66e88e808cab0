#include "gpu/kernel_source.h"

#include <fmt/format.h>

#include "base/random.h"
#include "gpu/kernels/winograd_constants_text.h"

namespace lockstep::gpu {

// Generated from the files that src/CMakeLists.txt lists.
extern const char* const kPlainText;
extern const char* const kTileText;
extern const char* const kGradientText;
extern const char* const kWinogradText;

namespace {

std::string define(std::string_view name, int value) { return fmt::format("#define {} {}\n", name, value); }

std::string philox_constants() {
  return fmt::format(
      "#define PHILOX_ROUNDS {}\n#define PHILOX_MULTIPLIER_0 {}u\n#define PHILOX_MULTIPLIER_1 {}u\n"
      "#define PHILOX_WEYL_0 {}u\n#define PHILOX_WEYL_1 {}u\n",
      philox::kRounds, philox::kMultiplier0, philox::kMultiplier1, philox::kWeyl0, philox::kWeyl1);
}

// `text` once more, with another meaning of `name`.
std::string with(std::string_view name, int value, std::string_view text) {
  return fmt::format("{}{}\n#undef {}\n", define(name, value), text, name);
}

}  // namespace

std::string kernel_source(const Style& style) {
  std::string source = define("LOCKSTEP_PACK_STYLE", style.pack_per_item ? 1 : 0) +
                       define("LOCKSTEP_GROUP", style.work_group) + define("TILE_O", style.tile_outputs) +
                       define("LOCKSTEP_TILE_P", style.tile_packs) + define("TILE_A_O", style.lane_outputs) +
                       define("TILE_A_T", style.lane_taps) + define("TILE_B_O", style.outer_outputs) +
                       define("TILE_B_C", style.outer_blocks) + philox_constants();
  source += kPlainText;
  source += with("TILE_P", 1, kTileText);
  if (style.tile_packs != 1) source += with("TILE_P", style.tile_packs, kTileText);
  source += winograd_constants_text();
  for (const int n : {4, 6, 8, 9}) source += with("WINOGRAD_N", n, kWinogradText);
  return source;
}

}  // namespace lockstep::gpu
