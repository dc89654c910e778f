// The command line as a table of commands and options.
#pragma once
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::tool {

/// An invalid command line: exit status 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Option {
  std::string_view name;                       // --device
  std::string_view value;                      // name of its value in the help; empty for a switch
  std::string_view help;                       // one line
  bool repeats = false;                        // may be given several times
  std::string_view shorter = {};               // -o
  std::vector<std::string_view> choices = {};  // valid values; if it repeats, several may be joined by commas
  bool is_switch() const noexcept { return value.empty(); }
};

/// The given options, by their long names.
struct Parsed {
  std::vector<std::string> operands;
  std::map<std::string_view, std::vector<std::string>> options;

  bool has(std::string_view option) const { return options.contains(option); }
  /// The last value, or `fallback`.
  std::string get(std::string_view option, std::string_view fallback = "") const;
  std::vector<std::string> all(std::string_view option) const;
  /// All values, each split at commas.
  std::vector<std::string> list(std::string_view option) const;
  /// An integer of at least `least`. Throws UsageError.
  int number(std::string_view option, int least, int fallback) const;
};

struct Command {
  std::string_view name;
  std::string_view operands;  // "EXPRESSION", "ACTION [FILE]"
  std::string_view summary;   // one line for the list of commands
  std::string_view text;      // additional text for --help, with {} for the program's name
  std::vector<Option> options;
  int (*run)(const Parsed& given);  // returns the exit status
};
std::span<const Command> commands();

/// Parses what follows the command's name. Throws UsageError.
Parsed parse_arguments(const Command& command, std::span<const char* const> arguments);

std::string usage(std::string_view program);
std::string usage(std::string_view program, const Command& command);

/// Runs `sinter` with these arguments and returns its exit status: 0, 1 after an error, 2 for an invalid command line.
/// The first argument is the program, whose name messages contain. Messages go to stderr.
int main(std::span<const char* const> arguments);

}  // namespace sinter::tool
