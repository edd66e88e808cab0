// The launches of fast convolution: transforms, products frequency by frequency, transforms back.
#pragma once
#include "gpu/launches/pack_launches.h"

namespace lockstep::gpu {

void fast_forward(const PackLaunches& launches, const program::Forward& forward);
void fast_input_gradient(const PackLaunches& launches, const program::Convolution& whole);

// x to scratch kFirst, dy to scratch kSecond, by frequency.
void transform_input(const PackLaunches& launches, const program::Convolution& whole, const Memory* x);
void transform_gradient(const PackLaunches& launches, const program::Convolution& whole, const Memory* dy);

// The kernel for the tiles of a convolution: winograd_input_6.
std::string of_side(std::string_view kernel, const Tiling& tiling);

}  // namespace lockstep::gpu
