#include "opening_line.h"

#include <gtest/gtest.h>

#include "model/example_groups.h"
#include "model/zoo.h"

namespace lockstep::app {
namespace {

class OpeningLine : public testing::Test {
 protected:
  OpeningLine() {
    data_.train.labels.resize(1200);
    data_.test.labels.resize(34);
  }
  OpeningFacts facts(std::vector<std::string> devices, int threads) const {
    return {.model = model_,
            .data = data_,
            .data_directory = "/data/digits",
            .devices = std::move(devices),
            .threads = threads,
            .cores = 4};
  }

  const model::Model model_ = model::lenet();
  data::Split data_;
};

TEST_F(OpeningLine, SaysModelParametersDataDevicesAndThreads) {
  EXPECT_EQ(opening_line(facts({"cpu:0"}, 4)),
            "training lenet (129,068 parameters) on /data/digits (1,200 examples, 34 to test) with cpu:0, 4 "
            "threads\n");
}

TEST_F(OpeningLine, SaysWhereThreadsOutnumberCores) {
  const std::string start =
      "training lenet (129,068 parameters) on /data/digits (1,200 examples, 34 to test) with ";
  EXPECT_EQ(opening_line(facts({"cpu:0", "cpu:1"}, 1)), start + "2xcpu, 1 thread each\n");
  EXPECT_EQ(opening_line(facts({"cpu:0", "cpu:1"}, 3)), start + "2xcpu, 3 threads each on 4 cores\n");
}

TEST_F(OpeningLine, SaysNothingOfThreadsWhereOtherThingsCompute) {
  EXPECT_EQ(opening_line(facts({"cpu:0", "cuda:0"}, 0)),
            "training lenet (129,068 parameters) on /data/digits (1,200 examples, 34 to test) with "
            "cpu:0+cuda:0\n");
}

TEST_F(OpeningLine, SaysTheFormOfBatchNorm) {
  OpeningFacts said = facts({"cpu:0"}, 1);
  model::Model resnet = model::resnet8();
  const OpeningFacts of_resnet{.model = resnet,
                               .data = data_,
                               .data_directory = said.data_directory,
                               .devices = said.devices,
                               .threads = 1,
                               .cores = 4};
  EXPECT_TRUE(opening_line(of_resnet).ends_with("with cpu:0, 1 thread, batch norm sync\n"));
  model::set_ghost(resnet, 48);
  EXPECT_TRUE(opening_line(of_resnet).ends_with("with cpu:0, 1 thread, batch norm ghost:48\n"));
}

}  // namespace
}  // namespace lockstep::app
