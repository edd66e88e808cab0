#include "gpu/proof.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "gpu/bare_driver_for_test.h"

namespace lockstep::gpu {
namespace {

TEST(Proof, IsOfADeviceItsDriverAndItsCompiler) {
  std::string directory = testing::TempDir() + "proof_test.XXXXXX";
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  const Proofs proofs(directory);
  BareDriver proven;
  proven.bare_facts = {.name = "cuda:0",
                       .model = "a model",
                       .place = "a slot",
                       .driver = "driver 1.0",
                       .compiler = "NVRTC 13.0",
                       .build = "-O3"};
  proofs.remember(proven, "");
  EXPECT_EQ(proofs.refusal(proven), "");
  for (std::string Facts::*const text :
       {&Facts::model, &Facts::place, &Facts::driver, &Facts::compiler, &Facts::build}) {
    BareDriver other;
    other.bare_facts = proven.bare_facts;
    other.bare_facts.*text += "1";
    EXPECT_EQ(proofs.refusal(other), std::nullopt) << other.bare_facts.*text;
  }
  BareDriver renamed;  // drivers number their devices as they like
  renamed.bare_facts = proven.bare_facts;
  renamed.bare_facts.name = "cuda:1";
  EXPECT_EQ(proofs.refusal(renamed), "");
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace lockstep::gpu
