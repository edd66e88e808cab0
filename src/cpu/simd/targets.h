// Included before hwy/foreach_target.h: which instruction sets kernels are compiled for. Without a fused
// multiply-add the bits would differ. The baseline cannot be disabled; kernels leave their bodies out there.
#pragma once
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
