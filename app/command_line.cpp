#include "command_line.h"

#include <algorithm>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/nearest.h"
#include "output.h"

namespace lockstep::app {
namespace {

constexpr const char* kDescription =
    "Lockstep trains neural networks on any number of devices with the same bits.";
constexpr const char* kHelp = "help";
constexpr const char* kFooter =
    "Results go to stdout, progress to stderr. Exit codes: 0 ok, 1 could not write or a defect, 2 usage,\n"
    "3 data or a damaged file, 4 device or host, 5 diverged, 6 bits differ, 130 interrupted, 143 "
    "terminated.\n"
    "LOCKSTEP_TARGET=avx2 in the environment chooses the kernels, NO_COLOR=1 switches colors off.\n"
    "LOCKSTEP_MEMORY=2000 lets CPU devices take 2,000 MB of the host's memory, if so much is free.\n"
    "LOCKSTEP_CACHE=DIR is where it is remembered what GPUs have proven (default ~/.cache/lockstep).";

bool looks_like_option(const std::string& argument) {
  return argument.size() > 1 && argument.starts_with('-');
}

std::vector<std::string> option_names(const CLI::App& parser) {
  std::vector<std::string> names;
  for (const CLI::Option* option : parser.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<std::string> command_names(const CLI::App& parser) {
  std::vector<std::string> names;
  for (const CLI::App* command : parser.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

// `path` is what is typed before the parser's own name. The parser sets two empty lines between groups of
// options where one does.
std::string help_of(const CLI::App& parser, const std::string& path = "") {
  std::string text = parser.help(path);
  for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

// Options first: the value of a mistyped one is left over too, or was taken for something else.
std::string first_left_over(const std::vector<std::string>& arguments) {
  const auto option = std::ranges::find_if(arguments, looks_like_option);
  return option != arguments.end() ? *option : arguments.front();
}

}  // namespace

CommandLine::CommandLine(std::vector<std::unique_ptr<Command>> commands)
    : parser_(std::make_unique<CLI::App>(kDescription, "lockstep")) {
  parser_->set_version_flag("--version", "lockstep " LOCKSTEP_VERSION, "Print the version and exit");
  parser_->set_help_flag("-h,--help", "Print help and exit; every command has its own");
  parser_->require_subcommand(0, 1);
  parser_->get_formatter()->label("SUBCOMMAND", "COMMAND");
  parser_->get_formatter()->label("Positionals", "Arguments");
  parser_->get_formatter()->column_width(30);
  for (std::unique_ptr<Command>& command : commands) {
    CLI::App* const parser = command->add_to(*parser_);
    parser->group("Commands");
    parser->set_help_flag("-h,--help", "Print this help and exit");
    entries_.push_back({std::move(command), parser});
  }
  // Only to be listed: run() takes it before the parser, which would print help of the command `help`.
  parser_->add_subcommand(kHelp, "Print help; help COMMAND prints that of a command")->group("Commands");
  parser_->footer(kFooter);  // last, or every command would inherit it
}

CommandLine::~CommandLine() = default;

int CommandLine::run(std::vector<std::string> arguments) {
  if (!arguments.empty() && arguments.front() == kHelp) {
    print_help_of({arguments.begin() + 1, arguments.end()});
    return 0;
  }
  try {
    std::ranges::reverse(arguments);  // the parser takes them from the back
    parser_->parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    print_result(help_of(*parser_));
    return 0;
  } catch (const CLI::CallForVersion& version) {
    print_result(std::string(version.what()) + '\n');
    return 0;
  } catch (const CLI::ParseError& error) {
    refuse(error);
  }
  for (const Entry& entry : entries_)
    if (entry.parser->parsed()) return entry.command->run();
  print_result(help_of(*parser_));
  return 0;
}

void CommandLine::print_help_of(const std::vector<std::string>& words) const {
  const CLI::App* parser = parser_.get();
  std::string path;
  for (const std::string& word : words) {
    if (word == kHelp || looks_like_option(word)) continue;  // `help help`, `help train --epochs`
    const std::vector<std::string> names = command_names(*parser);
    if (std::ranges::find(names, word) == names.end())
      throw Error(Fault::usage, "unknown command '{}'{}", word, suggestion(word, names));
    path += (path.empty() ? "" : " ") + parser->get_name();
    parser = parser->get_subcommand(word);
  }
  print_result(help_of(*parser, path));
}

void CommandLine::refuse(const CLI::ParseError& error) const {
  for (const Entry& entry : entries_) {
    const std::string name = entry.parser->get_name();
    if (!entry.parser->parsed()) continue;
    if (entry.parser->remaining().empty())
      throw Error(Fault::usage, "{}; see lockstep {} --help", error.what(), name);
    const std::string left = first_left_over(entry.parser->remaining());
    if (!looks_like_option(left))
      throw Error(Fault::usage, "unexpected argument '{}'; see lockstep {} --help", left, name);
    const std::string typed = left.substr(0, left.find('='));
    throw Error(Fault::usage, "unknown option '{}' of lockstep {}{}", typed, name,
                suggestion(typed, option_names(*entry.parser)));
  }
  if (parser_->remaining().empty()) throw Error(Fault::usage, "{}; see lockstep --help", error.what());
  const std::string typed = parser_->remaining().front();
  if (looks_like_option(typed))
    throw Error(Fault::usage, "unknown option '{}'{}", typed, suggestion(typed, option_names(*parser_)));
  throw Error(Fault::usage, "unknown command '{}'{}", typed, suggestion(typed, command_names(*parser_)));
}

}  // namespace lockstep::app
