#include "command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>

#include <dsl/text/text_range.hpp>
#include <runtime/text.hpp>

namespace sinter::tool {
namespace {

using runtime::quote;

const Option& help_option() {
  static const Option option{"--help", "", "show this help", false, "-h"};
  return option;
}

const Option* find(const Command& command, std::string_view name) {
  const auto is_it = [&](const Option& o) { return name == o.name || (!o.shorter.empty() && name == o.shorter); };
  if (is_it(help_option())) return &help_option();
  const auto found = std::ranges::find_if(command.options, is_it);
  return found == command.options.end() ? nullptr : &*found;
}

[[noreturn]] void throw_unknown(const Command& command, std::string_view name) {
  std::vector<std::string_view> names{help_option().name};
  for (const Option& o : command.options) names.push_back(o.name);
  std::string what = fmt::format("{} has no option {}{}", command.name, quote(name), detail::did_you_mean(name, names));
  if (!name.starts_with("--")) what += ". An expression that starts with - goes last, after --";
  throw UsageError(what);
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

void check_choice(const Option& option, const std::string& value) {
  if (option.choices.empty()) return;
  const std::vector<std::string> parts = option.repeats ? split(value) : std::vector{value};
  for (const std::string& part : parts)
    if (std::ranges::find(option.choices, part) == option.choices.end())
      throw UsageError(
          fmt::format("{}: {} is not one of {}", option.name, quote(part), fmt::join(option.choices, ", ")));
}

void check_operands(const Command& command, std::size_t given) {
  const auto most =
      static_cast<std::size_t>(command.operands.empty() ? 0 : 1 + std::ranges::count(command.operands, ' '));
  const auto fewest = most - static_cast<std::size_t>(std::ranges::count(command.operands, '['));
  if (given < fewest) throw UsageError(fmt::format("{} takes {}", command.name, command.operands));
  if (given > most)
    throw UsageError(fmt::format("{} takes {}, but {} words were given: is the expression in quotes?", command.name,
                                 most == 0 ? "only options" : command.operands, given));
}

std::string option_line(const Option& o) {
  std::string left = fmt::format("  {:>3}{} {}{}{}", o.shorter, o.shorter.empty() ? " " : ",", o.name,
                                 o.is_switch() ? "" : " ", o.value);
  return fmt::format("{:<30} {}\n", left, o.help);
}

}  // namespace

std::string Parsed::get(std::string_view option, std::string_view fallback) const {
  const auto found = options.find(option);
  return found == options.end() ? std::string(fallback) : found->second.back();
}

std::vector<std::string> Parsed::all(std::string_view option) const {
  const auto found = options.find(option);
  return found == options.end() ? std::vector<std::string>() : found->second;
}

std::vector<std::string> Parsed::list(std::string_view option) const {
  std::vector<std::string> parts;
  for (const std::string& value : all(option)) std::ranges::move(split(value), std::back_inserter(parts));
  return parts;
}

int Parsed::number(std::string_view option, int least, int fallback) const {
  if (!has(option)) return fallback;
  const std::string text = get(option);
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least)
    throw UsageError(fmt::format("{}: {} is not an integer of at least {}", option, quote(text), least));
  return number;
}

Parsed parse_arguments(const Command& command, std::span<const char* const> arguments) {
  Parsed out;
  bool options_end = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    if (options_end || word.size() < 2 || word[0] != '-') {
      out.operands.emplace_back(word);
      continue;
    }
    if (word == "--") {
      options_end = true;
      continue;
    }
    const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string_view::npos;
    const Option* option = find(command, word.substr(0, equals));
    if (!option) throw_unknown(command, word.substr(0, equals));
    std::string value;
    if (option->is_switch()) {
      if (equals != std::string_view::npos) throw UsageError(fmt::format("{} takes no value", option->name));
    } else if (equals != std::string_view::npos) {
      value = word.substr(equals + 1);
    } else if (++i < arguments.size()) {
      value = arguments[i];
    } else {
      throw UsageError(fmt::format("{} takes {}", option->name, option->value));
    }
    check_choice(*option, value);
    std::vector<std::string>& values = out.options[option->name];
    if (!option->repeats && !option->is_switch() && !values.empty())
      throw UsageError(fmt::format("{} is given twice", option->name));
    values.push_back(std::move(value));
  }
  if (!out.has("--help")) check_operands(command, out.operands.size());
  return out;
}

std::string usage(std::string_view program) {
  std::string text =
      fmt::format("usage: {} COMMAND [OPTION...]\n\nTensor expressions, each fused into one kernel.\n\n", program);
  for (const Command& c : commands()) text += fmt::format("  {:<9} {}\n", c.name, c.summary);
  return text +
         fmt::format("\n`{0} COMMAND --help` shows the options of a command, `{0} --version` the version.\n", program);
}

std::string usage(std::string_view program, const Command& c) {
  std::string text = fmt::format("usage: {} {}{}{} [OPTION...]\n\n{}\n\n", program, c.name,
                                 c.operands.empty() ? "" : " ", c.operands, fmt::format(fmt::runtime(c.text), program));
  for (const Option& o : c.options) text += option_line(o);
  return text + option_line(help_option());
}

namespace {

int run(std::span<const char* const> arguments) {
  std::string_view program = arguments.empty() ? "sinter" : arguments[0];
  program.remove_prefix(program.rfind('/') + 1);
  if (arguments.size() < 2) throw UsageError("a command is missing\n\n" + usage(program));
  const std::string_view name = arguments[1];
  if (name == "--help" || name == "-h") return fmt::print("{}", usage(program)), 0;
  if (name == "--version") return fmt::print("sinter {}\n", SINTER_VERSION), 0;
  std::vector<std::string_view> names;
  for (const Command& c : commands()) names.push_back(c.name);
  const auto found = std::ranges::find(commands(), name, &Command::name);
  if (found == commands().end())
    throw UsageError(fmt::format("there is no command {}{}", quote(name), detail::did_you_mean(name, names)));
  try {
    const Parsed given = parse_arguments(*found, arguments.subspan(2));
    if (given.has("--help")) return fmt::print("{}", usage(program, *found)), 0;
    return found->run(given);
  } catch (const UsageError& e) {
    throw UsageError(fmt::format("{}\n`{} {} --help` shows its options", e.what(), program, name));
  }
}

int report(std::string_view what, int status) {
  std::fputs(fmt::format("error: {}\n", what).c_str(), stderr);  // stderr may be closed
  return status;
}

}  // namespace

int main(std::span<const char* const> arguments) {
  try {
    const int status = run(arguments);
    // If stdout is a file on a full disk, this is the first error.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) return report("cannot write to standard output", 1);
    return status;
  } catch (const UsageError& e) {
    return report(e.what(), 2);
  } catch (const std::bad_alloc&) {
    return report("there is not enough memory", 1);
  } catch (const std::exception& e) {
    return report(e.what(), 1);
  }
}

}  // namespace sinter::tool
