#include "store/tar.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "base/error.h"

namespace lockstep::store {
namespace {

constexpr std::size_t kBlock = 512;

// A field of the header: https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html, "ustar
// Interchange Format".
struct TarField {
  std::size_t offset, size;
};
constexpr TarField kName{0, 100}, kMode{100, 8}, kOwner{108, 8}, kGroup{116, 8}, kSize{124, 12},
    kTime{136, 12}, kSum{148, 8}, kType{156, 1}, kMagic{257, 8};

void set(std::string& header, TarField field, std::string_view text) {
  check(text.size() <= field.size, "'{}' does not fit into {} bytes of a tar header", text, field.size);
  std::ranges::copy(text, header.begin() + static_cast<std::ptrdiff_t>(field.offset));
}

// In octal digits, a zero behind them.
void set(std::string& header, TarField field, std::size_t number) {
  set(header, field, fmt::format("{:0{}o}", number, field.size - 1));
}

std::string header_of(const TarFile& file) {
  std::string header(kBlock, '\0');
  set(header, kName, file.name);
  set(header, kMode, 0644);
  set(header, kOwner, std::size_t{0});
  set(header, kGroup, std::size_t{0});
  set(header, kSize, file.text.size());
  set(header, kTime, std::size_t{0});
  set(header, kType, "0");  // a regular file
  set(header, kMagic, std::string_view("ustar\00000", kMagic.size));
  // The sum of all bytes, its own field taken as blanks: six digits, a zero, a blank.
  set(header, kSum, "        ");
  const auto sum =
      std::accumulate(header.begin(), header.end(), std::size_t{0},
                      [](std::size_t n, char byte) { return n + static_cast<unsigned char>(byte); });
  set(header, kSum, fmt::format("{:06o}", sum) + '\0');
  return header;
}

}  // namespace

std::string tar_of(std::span<const TarFile> files) {
  std::string archive;
  for (const TarFile& file : files) {
    archive += header_of(file) + file.text;
    archive.resize((archive.size() + kBlock - 1) / kBlock * kBlock, '\0');
  }
  archive.resize(archive.size() + 2 * kBlock, '\0');  // the end
  return archive;
}

}  // namespace lockstep::store
