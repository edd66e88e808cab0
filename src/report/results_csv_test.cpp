#include "report/results_csv.h"

#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "base/error.h"
#include "report/full_disk_for_test.h"

namespace lockstep::report {
namespace {

const train::EpochReport kEpoch{.epoch = 1,
                                .train_loss = 1.0 / 3.0,
                                .seconds = 2.5,
                                .evaluation_seconds = 0.25,
                                .test_correct = 7812,
                                .test_examples = 10000,
                                .test_loss = 0.1f};

TEST(ResultsCsv, WritesHeaderThenOneRowPerEpoch) {
  std::ostringstream out;
  ResultsCsv csv(out, "runs/lenet-1/results.csv");
  csv.on_start({});
  csv.on_epoch(kEpoch);
  EXPECT_EQ(out.str(),
            "epoch,train_loss,test_loss,test_accuracy,test_correct,test_examples,seconds,evaluation_seconds\n"
            "1,0.3333333333333333,0.1,0.7812,7812,10000,2.5,0.25\n");
}

TEST(ResultsCsv, NumbersReadBackExactly) {
  std::ostringstream out;
  ResultsCsv csv(out, "results.csv", ResultsCsv::Begin::after_existing_rows);
  csv.on_epoch(kEpoch);
  const std::string row = out.str();
  const auto second = row.find(',') + 1, third = row.find(',', second) + 1;
  EXPECT_EQ(std::stod(row.substr(second)), kEpoch.train_loss);
  EXPECT_EQ(std::stof(row.substr(third)), kEpoch.test_loss);
}

TEST(ResultsCsv, TakenUpAgainItWritesNoSecondHeader) {
  std::ostringstream out;
  ResultsCsv csv(out, "results.csv", ResultsCsv::Begin::after_existing_rows);
  csv.on_start({});
  EXPECT_EQ(out.str(), "");
}

TEST(ResultsCsv, AFullDiskIsAnErrorThatNamesTheFile) {
  FullDisk out(100);  // the header fits
  ResultsCsv csv(out, "runs/lenet-1/results.csv");
  csv.on_start({});
  try {
    csv.on_epoch(kEpoch);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::ours);
    EXPECT_EQ(std::string(error.what()),
              "cannot write runs/lenet-1/results.csv: the system refused the bytes; "
              "is the disk full or the folder gone?");
  }
}

}  // namespace
}  // namespace lockstep::report
