#include "runs/run_data.h"

#include "base/error.h"
#include "train/checkpoint.h"

namespace lockstep::runs {

void expect_data(store::JobConfig& job, const data::Split& data, const DataPlace& place) {
  const std::string hash = to_hex(data::hash_of(data));
  const store::DataSizes sizes = train::sizes_of(data);
  if (!job.data.empty() && job.data != hash)
    throw Error(Fault::data,
                "{}: expected the data with hash {} as {} says, found {}; say with --data DIR where it is",
                place.directory.string(), job.data, place.said_by, hash);
  if (job.data_sizes.known() && job.data_sizes != sizes)
    throw Error(Fault::data, "{}: expected {} as {} says, found {}; say with --data DIR where they are",
                place.directory.string(), to_text(job.data_sizes), place.said_by, to_text(sizes));
  job.data = hash;
  job.data_sizes = sizes;
}

}  // namespace lockstep::runs
