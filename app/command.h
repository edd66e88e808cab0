// One subcommand of the program. main() calls add_to() once for every command, then run() of the one the user
// named.
#pragma once

namespace CLI {
class App;
}

namespace lockstep::app {

class Command {
 public:
  Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  virtual ~Command() = default;

  // Adds the subcommand with its options and texts to `app` and returns it. The options write into this
  // object, which therefore outlives the parse.
  virtual CLI::App* add_to(CLI::App& app) = 0;

  // Does the work after a successful parse and returns the exit code. Results go to stdout through output.h,
  // everything else to stderr. Throws Error for what the user or the world got wrong.
  virtual int run() = 0;
};

}  // namespace lockstep::app
