#include "report/progress_line.h"

#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "report/figures.h"

namespace lockstep::report {
namespace {

struct Field {
  std::string text;
  int weight = 0;  // the lightest goes first
};

void drop_lightest(std::vector<Field>& fields) {
  auto lightest = fields.begin();
  for (auto field = fields.begin(); field != fields.end(); ++field) {
    if (field->weight < lightest->weight) lightest = field;
  }
  fields.erase(lightest);
}

std::string joined(const std::vector<Field>& fields) {
  std::string line;
  for (const Field& field : fields) line += (line.empty() ? "" : "  ") + field.text;
  return line;
}

}  // namespace

std::string progress_line(const ProgressFigures& figures, int width) {
  std::vector<Field> fields;
  fields.push_back({fmt::format("epoch {}/{}", figures.epoch, figures.epochs), 6});
  fields.push_back({fmt::format("step {}/{}", figures.step, figures.steps_per_epoch), 5});
  fields.push_back({fmt::format("loss {:.3f}", figures.loss), 4});
  if (figures.examples_per_second) {
    fields.push_back({fmt::format("{} examples/s", grouped(std::llround(*figures.examples_per_second))), 2});
  }
  if (figures.seconds_left) fields.push_back({fmt::format("{} left", clock_time(*figures.seconds_left)), 3});
  if (figures.test_accuracy) fields.push_back({fmt::format("test acc {:.3f}", *figures.test_accuracy), 1});

  constexpr std::size_t kAlways = 2;  // epoch and step
  while (fields.size() > kAlways && std::ssize(joined(fields)) > width) drop_lightest(fields);
  return joined(fields);
}

}  // namespace lockstep::report
