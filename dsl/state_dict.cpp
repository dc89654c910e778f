#include <sinter/dsl/state_dict.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <ostream>

#include <runtime/text.hpp>
#include <sinter/runtime/error.hpp>

namespace sinter::inline v1 {

namespace {

/// The number of insertions, deletions and changes that turn one text into the other (Levenshtein distance).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

/// A few similar names, quoted, the nearest first; the first few names if none is similar.
std::string suggestions(const StateDict& state, std::string_view asked) {
  constexpr std::size_t most = 4, longest = 200;
  std::vector<std::pair<std::size_t, std::string_view>> near;
  for (const StateDict::Entry& e : state) {
    const std::size_t limit = std::min(asked.size(), longest) / 3 + 1;
    if (std::max(e.name.size(), asked.size()) > std::min(e.name.size(), asked.size()) + limit) continue;
    const std::size_t d = distance(asked.substr(0, longest), std::string_view(e.name).substr(0, longest));
    if (d <= limit) near.emplace_back(d, e.name);
  }
  std::ranges::sort(near);
  const bool similar = !near.empty();
  for (const StateDict::Entry& e : state)
    if (!similar && near.size() <= most) near.emplace_back(0, e.name);
  std::string text = similar ? "similar names are " : "there are ";
  for (std::size_t i = 0; i < std::min(near.size(), most); ++i)
    text += fmt::format("{}'{}'", i ? ", " : "", near[i].second);
  return text + (!similar && near.size() > most ? ", ..." : "");
}

[[noreturn]] void throw_missing(const StateDict& state, std::string_view name) {
  const std::string wrapped = "module." + std::string(name);
  throw IndexError(fmt::format("there is no tensor '{}' among the {} of this state dict: {}", runtime::shortened(name),
                               state.size(),
                               state.empty()             ? "it is empty"
                               : state.contains(wrapped) ? fmt::format("there is '{}'; without_prefix(\"module.\") "
                                                                       "takes that prefix from all names",
                                                                       wrapped)
                                                         : suggestions(state, name)));
}

}  // namespace

StateDict::StateDict(std::vector<Entry> entries)
    : entries_(std::move_iterator(entries.begin()), std::move_iterator(entries.end())), by_name_(entries_.size()) {
  const auto name_of = [&](std::size_t i) -> std::string_view { return entries_[i].name; };
  std::iota(by_name_.begin(), by_name_.end(), 0);
  std::ranges::sort(by_name_, {}, name_of);
  const auto twice = std::ranges::adjacent_find(by_name_, {}, name_of);
  if (twice != by_name_.end()) throw Error(fmt::format("two tensors of a state dict are called '{}'", name_of(*twice)));
}

std::size_t StateDict::place(std::string_view name) const noexcept {
  const auto at =
      std::ranges::lower_bound(by_name_, name, {}, [&](std::size_t i) -> std::string_view { return entries_[i].name; });
  return static_cast<std::size_t>(at - by_name_.begin());
}
bool StateDict::is_at(std::size_t place, std::string_view name) const noexcept {
  return place < by_name_.size() && entries_[by_name_[place]].name == name;
}

bool StateDict::contains(std::string_view name) const noexcept { return is_at(place(name), name); }

const AnyTensor& StateDict::at(std::string_view name) const {
  const std::size_t p = place(name);
  if (!is_at(p, name)) throw_missing(*this, name);
  return entries_[by_name_[p]].tensor;
}

AnyTensor& StateDict::operator[](std::string_view name) {
  const std::size_t p = place(name);
  if (is_at(p, name)) return entries_[by_name_[p]].tensor;
  // The second insertion must not fail after the first.
  if (by_name_.size() == by_name_.capacity()) by_name_.reserve(2 * by_name_.size() + 1);
  entries_.push_back({std::string(name), {}});
  by_name_.insert(by_name_.begin() + static_cast<std::ptrdiff_t>(p), entries_.size() - 1);
  return entries_.back().tensor;
}

bool StateDict::erase(std::string_view name) {
  const std::size_t p = place(name);
  if (!is_at(p, name)) return false;
  const std::size_t gone = by_name_[p];
  by_name_.erase(by_name_.begin() + static_cast<std::ptrdiff_t>(p));
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(gone));
  for (std::size_t& i : by_name_) i -= i > gone;
  return true;
}

StateDict StateDict::without_prefix(std::string_view prefix) const {
  std::vector<Entry> entries(entries_.begin(), entries_.end());
  for (Entry& e : entries)
    if (e.name.starts_with(prefix)) e.name.erase(0, prefix.size());
  return StateDict(std::move(entries));
}

std::string to_string(const StateDict& state) {
  constexpr std::size_t widest = 48;  // longer names stick out instead of widening the column
  std::size_t width = 0, bytes = 0;
  for (const StateDict::Entry& e : state) {
    if (e.name.size() <= widest) width = std::max(width, e.name.size());
    if (e.tensor.defined()) bytes += static_cast<std::size_t>(e.tensor.numel()) * size_of(e.tensor.dtype());
  }
  std::string text =
      fmt::format("{} tensor{}, {}", state.size(), state.size() == 1 ? "" : "s", runtime::format_bytes(bytes));
  for (const auto& [name, tensor] : state)
    text += fmt::format("\n  {:{}}  {}", name, width, tensor.defined() ? runtime::describe(tensor.impl()) : "empty");
  return text;
}

std::ostream& operator<<(std::ostream& out, const StateDict& state) { return out << to_string(state); }

}  // namespace sinter::inline v1
