#include "model/example_groups.h"

#include <gtest/gtest.h>

#include "base/refusal_for_test.h"
#include "model/zoo.h"

namespace lockstep::model {
namespace {

TEST(SetGhost, SetsEveryBatchNorm) {
  Model model = resnet8();
  ASSERT_EQ(example_groups_of(model).size(), 7U);
  for (const int ghost : {48, 0}) {
    set_ghost(model, ghost);
    for (const ExampleGroups& groups : example_groups_of(model))
      EXPECT_EQ(groups.examples, static_cast<std::size_t>(ghost)) << groups.layer;
  }
}

TEST(SetGhost, RefusesAModelWithoutBatchNorm) {
  Model model = lenet();
  EXPECT_EQ(refusal_of(Fault::usage, [&] { set_ghost(model, 48); }),
            "model lenet has no batch norm whose statistics groups of 48 examples could have");
}

}  // namespace
}  // namespace lockstep::model
