#include "bench_exchange_command.h"

#include <cmath>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "bench_crew.h"
#include "bench_exchange_text.h"
#include "bench_options.h"
#include "lists.h"
#include "numbers.h"
#include "output.h"

namespace lockstep::app {
namespace {

constexpr WholeRange kExchangeDevices{2, 64};
constexpr double kMegabyte = 1e6, kMostMegabytes = 16'384, kLeastMegabytes = 0.001;

std::size_t elements_of(std::string_view text) {
  const double megabytes = positive_number("--megabytes", text);
  if (megabytes < kLeastMegabytes || megabytes > kMostMegabytes) {
    throw Error(Fault::usage, "--megabytes: expected {} to {:.0f}, found '{}'", kLeastMegabytes,
                kMostMegabytes, text);
  }
  return static_cast<std::size_t>(std::llround(megabytes * kMegabyte / sizeof(float)));
}

class BenchExchangeCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& app) override {
    CLI::App* const parser =
        app.add_subcommand("exchange", "Measure exchanges alone, beside copying the same bytes");
    parser
        ->add_option_function<std::string>(
            "--megabytes", [this](const std::string& text) { elements_ = list_of(text, elements_of); },
            "Sizes of the sums (default 0.5,45,256)")
        ->type_name("LIST");
    add_device_counts(*parser, devices_, kExchangeDevices);
    add_seconds(*parser, seconds_, "each size on each number of devices");
    add_json(*parser, json_);
    return parser;
  }

  int run() override {
    std::vector<measure::ExchangeFigures> figures;
    for (const std::size_t elements : elements_) {
      for (const int devices : devices_) {
        measure::ExchangeBenchOptions options{.make_crew = make_bench_crew};
        options.elements = elements;
        options.devices = devices;
        options.pace.seconds = seconds_;
        figures.push_back(measure::bench_exchange(options));
      }
    }
    print_result(json_ ? bench_exchange_json(figures) : bench_exchange_table(figures));
    return 0;
  }

 private:
  std::vector<std::size_t> elements_{125'000, 11'250'000, 64'000'000};
  std::vector<int> devices_{2, 4};
  double seconds_ = 3;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_bench_exchange_command() { return std::make_unique<BenchExchangeCommand>(); }

}  // namespace lockstep::app
