// What a caller of the library hears of a device that is stuck.
#include "api/devices.h"

#include <future>
#include <iostream>
#include <streambuf>

#include <gtest/gtest.h>

#include "base/refusal_for_test.h"

namespace lockstep {
inline namespace api {
namespace {

using namespace std::chrono_literals;

constexpr const char* kStuck = "no progress for 0.05 s: cpu:1 (outside of training)";

// The second device is stuck until `come_back` is kept. Returns what the call threw.
std::string error_of_stuck(run::Crew& crew, std::promise<void>& come_back) {
  std::shared_future<void> released = come_back.get_future().share();
  return refusal_of(Fault::device, [&] {
    crew.run([&](int device) {
      if (device == 1) released.wait();
    });
  });
}

TEST(MakeCrew, AStuckDeviceIsToldAndTheCallThrowsWhenItComesBack) {
  std::promise<void> come_back;
  std::string told;
  const auto crew = make_crew(std::vector<std::string>{"cpu:0", "cpu:1"}, 1,
                              {.timeout = 50ms, .on_stuck = [&](const std::string& who) {
                                 if (told.empty()) come_back.set_value();
                                 told = who;
                               }});
  EXPECT_EQ(error_of_stuck(*crew, come_back), kStuck);
  EXPECT_EQ(told, kStuck);
}

// Takes what is written to a stream, and keeps a promise at the end of the first line.
class Listening final : public std::streambuf {
 public:
  Listening(std::ostream& stream, std::promise<void>& heard)
      : stream_(stream), before_(stream.rdbuf(this)), heard_(heard) {}
  ~Listening() override { stream_.rdbuf(before_); }
  const std::string& text() const { return text_; }

 private:
  int_type overflow(int_type character) override {
    text_ += static_cast<char>(character);
    if (character == '\n' && !told_) heard_.set_value();
    told_ = told_ || character == '\n';
    return character;
  }

  std::ostream& stream_;
  std::streambuf* const before_;
  std::promise<void>& heard_;
  std::string text_;
  bool told_ = false;
};

TEST(MakeCrew, WithoutAListenerAStuckDeviceIsToldToStandardError) {
  std::promise<void> come_back;
  auto crew = make_crew("2xcpu", 1, {.timeout = 50ms});
  const Listening listening(std::cerr, come_back);
  EXPECT_EQ(error_of_stuck(*crew, come_back), kStuck);
  crew.reset();  // its watch writes no more
  EXPECT_EQ(listening.text().substr(0, listening.text().find('\n') + 1),
            "lockstep: " + std::string(kStuck) + "; the call returns when the device comes back\n");
}

}  // namespace
}  // namespace api
}  // namespace lockstep
