// "Training on Multiple GPUs" (Dive into Deep Learning, 13.5), section by section, by the book's names:
//   book [EPOCHS [DATA_DIRECTORY]]
// The book trains for 10 epochs.
#include <cstdlib>
#include <iostream>
#include <numeric>

#include <lockstep/lockstep.h>

namespace book = lockstep::book;

namespace {

// Each device gets a copy of all parameters, with gradients of zero.
void data_synchronization() {
  const book::Params params = book::init_params();
  const book::Params new_params = book::get_params(params, "cpu:0");
  const book::Tensor& b1 = new_params[1];
  std::cout << "b1 weight: " << to_text(b1) << '\n';
  std::cout << "b1 grad: " << to_text(book::Tensor{b1.rows, b1.columns, b1.grad, b1.device}) << '\n';

  // All vectors are added up, and every device gets the sum.
  std::vector<book::Tensor> data{{1, 2, {1, 1}, "cpu:0"}, {1, 2, {2, 2}, "cpu:1"}};
  std::cout << "before allreduce:\n " << to_text(data[0]) << "\n " << to_text(data[1]) << '\n';
  book::allreduce(data);
  std::cout << "after allreduce:\n " << to_text(data[0]) << "\n " << to_text(data[1]) << '\n';
}

// Every device gets an equal part of the rows.
void distributing_data() {
  book::Tensor data{4, 5, std::vector<float>(20)};
  std::iota(data.values.begin(), data.values.end(), 0.0f);
  const std::vector<std::string> devices{"cpu:0", "cpu:1"};
  const std::vector<book::Tensor> split = book::split_and_load(data, devices);
  std::cout << "input : " << to_text(data) << '\n';
  std::cout << "load into [" << devices[0] << ", " << devices[1] << "]\n";
  std::cout << "output: " << to_text(split) << '\n';

  const book::Shards shards = book::split_batch(data, {4, 1, {0, 1, 2, 3}}, devices);
  std::cout << "y: " << to_text(shards.y) << '\n';
}

// One device, then two: the same network to the last bit.
void training(int num_epochs, const std::string& data_directory) {
  for (const int num_devices : {1, 2}) {
    const book::Trained trained = book::train({.num_devices = num_devices,
                                               .batch_size = 256,
                                               .lr = 0.2f,
                                               .num_epochs = num_epochs,
                                               .data_directory = data_directory});
    std::cout << trained.line << "\nweights " << trained.weights_hash << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) try {
  data_synchronization();
  distributing_data();
  training(argc > 1 ? std::atoi(argv[1]) : 10, argc > 2 ? argv[2] : "");
} catch (const lockstep::Error& error) {
  std::cerr << error.what() << '\n';
  return error.exit_code();
}
