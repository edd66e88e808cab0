#include "device/device_list.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/refusal_for_test.h"

namespace lockstep::device {
namespace {

using Names = std::vector<std::string>;

TEST(DeviceList, CountsKindsAndNames) {
  EXPECT_EQ(parse_device_list("1"), (Names{"cpu:0"}));
  EXPECT_EQ(parse_device_list("2"), (Names{"cpu:0", "cpu:1"}));
  EXPECT_EQ(parse_device_list("3xcpu"), (Names{"cpu:0", "cpu:1", "cpu:2"}));
  EXPECT_EQ(parse_device_list("cpu"), (Names{"cpu:0"}));
  EXPECT_EQ(parse_device_list("cpu:4,cpu:0"), (Names{"cpu:4", "cpu:0"}));
  EXPECT_EQ(parse_device_list("cpu:4+cpu:0"), (Names{"cpu:4", "cpu:0"}));
  EXPECT_EQ(parse_device_list("2xcpu,cpu:7"), (Names{"cpu:0", "cpu:1", "cpu:7"}));
  EXPECT_EQ(parse_device_list("cpu:007"), (Names{"cpu:7"}));
  EXPECT_EQ(parse_device_list("1024").size(), 1024U);
}

TEST(DeviceList, SettingsAreSeparatedByCommas) {
  EXPECT_EQ(parse_device_settings("1,3xcpu,cpu:0+cpu:5"),
            (std::vector<Names>{{"cpu:0"}, {"cpu:0", "cpu:1", "cpu:2"}, {"cpu:0", "cpu:5"}}));
}

TEST(DeviceList, OtherKindsAndMixtures) {
  EXPECT_EQ(parse_device_list("opencl"), (Names{"opencl:0"}));
  EXPECT_EQ(parse_device_list("2xcuda"), (Names{"cuda:0", "cuda:1"}));
  EXPECT_EQ(parse_device_list("cpu:0+opencl:0,cuda:3"), (Names{"cpu:0", "opencl:0", "cuda:3"}));
  EXPECT_EQ(parse_device_settings("1xcpu,2xopencl,cpu:0+opencl:0"),
            (std::vector<Names>{{"cpu:0"}, {"opencl:0", "opencl:1"}, {"cpu:0", "opencl:0"}}));
}

// A machine with these GPUs that counts how often it is asked, and keeps what it is told.
struct Machine {
  Names gpus;
  Names wrong = {};  // of these
  int asked = 0;
  std::vector<std::string> said = {};

  Names parse(std::string_view text) {
    return parse_device_list(text, {.gpus =
                                        [this] {
                                          ++asked;
                                          return gpus;
                                        },
                                    .refusal =
                                        [this](const std::string& gpu) {
                                          return std::ranges::find(wrong, gpu) == wrong.end()
                                                     ? std::string()
                                                     : gpu + ", which is wrong";
                                        },
                                    .on_choice = [this](const std::string& line) { said.push_back(line); }});
  }
  std::string refusal(std::string_view text, Fault fault = Fault::device) {
    return refusal_of(fault, [&] { parse(text); });
  }
};

TEST(DeviceList, GpusAreGivenOutInTheMachinesOrder) {
  Machine machine{{"cuda:0", "cuda:1", "opencl:0"}};
  EXPECT_EQ(machine.parse("gpu"), (Names{"cuda:0"}));
  EXPECT_EQ(machine.parse("3xgpu"), (Names{"cuda:0", "cuda:1", "opencl:0"}));
  EXPECT_EQ(machine.parse("gpu:2+cpu:0"), (Names{"opencl:0", "cpu:0"}));
  EXPECT_THAT(machine.said, testing::IsEmpty());
  EXPECT_EQ(
      machine.refusal("4xgpu"),
      "device '4xgpu': there are only 3 GPUs (cuda:0, cuda:1, opencl:0); 4xcpu runs on the CPU, with the "
      "same bits");
  EXPECT_THAT(machine.refusal("gpu:3"), testing::HasSubstr("1xcpu runs on the CPU"));
  EXPECT_THAT(machine.refusal("gpu,cuda:0", Fault::usage), testing::HasSubstr("cuda:0 is there twice"));
}

TEST(DeviceList, ACountIsOfTheBestKindThatHasSoMany) {
  Machine machine{{"cuda:0", "cuda:1"}};
  EXPECT_EQ(machine.parse("2"), (Names{"cuda:0", "cuda:1"}));
  EXPECT_EQ(machine.parse("3"), (Names{"cpu:0", "cpu:1", "cpu:2"}));
  EXPECT_THAT(machine.said,
              testing::ElementsAre("devices 2: cuda:0, cuda:1; for the CPU say 2xcpu",
                                   "devices 3: 3xcpu, as there are only 2 GPUs (cuda:0, cuda:1)"));
  Machine without{{}};
  EXPECT_EQ(without.parse("2"), (Names{"cpu:0", "cpu:1"}));
  EXPECT_THAT(without.said, testing::IsEmpty()) << "there was nothing to choose";
}

TEST(DeviceList, AutoIsAllGpusElseTheCpuAndSaysWhich) {
  Machine machine{{"cuda:0", "opencl:1"}}, without{{}};
  EXPECT_EQ(machine.parse("auto"), (Names{"cuda:0", "opencl:1"}));
  EXPECT_EQ(without.parse("auto"), (Names{"cpu:0"}));
  EXPECT_THAT(machine.said, testing::ElementsAre("auto: cuda:0, opencl:1"));
  EXPECT_THAT(without.said, testing::ElementsAre(testing::StartsWith("auto: cpu:0, as there is no GPU")));
  EXPECT_THAT(without.refusal("4xgpu"), testing::HasSubstr("there is no GPU"));
}

TEST(DeviceList, AutoDoesWithoutGpusThatMayNotCompute) {
  Machine machine{{"cuda:0", "cuda:1"}, {"cuda:0"}};
  EXPECT_EQ(machine.parse("auto"), (Names{"cuda:1"}));
  EXPECT_THAT(machine.said, testing::ElementsAre("auto: without cuda:0, which is wrong", "auto: cuda:1"));
  EXPECT_EQ(machine.parse("2xgpu"), (Names{"cuda:0", "cuda:1"}));  // who names them gets the error
  Machine wrong{{"cuda:0"}, {"cuda:0"}};
  EXPECT_EQ(wrong.parse("auto"), (Names{"cpu:0"}));
  EXPECT_THAT(wrong.said.back(), testing::StartsWith("auto: cpu:0, as there is no GPU that may compute"));
}

TEST(DeviceList, TheMachineIsAskedForItsGpusOnlyWhereTheyMatter) {
  Machine machine{{"cuda:0"}};
  for (const char* text : {"cpu", "3xcpu", "cpu:0,cpu:1", "opencl:0+cuda:1", "2xopencl"}) machine.parse(text);
  for (const char* text : {"0", "1025", "2xcpi", "cpu:0,cpu:0"}) machine.refusal(text, Fault::usage);
  EXPECT_EQ(machine.asked, 0);
  machine.refusal("gpu,1,auto", Fault::usage);
  EXPECT_EQ(machine.asked, 1);
}

// A GPU that this machine does not have gives one exit code, however the GPU is named.
TEST(DeviceList, AGpuThatIsNotThereIsTheMachinesFault) {
  for (const char* text : {"gpu", "gpu:0", "2xgpu", "cpu:0,gpu:1"})
    EXPECT_THAT(refusal_of(Fault::device, [=] { parse_device_list(text); }),
                testing::HasSubstr("there is no GPU"))
        << text;
}

TEST(DeviceList, TheShortestTextGivesTheNamesBack) {
  for (const char* text : {"cpu:0", "cpu:5", "2xcpu", "16xcpu", "cpu:1+cpu:0", "cpu:0+cpu:1+cpu:4",
                           "opencl:0", "3xopencl", "2xcuda", "cpu:0+opencl:0", "cpu:0+cpu:1+cuda:0"}) {
    EXPECT_EQ(to_text(parse_device_list(text)), text);
  }
}

TEST(DeviceList, NamesHaveAKindAndAnIndex) {
  EXPECT_EQ(kind_of("opencl:12"), "opencl");
  EXPECT_EQ(index_of("opencl:12"), 12);
  for (const char* name : {"opencl", "opencl:", "opencl:x", "opencl:1x", "opencl:-1", "opencl:99999999999"})
    EXPECT_EQ(refusal_of(Fault::ours, [=] { index_of(name); }),
              fmt::format("defect: '{}' is no name of a device", name));
}

TEST(DeviceList, RefusesInOneLineWhatMakesNoSense) {
  const std::pair<const char*, const char*> cases[] = {{"0", "no device at all"},
                                                       {"0xcpu", "no device at all"},
                                                       {"", "nothing between"},
                                                       {"cpu:0,", "nothing between"},
                                                       {"cpu:0,cpu:0", "cpu:0 is there twice"},
                                                       {"2,cpu:1", "cpu:1 is there twice"},
                                                       {"fpga:0", "there are cpu, opencl, cuda, gpu"},
                                                       {"oepncl:0", "did you mean 'opencl'?"},
                                                       {"auto:1", "no device of kind 'auto'"},
                                                       {"2xauto", "no device of kind 'auto'"},
                                                       {"opencl:1024", "the number"},
                                                       {"2xopencl,opencl:1", "opencl:1 is there twice"},
                                                       {"2xcpi", "did you mean"},
                                                       {"cpu:", "the number"},
                                                       {"cpu:-1", "the number"},
                                                       {"cpu:1024", "the number"},
                                                       {"1025", "more than 1024"},
                                                       {"-1", "no device of kind"},
                                                       {"2x", "no device of kind"},
                                                       {"1000,cpu:1000+cpu:1001,30xcpu", "twice"}};
  for (const auto& [text, part] : cases) {
    const std::string said = refusal_of(Fault::usage, [list = text] { parse_device_list(list); });
    EXPECT_THAT(said, testing::HasSubstr(part)) << text;
  }
}

}  // namespace
}  // namespace lockstep::device
