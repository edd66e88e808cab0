#include "data/class_names.h"

#include <algorithm>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/file_reader.h"

namespace lockstep::data {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = 65'536;  // of a names file: 256 names are far shorter

// hash128 over the labels of train, then of test
constexpr std::string_view kFashionMnistLabels = "2dbed44166c03d255e594ec2391a9bf2";

std::vector<std::string> fashion_mnist_names() {
  return {"t-shirt", "trouser", "pullover", "dress", "coat",
          "sandal",  "shirt",   "sneaker",  "bag",   "ankle boot"};
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// Without the blanks around it, which also takes the '\r' of files from Windows.
std::string_view trimmed(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t first = line.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(kBlanks) - first + 1);
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(trimmed(text.substr(0, end)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

std::vector<std::string> names_in(const fs::path& file, int classes) {
  const std::vector<std::byte> bytes = read_raw_file(file, kMostBytes);
  std::vector<std::string> names = lines_of({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (names.size() != static_cast<std::size_t>(classes))
    throw Error(Fault::data, "{}: expected {} names, one a line, as many as there are classes, found {}",
                file.string(), classes, names.size());
  for (auto name = names.begin(); name != names.end(); ++name) {
    const auto line = name - names.begin() + 1;
    if (name->empty() || std::ranges::any_of(*name, is_control))
      throw Error(Fault::data, "{}: line {}: expected the name of a class, found {:?}", file.string(), line,
                  *name);
    if (std::find(names.begin(), name, *name) != name)
      throw Error(Fault::data, "{}: line {}: '{}' is there twice; name each class once", file.string(), line,
                  *name);
  }
  return names;
}

}  // namespace

bool is_fashion_mnist(const Split& split) {
  Hasher128 hasher;
  for (const Dataset* set : {&split.train, &split.test}) hasher.add(std::as_bytes(std::span(set->labels)));
  return to_hex(hasher.digest()) == kFashionMnistLabels;
}

std::vector<std::string> class_numbers(int classes) {
  std::vector<std::string> numbers;
  numbers.reserve(static_cast<std::size_t>(classes));
  for (int c = 0; c < classes; ++c) numbers.push_back(std::to_string(c));
  return numbers;
}

std::vector<std::string> class_names(const Split& split, const fs::path& directory) {
  const fs::path file = directory / kClassNamesFile;
  std::error_code unreadable;  // reading says what is wrong with a file that is there
  if (fs::exists(fs::symlink_status(file, unreadable))) return names_in(file, split.test.classes);
  return is_fashion_mnist(split) ? fashion_mnist_names() : class_numbers(split.test.classes);
}

}  // namespace lockstep::data
