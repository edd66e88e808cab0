#include "train/training_runner.h"

#include <gtest/gtest.h>

#include "program/print.h"
#include "train/trainer_job_for_test.h"

namespace lockstep::train {
namespace {

// --print-program prints training_programs(): nothing else runs.
TEST(TrainingRunner, RunsTheProgramsThatArePrinted) {
  for (const bool shard : {false, true}) {
    const std::unique_ptr<run::Crew> crew = make_crew(3);
    const Machine machine{.shard_optimizer = shard, .shares = {2, 1, 1}};
    const auto runner = make_training_runner(*crew, kJob, machine, kData.train.size());
    const std::vector<program::Program> printed =
        training_programs(kJob, data_plan(machine, 3, crew->shares_cores()))
            .make(arithmetic::pack_count(kJob.batch));
    ASSERT_EQ(printed.size(), 3U);
    const std::string text = program::to_text(printed[0]);
    EXPECT_EQ(program::to_text(runner->program()), text);
    EXPECT_NE(text, program::to_text(printed[1]));
    EXPECT_NE(text.find("exchange, beside the work"), std::string::npos);
  }
}

}  // namespace
}  // namespace lockstep::train
