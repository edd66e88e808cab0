// What the user typed, turned into one command that runs.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "command.h"

namespace CLI {
class ParseError;
}

namespace lockstep::app {

class CommandLine {
 public:
  explicit CommandLine(std::vector<std::unique_ptr<Command>> commands);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // Runs the command that `arguments` (without the program's name) asks for and returns its exit code; prints
  // help or the version if that is what was asked. Throws Error(usage), with the nearest name where one is
  // unknown.
  int run(std::vector<std::string> arguments);

 private:
  struct Entry {
    std::unique_ptr<Command> command;
    CLI::App* parser;  // owned by parser_
  };

  // `words` are a command's name and perhaps that of a command of its own, as in `bench layers`.
  void print_help_of(const std::vector<std::string>& words) const;
  [[noreturn]] void refuse(const CLI::ParseError& error) const;

  std::unique_ptr<CLI::App> parser_;
  std::vector<Entry> entries_;
};

}  // namespace lockstep::app
