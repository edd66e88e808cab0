// One epoch of resnet8 with a bias in front of each batch norm, kept as a run:
// train_biased_resnet8 DATA WEIGHTS RUN BATCH SEED RATE MOMENTUM
#include <cstdlib>
#include <iostream>
#include <variant>

#include <lockstep/lockstep.h>

int main(int argc, char** argv) try {
  if (argc != 8) return 2;
  lockstep::Model model = lockstep::zoo_model("resnet8");
  for (lockstep::Layer& layer : model.layers) {
    if (auto* const convolution = std::get_if<lockstep::Conv2d>(&layer.kind)) convolution->bias = true;
  }
  lockstep::train({.model = model,
                   .data = lockstep::fashion_mnist(argv[1]),
                   .devices = "2xcpu",
                   .batch = std::atoi(argv[4]),
                   .lr = std::strtof(argv[6], nullptr),
                   .epochs = 1,
                   .momentum = std::strtof(argv[7], nullptr),
                   .seed = std::strtoull(argv[5], nullptr, 10),
                   .start = lockstep::load_weights(argv[2], model),
                   .run = argv[3]});
} catch (const lockstep::Error& error) {
  std::cerr << error.what() << '\n';
  return error.exit_code();
}
