// Checks that names are unique.
#pragma once
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace sinter::inline v1::detail {

/// The first repeated name in sort order; null if all are different.
template <class Entries, class NameOf>
const std::string* first_duplicate(const Entries& entries, NameOf name_of) {
  std::vector<const std::string*> names;
  for (const auto& entry : entries) names.push_back(&std::invoke(name_of, entry));
  const auto text = [](const std::string* name) -> const std::string& { return *name; };
  std::ranges::sort(names, {}, text);
  const auto found = std::ranges::adjacent_find(names, {}, text);
  return found == names.end() ? nullptr : *found;
}

}  // namespace sinter::inline v1::detail
