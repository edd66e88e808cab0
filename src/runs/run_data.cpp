#include "runs/run_data.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "train/checkpoint.h"

namespace lockstep::runs {

std::string kept_data_directory(const std::filesystem::path& directory, std::string_view option) {
  std::error_code error;
  std::string text = std::filesystem::absolute(directory, error).lexically_normal().string();
  if (error)
    throw Error(Fault::device, "the working directory is gone ({}); change to one that exists",
                error.message());
  try {
    nlohmann::json(text).dump();
  } catch (const nlohmann::json::type_error&) {
    throw Error(Fault::usage, "{}: expected a path in UTF-8, found {:?}", option, directory.string());
  }
  return text;
}

void expect_data(store::JobConfig& job, const data::Split& data, const DataPlace& place) {
  const std::string hash = to_hex(data::hash_of(data));
  const store::DataSizes sizes = train::sizes_of(data);
  if (!job.data.empty() && job.data != hash)
    throw Error(Fault::data, "{}: expected the data with hash {} as {} says, found {}; {}",
                place.directory.string(), job.data, place.said_by, hash, place.remedy);
  if (job.data_sizes.known() && job.data_sizes != sizes)
    throw Error(Fault::data, "{}: expected {} as {} says, found {}; {}", place.directory.string(),
                to_text(job.data_sizes), place.said_by, to_text(sizes), place.remedy);
  job.data = hash;
  job.data_sizes = sizes;
}

}  // namespace lockstep::runs
