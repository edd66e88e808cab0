// Trains the book's LeNet on two devices: first [EPOCHS]
#include <cstdlib>
#include <iostream>

#include <lockstep/lockstep.h>

int main(int argc, char** argv) try {
  const lockstep::TrainResult result = lockstep::train({
      .model = lockstep::lenet(),
      .data = lockstep::fashion_mnist(),
      .devices = "2xcpu",
      .batch = 256,
      .lr = 0.2f,
      .epochs = argc > 1 ? std::atoi(argv[1]) : 10,
      .on_epoch =
          [](const lockstep::Epoch& epoch) {
            std::cout << "epoch " << epoch.epoch << ": " << epoch.accuracy << '\n';
          },
  });
  std::cout << result.summary() << "\nweights " << result.weights.hash() << '\n';
} catch (const lockstep::Error& error) {
  std::cerr << error.what() << '\n';
  return error.exit_code();
}
