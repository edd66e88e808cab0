#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <lockstep/book.h>

#include "api/book_devices.h"
#include "base/error.h"
#include "model/zoo.h"
#include "plan/deal.h"
#include "train/job.h"

namespace lockstep {
inline namespace api {
namespace book {
namespace {

std::span<const float> row(const Tensor& tensor, int index) {
  return std::span(tensor.values)
      .subspan(static_cast<std::size_t>(index) * static_cast<std::size_t>(tensor.columns),
               static_cast<std::size_t>(tensor.columns));
}

// Whole numbers as "3.", others with four decimals, all of one width.
std::vector<std::string> number_texts(const std::vector<float>& values) {
  const bool whole = std::ranges::all_of(values, [](float v) { return std::nearbyint(v) == v; });
  std::vector<std::string> texts;
  std::size_t width = 0;
  for (const float value : values) {
    texts.push_back(whole ? fmt::format("{:.0f}.", value) : fmt::format("{:.4f}", value));
    width = std::max(width, texts.back().size());
  }
  for (std::string& text : texts) text.insert(0, width - text.size(), ' ');
  return texts;
}

}  // namespace

void expect_shape(std::string_view function, const Tensor& tensor) {
  if (tensor.rows < 0 || tensor.columns < 0 ||
      tensor.values.size() !=
          static_cast<std::size_t>(tensor.rows) * static_cast<std::size_t>(tensor.columns))
    throw Error(Fault::usage, "{}: expected {} x {} numbers, found {}", function, tensor.rows, tensor.columns,
                tensor.values.size());
}

std::string to_text(const Tensor& tensor) {
  expect_shape("to_text", tensor);
  const std::vector<std::string> numbers = number_texts(tensor.values);
  std::vector<std::string> rows;
  for (std::ptrdiff_t r = 0; r < tensor.rows; ++r) {
    const auto first = numbers.begin() + r * tensor.columns;
    rows.push_back(fmt::format("[{}]", fmt::join(first, first + tensor.columns, ", ")));
  }
  return fmt::format("tensor([{}]{}{})", fmt::join(rows, ",\n        "),
                     tensor.device.empty() ? "" : fmt::format(", device='{}'", tensor.device),
                     tensor.grad.empty() ? "" : ", requires_grad=True");
}

std::string to_text(const std::vector<Tensor>& tensors) {
  std::vector<std::string> texts;
  texts.reserve(tensors.size());
  for (const Tensor& tensor : tensors) texts.push_back(to_text(tensor));
  return fmt::format("({})", fmt::join(texts, ", "));
}

Size size_of(const model::Parameter& parameter) {
  const bool bias = parameter.role == model::Parameter::Role::bias;
  const int rows = bias ? 1 : static_cast<int>(parameter.shape[0]);
  return {rows, static_cast<int>(parameter.elements()) / rows};
}

Params init_params(std::uint64_t seed) {
  const std::vector<model::Parameter> parameters = model::parameters_of(model::lenet());
  run::Weights weights = train::initial_weights(model::lenet(), seed);
  Params params;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Size size = size_of(parameters[i]);
    params.push_back({size.rows, size.columns, std::move(weights[i])});
  }
  return params;
}

Params get_params(const Params& params, const std::string& device) {
  Params copies = params;
  for (Tensor& copy : copies) {
    copy.device = device;
    copy.grad.assign(copy.values.size(), 0.0f);
  }
  return copies;
}

std::vector<Tensor> split_and_load(const Tensor& data, const std::vector<std::string>& devices) {
  expect_shape("split_and_load", data);
  if (devices.empty()) throw Error(Fault::usage, "split_and_load: expected a device, found none");
  std::vector<Tensor> parts;
  const std::vector<arithmetic::PackRange> shares =
      plan::deal_packs({0, data.rows}, static_cast<int>(devices.size()));
  for (std::size_t d = 0; d < devices.size(); ++d) {
    Tensor& part = parts.emplace_back(Tensor{shares[d].size(), data.columns, {}, devices[d]});
    for (int r = shares[d].first; r < shares[d].last; ++r)
      part.values.insert(part.values.end(), row(data, r).begin(), row(data, r).end());
  }
  return parts;
}

Shards split_batch(const Tensor& X, const Tensor& y, const std::vector<std::string>& devices) {
  if (X.rows != y.rows)
    throw Error(Fault::usage, "split_batch: expected as many rows of y as of X, found {} and {}", y.rows,
                X.rows);
  return {split_and_load(X, devices), split_and_load(y, devices)};
}

}  // namespace book
}  // namespace api
}  // namespace lockstep
