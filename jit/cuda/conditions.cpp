#include "conditions.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace sinter::inline v1::jit::cuda {
namespace {

class Resolver {
 public:
  explicit Resolver(std::span<const Macro> known) : known_(known) {}

  void line(std::string_view l) {
    if (l.starts_with("#if"))
      open(l);
    else if (l.starts_with("#elif"))
      next_branch(l, value(l));
    else if (l == "#else")
      next_branch(l, std::nullopt);
    else if (l == "#endif")
      close(l);
    else
      write(l);
  }

  std::string take() { return std::move(out_); }

 private:
  /// An #if with its branches.
  struct Group {
    bool stays;    // as a condition: some branch before depends on what is not known
    bool decided;  // a branch is known to be the one
    bool skips;    // the branch that the next lines belong to
  };

  void write(std::string_view l) {
    if (std::ranges::none_of(groups_, &Group::skips)) out_.append(l).append("\n");
  }

  /// Whether a directive's condition holds, where that is known.
  std::optional<bool> value(std::string_view l) const {
    for (const Macro& m : known_) {
      if (l.substr(l.find(' ') + 1) == m.name) return m.is_defined != l.starts_with("#ifndef");
      const std::size_t at = l.find("defined(");
      if (at == l.find(' ') + 1 && l.substr(at + 8).starts_with(m.name) && l[at + 8 + m.name.size()] == ')')
        return m.is_defined;
    }
    return std::nullopt;
  }

  void open(std::string_view l) {
    const std::optional<bool> holds = value(l);
    if (!holds) write(l);
    groups_.push_back({!holds, holds.value_or(false), !holds.value_or(true)});
  }

  void next_branch(std::string_view l, std::optional<bool> holds) {
    Group& g = groups_.back();
    g.skips = g.decided || !holds.value_or(true);
    g.decided |= holds.value_or(false);
    if (g.stays) write(l);
  }

  void close(std::string_view l) {
    const bool stays = groups_.back().stays;
    groups_.pop_back();
    if (stays) write(l);
  }

  const std::span<const Macro> known_;
  std::vector<Group> groups_;
  std::string out_;
};

}  // namespace

std::string resolve_conditions(std::string_view text, std::span<const Macro> known) {
  Resolver resolver(known);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    resolver.line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return resolver.take();
}

}  // namespace sinter::inline v1::jit::cuda
