// All of the evidence in one file to send: a README, what the machine is, a file for each part.
#pragma once
#include <deque>
#include <span>
#include <string>

#include "evidence/part.h"
#include "evidence/private_words.h"

namespace lockstep::evidence {

// What every archive begins with.
inline constexpr std::string_view kArchiveBeginning{"lockstep-evidence/README.txt\0", 29};

struct Evidence {
  std::string version;  // of Lockstep
  const std::deque<Result>& results;
  double seconds = 600;                     // that there were for all parts
  std::span<const PrivateWord> words = {};  // that are left out
};

// One paragraph: what was compared, what was equal, what not, what is missing.
std::string summary_of(const Evidence& evidence);

// A tar archive. Every row is a JSON object.
std::string archive_of(const Evidence& evidence);

}  // namespace lockstep::evidence
