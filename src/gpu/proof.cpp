#include "gpu/proof.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "gpu/kept_file.h"
#include "gpu/kernel_source.h"

namespace lockstep::gpu {
namespace {

constexpr std::size_t kMostProofBytes = 4096;

constexpr std::string_view kExact = "exact\n", kRefused = "refused: ";

// All that the answer depends on. The name does not matter: drivers number their devices as they like.
std::string subject(const Driver& driver) {
  const Facts& facts = driver.facts();
  return fmt::format("place {}\nmodel {}\ndriver {}\ncompiler {}\nbuild {}\nkernels {:016x}\n", facts.place,
                     facts.model, facts.driver, facts.compiler, facts.build,
                     hash64(kernel_source(driver.style())));
}

// Nothing if the file is not there, not to be trusted, or not of this subject.
std::optional<std::string> answer_in(const std::filesystem::path& path, const std::string& subject) {
  const std::optional<std::string> text = kept_text(path, kMostProofBytes);
  return text && text->starts_with(subject) ? std::optional(text->substr(subject.size())) : std::nullopt;
}

}  // namespace

std::filesystem::path Proofs::path(const Driver& driver) const {
  return directory_ / fmt::format("probe-{:016x}.txt", hash64(subject(driver)));
}

std::optional<std::string> Proofs::refusal(const Driver& driver) const {
  if (directory_.empty()) return std::nullopt;
  const std::optional<std::string> answer = answer_in(path(driver), subject(driver));
  if (answer == kExact) return "";
  if (!answer || !answer->starts_with(kRefused) || !answer->ends_with('\n')) return std::nullopt;
  return answer->substr(kRefused.size(), answer->size() - kRefused.size() - 1);
}

void Proofs::remember(const Driver& driver, const std::string& refusal) const {
  if (directory_.empty()) return;
  try_to_keep(path(driver), subject(driver) + (refusal.empty() ? std::string(kExact)
                                                               : fmt::format("{}{}\n", kRefused, refusal)));
}

}  // namespace lockstep::gpu
