// Whether data is what a run was trained on.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "data/dataset.h"
#include "store/config_file.h"

namespace lockstep::runs {

struct DataPlace {
  std::filesystem::path directory;  // where the data was found
  std::string said_by;              // the file that names the run's data
  std::string remedy = "say with --data DIR where the right data is";
};

// A directory as a config keeps it: absolute, in UTF-8. Throws Error(usage) that begins with `option`, or
// Error(device) if the working directory is gone.
std::string kept_data_directory(const std::filesystem::path& directory, std::string_view option);

// Throws Error(data) naming the place, what was expected and found, if the job knows its data and this is
// another: by the hash of its bytes, and by its sizes, which runs of older versions did not keep. From then
// on the job knows both.
void expect_data(store::JobConfig& job, const data::Split& data, const DataPlace& place);

}  // namespace lockstep::runs
