// The command line as a table of commands and options.
#pragma once
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::tool {

/// A command line that says nothing that can be done: exit status 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Option {
  std::string_view name;                       // --device
  std::string_view value;                      // how the help calls its value; empty for a switch
  std::string_view help;                       // a line
  bool repeats = false;                        // may be given several times
  std::string_view shorter = {};               // -o
  std::vector<std::string_view> choices = {};  // what a value is one of, or several with commas where it repeats
  bool is_switch() const noexcept { return value.empty(); }
};

/// What was given, by the options' long names.
struct Parsed {
  std::vector<std::string> operands;
  std::map<std::string_view, std::vector<std::string>> options;

  bool has(std::string_view option) const { return options.contains(option); }
  /// The last value, or the other one.
  std::string get(std::string_view option, std::string_view otherwise = "") const;
  std::vector<std::string> all(std::string_view option) const;
  /// All values, each a list with commas, in parts.
  std::vector<std::string> list(std::string_view option) const;
  /// A whole number from `least` on. Throws UsageError.
  int number(std::string_view option, int least, int otherwise) const;
};

struct Command {
  std::string_view name;
  std::string_view operands;  // "EXPRESSION", "ACTION [FILE]"
  std::string_view summary;   // a line for the list of commands
  std::string_view text;      // what --help says besides
  std::vector<Option> options;
  int (*run)(const Parsed& given);  // gives the exit status
};
std::span<const Command> commands();

/// Reads what follows the command's name. Throws UsageError.
Parsed parse_arguments(const Command& command, std::span<const char* const> arguments);

std::string usage();
std::string usage(const Command& command);

/// Runs `sinter` with these arguments, the first of which is the program, and gives its exit status: 0, 1 after an
/// error, 2 where the command line is wrong. Messages go to stderr.
int main(std::span<const char* const> arguments);

}  // namespace sinter::tool
