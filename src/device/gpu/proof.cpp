#include "device/gpu/proof.h"

#include "base/error.h"
#include "base/file_reader.h"
#include "base/hash.h"
#include "device/gpu/kept_file.h"
#include "device/gpu/kernel_source.h"

namespace lockstep::device::gpu {
namespace {

constexpr std::size_t kMostBytes = 4096;

// All that the answer depends on. The name does not matter: drivers number their devices as they like.
std::string claim(const Driver& driver) {
  const Facts& facts = driver.facts();
  return fmt::format("exact\nmodel {}\ndriver {}\nbuild {}\nkernels {:016x}\n", facts.model, facts.driver,
                     facts.build, hash64(kernel_source(driver.style())));
}

}  // namespace

std::filesystem::path Proofs::path(const Driver& driver) const {
  return directory_ / fmt::format("probe-{:016x}.txt", hash64(claim(driver)));
}

bool Proofs::known(const Driver& driver) const {
  if (directory_.empty()) return false;
  try {
    const std::vector<std::byte> bytes = read_raw_file(path(driver), kMostBytes);
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()) == claim(driver);
  } catch (const Error&) {
    return false;  // not there, or not readable
  }
}

void Proofs::remember(const Driver& driver) const {
  if (!directory_.empty()) try_to_keep(path(driver), claim(driver));
}

}  // namespace lockstep::device::gpu
