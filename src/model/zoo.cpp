#include "model/zoo.h"

#include <array>

#include "base/error.h"
#include "base/nearest.h"

namespace lockstep::model {
namespace {

struct Entry {
  std::string_view name;
  Model (*build)();
};
constexpr std::array kZoo{Entry{"lenet", lenet}, Entry{"mlp", mlp}};

}  // namespace

Model lenet() {
  return {.name = "lenet",
          .input = {1, 28, 28},
          .layers = {{"conv1", Conv2d{.out_channels = 20, .kernel = {3, 3}}},
                     {"relu1", Relu{}},
                     {"pool1", AvgPool{.window = {2, 2}, .stride = {2, 2}}},
                     {"conv2", Conv2d{.out_channels = 50, .kernel = {5, 5}}},
                     {"relu2", Relu{}},
                     {"pool2", AvgPool{.window = {2, 2}, .stride = {2, 2}}},
                     {"flatten1", Flatten{}},
                     {"linear1", Linear{128}},
                     {"relu3", Relu{}},
                     {"linear2", Linear{10}}}};
}

Model mlp() {
  return {.name = "mlp",
          .input = {1, 28, 28},
          .layers = {
              {"flatten1", Flatten{}}, {"linear1", Linear{256}}, {"relu1", Relu{}}, {"linear2", Linear{10}}}};
}

std::vector<std::string> zoo_names() {
  std::vector<std::string> names;
  names.reserve(kZoo.size());
  for (const Entry& entry : kZoo) names.emplace_back(entry.name);
  return names;
}

Model zoo_model(std::string_view name) {
  for (const Entry& entry : kZoo) {
    if (entry.name == name) return entry.build();
  }
  throw Error(Fault::usage, "there is no model named '{}'{}", name, suggestion(name, zoo_names()));
}

}  // namespace lockstep::model
