// Device names as people type them: `kind:i` is one device, a count stands first. Kinds are cpu, opencl and
// cuda; gpu means the GPUs of this machine, whatever they speak.
//   2             two of the best kind there is: GPUs if there are two, else cpu:0, cpu:1
//   3xcpu         cpu:0, cpu:1, cpu:2
//   gpu, 2xgpu    the first GPU, the first two; gpu:1 is the second
//   cpu:0,opencl:0 these two; + joins as well
//   auto          all GPUs that may compute, or the CPU where there is none
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::device {

inline constexpr int kMostDevices = 1024;

// What a list may have to know about the machine.
struct DevicesHere {
  // The GPUs, best first. Called only for what depends on them.
  std::function<std::vector<std::string>()> gpus = [] { return std::vector<std::string>{}; };

  // Why a GPU may not compute, in a line that begins with its name; nothing if it may. Asked for auto only.
  std::function<std::string(const std::string& gpu)> refusal = [](const std::string&) {
    return std::string();
  };

  // Told, in a line, what was chosen where there was a choice.
  std::function<void(const std::string&)> on_choice = [](const std::string&) {};
};

// The devices of one run, in order. Throws Error(usage): no device, an unknown kind, the same device twice;
// Error(device): more GPUs than there are.
std::vector<std::string> parse_device_list(std::string_view text, const DevicesHere& here = {});

// Several settings, separated by commas; inside one, + joins devices.
std::vector<std::vector<std::string>> parse_device_settings(std::string_view text,
                                                            const DevicesHere& here = {});

// The shortest text that gives these names: "3xcpu", "cpu:0+cpu:4".
std::string to_text(const std::vector<std::string>& names);

// "opencl" of opencl:1.
std::string_view kind_of(std::string_view name);

// 1 of opencl:1. Requires: a name as the lists above have it.
int index_of(std::string_view name);

// Are they all CPU devices?
bool all_cpu(const std::vector<std::string>& names);

}  // namespace lockstep::device
