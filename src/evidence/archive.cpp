#include "evidence/archive.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "store/tar.h"

namespace lockstep::evidence {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFolder = "lockstep-evidence/";

std::vector<std::string> titles_of(const Evidence& evidence, auto is) {
  std::vector<std::string> titles;
  for (const Result& result : evidence.results)
    if (is(result)) titles.push_back(result.title);
  return titles;
}

// "3 things did so: a; b; c."
std::string sentence(const std::vector<std::string>& titles, std::string_view what) {
  if (titles.empty()) return {};
  return fmt::format("{}: {}.\n", what, fmt::join(titles, "; "));
}

// In every text, however deep.
void take_out_private_words(Json& json, std::span<const PrivateWord> words) {
  if (json.is_string()) {
    json = without_private_words(json.get<std::string>(), words);
  } else if (json.is_structured()) {
    for (Json& inner : json) take_out_private_words(inner, words);
  }
}

std::string file_of(const Result& result, std::span<const PrivateWord> words) {
  Json rows = Json::array();
  for (const std::string& row : result.rows) rows.push_back(Json::parse(row));
  Json json{{"part", result.name},
            {"title", result.title},
            {"outcome", name_of(result.outcome)},
            {"why", result.why.empty() ? Json() : Json(result.why)},
            {"seconds", result.seconds},
            {"rows", std::move(rows)}};
  take_out_private_words(json, words);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string list_of(const Evidence& evidence) {
  std::size_t width = 0;
  for (const Result& result : evidence.results) width = std::max(width, result.name.size());
  std::string text;
  for (const Result& result : evidence.results) {
    text += fmt::format("{:<{}}  {:<8}  {:>6.1f} s  {}\n", result.name + ".json", width + 5,
                        name_of(result.outcome), result.seconds, result.title);
    if (!result.why.empty())
      text += fmt::format("    {}\n", without_private_words(result.why, evidence.words));
  }
  return text;
}

std::string read_me(const Evidence& evidence) {
  return fmt::format(
      "What Lockstep {} found out about the devices of one machine, by\n"
      "`lockstep devices --evidence`. All files are text.\n\n"
      "{}\n"
      "The parts, in the order in which they ran:\n\n"
      "{}\n"
      "A file has the part's name, its title, its outcome, why it is not done, how long it took, and rows:\n"
      "what it found, in the order in which it found it.\n\n"
      "outcome   done      all rows are there, and bits that were compared are equal\n"
      "          differs   bits that should be equal are not; `why` and the rows say which\n"
      "          failed    an error ended the part; `why` is its text, the rows are those before it\n"
      "          cut       its time was over; the rows are those that it had found by then\n"
      "          left out  it was not begun; `why` says so\n\n"
      "machine     this build of Lockstep, the system, the processor, its kernels\n"
      "devices     what drivers list, and why there is nothing of a kind\n"
      "probe-*     the device's arithmetic on millions of cases, and its multiply-adds a second\n"
      "verify-*    steps of a training with made-up pictures, on the CPU and on the device: the hash of "
      "each\n"
      "            parameter after each step\n"
      "bench-*     how long a step takes, beside the CPU (as `lockstep bench --json`)\n"
      "kernels-*   what a step consists of, in seconds by the device's own clock; of the CPU as `lockstep\n"
      "            bench --json`\n\n"
      "There is nothing in here of your files. Your name, the machine's name and paths outside the system's\n"
      "own folders are replaced by USER, HOST and [path]. Please look through it before you send it.\n",
      evidence.version, summary_of(evidence), list_of(evidence));
}

}  // namespace

std::string summary_of(const Evidence& evidence) {
  const auto compared = [&](Outcome outcome) {
    return titles_of(evidence, [&](const Result& r) { return r.compares && r.outcome == outcome; });
  };
  const auto any = [&](Outcome outcome) {
    return titles_of(evidence, [&](const Result& r) { return r.outcome == outcome; });
  };
  const std::size_t equal = compared(Outcome::done).size();
  const std::vector<std::string> differ = compared(Outcome::differs);
  std::string text;
  if (equal + differ.size() == 0) {
    text = "No bits were compared.\n";
  } else if (differ.empty()) {
    text = fmt::format("{} of {} comparisons with the CPU came out equal, bit for bit.\n", equal, equal);
  } else {
    text = fmt::format("{} of {} comparisons with the CPU came out equal, bit for bit; {} did NOT.\n", equal,
                       equal + differ.size(), differ.size());
  }
  text += sentence(differ, "Other bits than the CPU's");
  text += sentence(any(Outcome::failed), "Failed");
  text += sentence(any(Outcome::cut), fmt::format("Cut, to keep within {:.0f} s", evidence.seconds));
  text += sentence(any(Outcome::left_out), "Left out");
  return text;
}

std::string archive_of(const Evidence& evidence) {
  std::vector<store::TarFile> files;
  files.reserve(evidence.results.size() + 1);
  files.push_back({fmt::format("{}README.txt", kFolder), read_me(evidence)});
  for (const Result& result : evidence.results)
    files.push_back({fmt::format("{}{}.json", kFolder, result.name), file_of(result, evidence.words)});
  return store::tar_of(files);
}

}  // namespace lockstep::evidence
