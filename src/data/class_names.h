// What the classes of a dataset are called.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace lockstep::data {

// A file beside the data that names its classes, one a line, class 0 first.
inline constexpr const char* kClassNamesFile = "classes.txt";

// Is this Fashion-MNIST? Told by all of its labels, wherever the files lie.
bool is_fashion_mnist(const Split& split);

// One name a class: the lines of classes.txt in `directory` if there is such a file, Fashion-MNIST's names if
// the data is Fashion-MNIST, else the numbers "0", "1", ...
// Throws Error(data) naming the file unless it has as many names as there are classes, none empty or twice.
std::vector<std::string> class_names(const Split& split, const std::filesystem::path& directory);

// The numbers as names.
std::vector<std::string> class_numbers(int classes);

}  // namespace lockstep::data
