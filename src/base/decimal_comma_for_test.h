// A locale whose decimal point is a comma, as in a program made in Berlin.
#pragma once
#include <clocale>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <stdlib.h>

namespace lockstep {

// The numbers of this process have a comma for as long as it lives. A bare Debian has no such locale, so that
// this writes one: glibc's file of LC_NUMERIC is a header, the offsets of six entries and the entries.
class DecimalComma {
 public:
  DecimalComma() {
    std::string name = testing::TempDir() + "lockstep-locale-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) return;
    folder_ = name;
    std::filesystem::create_directory(folder_ / "comma");
    std::ofstream file(folder_ / "comma" / "LC_NUMERIC", std::ios::binary);
    const auto write = [&](std::uint32_t number) { file.write(reinterpret_cast<const char*>(&number), 4); };
    for (const std::uint32_t number : {0x20031114u, 6u, 32u, 34u, 35u, 36u, 40u, 44u}) write(number);
    file.write(",\0\0\0", 4);  // decimal point; no separator of thousands; no grouping
    write(',');                // the same as wide characters
    write(0);
    file.write("ASCII", 6);
    file.close();
    setenv("LOCPATH", folder_.c_str(), 1);
    set_ = std::setlocale(LC_NUMERIC, "comma") != nullptr;
  }
  ~DecimalComma() {
    std::setlocale(LC_NUMERIC, "C");
    unsetenv("LOCPATH");
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  DecimalComma(const DecimalComma&) = delete;
  DecimalComma& operator=(const DecimalComma&) = delete;

  bool is_set() const { return set_; }

 private:
  std::filesystem::path folder_;
  bool set_ = false;
};

}  // namespace lockstep
