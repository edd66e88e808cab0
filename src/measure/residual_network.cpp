#include "measure/residual_network.h"

#include <string>

namespace lockstep::measure {

model::Model residual_network(int blocks) {
  using namespace model;
  Model model{.name = "residual", .input = {1, 28, 28}, .layers = {}};
  const Conv2d conv{.out_channels = 16, .kernel = {3, 3}, .padding = {1, 1}};
  model.layers = {{"conv0", conv}, {"relu0", Relu{}}};
  std::string before = "relu0";
  for (int b = 1; b <= blocks; ++b) {
    const auto name = [&](const char* what) { return what + std::to_string(b); };
    model.layers.push_back({name("conva"), conv, {before}});
    model.layers.push_back({name("relua"), Relu{}});
    model.layers.push_back({name("convb"), conv});
    model.layers.push_back({name("add"), Add{}, {name("convb"), before}});
    model.layers.push_back({name("relub"), Relu{}});
    before = name("relub");
  }
  model.layers.push_back({"pool", MaxPool{{2, 2}, {2, 2}}});
  model.layers.push_back({"flatten", Flatten{}});
  model.layers.push_back({"linear", Linear{10}});
  return model;
}

}  // namespace lockstep::measure
