// StateDict: tensors by name, as a model's parameters are kept in files.
#pragma once
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include <sinter/dsl/tensor.hpp>

namespace sinter::inline v1 {

/// Tensors by name, in the order in which they came; a copy shares their storage. Names are PyTorch's: "fc1.weight".
class StateDict {
 public:
  struct Entry {
    std::string name;
    AnyTensor tensor;
  };
  using value_type = Entry;

  StateDict() = default;
  /// Throws Error for two entries of one name.
  StateDict(std::initializer_list<Entry> entries) : StateDict(std::vector<Entry>(entries)) {}
  explicit StateDict(std::vector<Entry> entries);

  std::size_t size() const noexcept { return entries_.size(); }
  bool empty() const noexcept { return entries_.empty(); }
  auto begin() const noexcept { return entries_.begin(); }
  auto end() const noexcept { return entries_.end(); }

  bool contains(std::string_view name) const noexcept;
  /// Throws IndexError, which says what similar names there are.
  const AnyTensor& at(std::string_view name) const;
  /// The tensor of this name, to be assigned to; a new one, as yet empty, where there is none.
  AnyTensor& operator[](std::string_view name);
  /// Whether there was one.
  bool erase(std::string_view name);

  /// With names that begin by the prefix without it: what torch.nn.DataParallel wraps has a "module." before each.
  /// Throws Error where two tensors would have one name.
  StateDict without_prefix(std::string_view prefix = "module.") const;

 private:
  std::size_t place(std::string_view name) const noexcept;
  bool is_at(std::size_t place, std::string_view name) const noexcept;

  std::deque<Entry> entries_;         // whose references last: state["a"] = state["b"]
  std::vector<std::size_t> by_name_;  // entries, sorted by their names
};

/// A line for each tensor: its name, dtype, shape and device.
std::string to_string(const StateDict& state);
std::ostream& operator<<(std::ostream& out, const StateDict& state);

}  // namespace sinter::inline v1
