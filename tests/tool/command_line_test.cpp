// Options, help and mistakes of the tool `sinter`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <regex>
#include <set>

#include "tool.hpp"

namespace sinter::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* commands[] = {"run", "export", "explain", "bench", "cache", "devices"};

/// All --options that a text has.
std::set<std::string> options_in(std::string text) {
  text = std::regex_replace(text, std::regex(R"(\\-)"), "-");  // as a man page writes it
  std::set<std::string> found;
  const std::regex option("--[a-z][a-z-]*");
  for (std::sregex_iterator i(text.begin(), text.end(), option), end; i != end; ++i) found.insert(i->str());
  return found;
}

TEST(CommandLineTest, HelpNamesAllCommandsAndEachSaysItsOwn) {
  const Shell shell;
  const std::string all = shell.prints("--help");
  for (const char* name : commands) {
    EXPECT_THAT(all, HasSubstr(fmt::format("\n  {} ", name)));
    const std::string help = shell.prints(fmt::format("{} --help", name));
    EXPECT_THAT(help, HasSubstr(fmt::format("usage: sinter {}", name)));
    EXPECT_EQ(shell.prints(fmt::format("{} -h", name)), help);
    for (std::size_t at = 0, end; at < help.size(); at = end + 1) {
      end = help.find('\n', at);
      EXPECT_LE(end - at, 120u) << help.substr(at, end - at);
    }
  }
  EXPECT_EQ(shell.prints("-h"), all);
  EXPECT_TRUE(std::regex_match(shell.prints("--version"), std::regex(R"(sinter \d+\.\d+\.\d+\n)")));
}

TEST(CommandLineTest, TheManPageHasEveryOption) {
  const Shell shell;
  std::set<std::string> helped{"--version"};
  for (const char* name : commands) helped.merge(options_in(shell.prints(fmt::format("{} --help", name))));
  EXPECT_EQ(options_in(read_text(SINTER_TOOL_MAN)), helped);
}

std::set<std::string> completions(const Shell& shell, const std::string& words) {
  const std::string script = fmt::format(
      "source {}.bash; COMP_WORDS=({}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _sinter; printf '%s\\n' "
      "\"${{COMPREPLY[@]}}\"",
      SINTER_TOOL_COMPLETION, words);
  const Outcome o = shell.command("bash -c " + quoted(script));
  EXPECT_EQ(o.status, 0) << o.err;
  std::set<std::string> found;
  for (std::size_t at = 0; at < o.out.size(); at = o.out.find('\n', at) + 1)
    found.insert(o.out.substr(at, o.out.find('\n', at) - at));
  found.erase("");
  return found;
}

TEST(CommandLineTest, CompletionKnowsCommandsOptionsAndTheirValues) {
  const Shell shell;
  EXPECT_EQ(completions(shell, "sinter ''"),
            (std::set<std::string>{"run", "export", "explain", "bench", "cache", "devices", "--help", "--version"}));
  EXPECT_EQ(completions(shell, "sinter exp"), (std::set<std::string>{"export", "explain"}));
  for (const char* name : commands)
    EXPECT_EQ(
        completions(shell, fmt::format("sinter {} 'a + b' --", name)),
        options_in(std::regex_replace(shell.prints(fmt::format("{} --help", name)), std::regex("  sinter [^\n]*"), "")))
        << name;
  EXPECT_EQ(completions(shell, "sinter cache ''"),
            (std::set<std::string>{"stats", "clear", "verify", "pack", "unpack"}));
  EXPECT_EQ(completions(shell, "sinter export e --ptx o"), (std::set<std::string>{"on", "off"}));
  EXPECT_EQ(completions(shell, "sinter run e --arg z=f"), std::set<std::string>{});  // the shell's own: files
}

/// What a shell's completion file calls an option: zsh writes --name, fish -l name.
std::set<std::string> options_of_fish(const std::string& text) {
  std::set<std::string> found;
  const std::regex option("[^t] -l ([a-z-]+)");  // but not of `set -l`
  for (std::sregex_iterator i(text.begin(), text.end(), option), end; i != end; ++i) found.insert("--" + i->str(1));
  return found;
}

TEST(CommandLineTest, CompletionOfZshAndFishHasEveryOption) {
  const Shell shell;
  std::set<std::string> helped{"--version"};
  for (const char* name : commands) helped.merge(options_in(shell.prints(fmt::format("{} --help", name))));
  EXPECT_EQ(options_in(read_text(SINTER_TOOL_COMPLETION ".zsh")), helped);
  EXPECT_EQ(options_of_fish(read_text(SINTER_TOOL_COMPLETION ".fish")), helped);
}

TEST(CommandLineTest, CompletionWorksInTheOtherShells) {
  const Shell shell;
  if (shell.command("command -v fish").status == 0) {
    const auto completed = [&](const std::string& line) {
      return shell
          .command("fish --no-config -c " +
                   quoted(fmt::format("source {}.fish; complete -C '{}'", SINTER_TOOL_COMPLETION, line)))
          .out;
    };
    EXPECT_THAT(completed("sinter exp"), AllOf(HasSubstr("export\t"), HasSubstr("explain\t")));
    EXPECT_THAT(completed("sinter export e --pt"), HasSubstr("--ptx\t"));
    EXPECT_THAT(completed("sinter export e --ptx o"), AllOf(HasSubstr("on"), HasSubstr("off")));
    EXPECT_THAT(completed("sinter bench e --si"), HasSubstr("--size\t"));
    EXPECT_THAT(completed("sinter cache ver"), HasSubstr("verify"));
  }
  if (shell.command("command -v zsh").status == 0) {
    const Outcome o = shell.command(fmt::format("zsh -f -n {}.zsh", SINTER_TOOL_COMPLETION));
    EXPECT_EQ(o.status, 0) << o.err;
  }
}

TEST(CommandLineTest, WhatItDoesNotKnowNamesTheNearest) {
  const Shell shell;
  const auto refuses = [&](const std::string& arguments, const std::string& why) {
    const Outcome o = shell.sinter(arguments);
    EXPECT_EQ(o.status, 2) << arguments;
    EXPECT_EQ(o.out, "") << arguments;
    EXPECT_TRUE(o.err.starts_with("error: ")) << o.err;
    EXPECT_THAT(o.err, HasSubstr(why));
  };
  refuses("", "usage: sinter COMMAND");
  refuses("rum", "no command \"rum\"; did you mean 'run'?");
  refuses("'a\x01'", "\"a\\x01\"");
  refuses("run z --agr z=1", "no option \"--agr\"; did you mean '--arg'?");
  refuses("run z --output", "--output takes FILE.npy");
  refuses("run z --device cpu --device cpu", "--device is given twice");
  refuses("run --help=1", "--help takes no value");
  refuses("run -z", "goes last, after --");
  refuses("run", "run takes EXPRESSION");
  refuses("run z + 2", "3 words were given: is the expression in quotes?");
  refuses("devices all", "devices takes only options");
  refuses("run z --arg z", "NAME=FILE");
  refuses("run z --arg =3", "NAME=FILE");
  refuses("run z --arg z=1 --arg z=2", "\"z\" is given twice");
  refuses("run z --arg z=1e999", "out of range");
  refuses("run z --arg z=99999999999999999999", "out of range");
  refuses("run z --arg 'z: f32[n]'", "z=FILE.npy");
  refuses("bench z --arg 'z: f32[n]' --size n", "NAME=NUMBER");
  refuses("bench z --arg 'z: f32[n]' --size n=-1", "NAME=NUMBER");
  refuses("bench z --arg 'z: f32[n]' --size n=1 --size n=2", "given twice");
  refuses("bench z --repeat 0", "is not an integer of at least 1");
  refuses("bench z --repeat 3x", "is not an integer");
  refuses("explain z --cuda --dot", "choose one");
  refuses("explain z --cuda --hip", "choose one");
  refuses("explain z --dot --html plan.html", "choose one");
  refuses("export z --arg z=3", "z: f32[n]");
  refuses("export z --format sauce", "\"sauce\" is not one of source, header");
  refuses("export z --extra cu,xyz", "\"xyz\" is not one of");
  refuses("export z --arch=", "name architectures");
  refuses("export z --arch ,", "name architectures");
  refuses("export z --arch ninety", "not an architecture");
  refuses("cache", "cache takes ACTION [FILE]");
  refuses("cache stat", "did you mean 'stats'?");
  refuses("cache pack", "cache pack takes a FILE");
  refuses("cache stats x", "cache stats takes no FILE");
  refuses("cache stats --delete", "cache verify");
  EXPECT_EQ(Shell().sinter("nosuch 2>&-").status, 2) << "where nobody can be told";
}

TEST(CommandLineTest, AFullDiskBehindTheOutputIsAnError) {
  const Shell shell;
  const Outcome o = shell.sinter("run 2+3 >/dev/full");
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.err, HasSubstr("cannot write"));
}

TEST(CommandLineTest, NothingEndsItWhateverTheWords) {
  const Shell shell;
  shell.write_npy("z.npy", {1, 2, 3}, "(3,)");
  write_text(shell.file("bad.npy"), "no array");
  const std::vector<std::string> words = {"run",
                                          "explain",
                                          "cache",
                                          "devices",
                                          "export",
                                          "--arg",
                                          "--arg=z=z.npy",
                                          "z=z.npy",
                                          "z=bad.npy",
                                          "z: f32[n]",
                                          "z: f32[",
                                          "z: f32[-3]",
                                          "z: f32[99999999999999999999]",
                                          "z: f32[9999999999,9999999999]",
                                          "z: q8[2]",
                                          "z:",
                                          ":",
                                          "=",
                                          "",
                                          "-",
                                          "--",
                                          "---",
                                          "--=",
                                          "-o",
                                          "/nonexistent/x",
                                          ".",
                                          "--output=",
                                          "--size",
                                          "n=4",
                                          "n=0",
                                          "n=",
                                          "--device",
                                          "cpu",
                                          "cuda:7",
                                          "cuda:99999999999",
                                          "mesh",
                                          "exp(z)",
                                          "exp(z",
                                          "z[0]",
                                          "z @ z",
                                          "sum(z, 5)",
                                          "\x80\xff",
                                          "\n",
                                          "stats",
                                          "unpack",
                                          "verify",
                                          "z.npy",
                                          "--arch",
                                          "none",
                                          "--arch=,,",
                                          "--name",
                                          "__x",
                                          "a b",
                                          "--ptx",
                                          "--help"};
  const std::uint32_t seed = 20261122;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937 random(seed);
  int fine = 0;
  for (int i = 0; i < 120; ++i) {
    std::string line;
    for (std::uint32_t n = random() % 7; n > 0; --n) line += " " + quoted(words[random() % words.size()]);
    if (i % 2 == 0) line = " " + words[random() % 5] + line;
    const Outcome o = shell.sinter(line);
    EXPECT_TRUE(o.status >= 0 && o.status <= 2) << line << "\n" << o.err;
    EXPECT_EQ(o.err.empty(), o.status == 0) << line << "\n" << o.err;
    fine += o.status == 0;
  }
  EXPECT_GT(fine, 0);
}

}  // namespace
}  // namespace sinter::testing
