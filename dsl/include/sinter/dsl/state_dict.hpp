// StateDict: tensors by name, the form in which files store a model's parameters.
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

/// Tensors by name, in insertion order; a copy shares their storage. Names are PyTorch's: "fc1.weight".
class StateDict {
 public:
  struct Entry {
    std::string name;
    AnyTensor tensor;
  };
  using value_type = Entry;

  StateDict() = default;
  /// Throws Error for a repeated name.
  StateDict(std::initializer_list<Entry> entries) : StateDict(std::vector<Entry>(entries)) {}
  explicit StateDict(std::vector<Entry> entries);

  std::size_t size() const noexcept { return entries_.size(); }
  bool empty() const noexcept { return entries_.empty(); }
  auto begin() const noexcept { return entries_.begin(); }
  auto end() const noexcept { return entries_.end(); }

  bool contains(std::string_view name) const noexcept;
  /// Throws IndexError, which suggests similar names.
  const AnyTensor& at(std::string_view name) const;
  /// The tensor of this name, for assignment; a new one without an array if there is none.
  AnyTensor& operator[](std::string_view name);
  /// Returns whether there was one.
  bool erase(std::string_view name);

  /// A copy in which names that begin with the prefix lose it: torch.nn.DataParallel puts "module." before each name.
  /// Throws Error if two tensors would have the same name.
  StateDict without_prefix(std::string_view prefix = "module.") const;

 private:
  std::size_t place(std::string_view name) const noexcept;
  bool is_at(std::size_t place, std::string_view name) const noexcept;

  std::deque<Entry> entries_;         // its references stay valid: state["a"] = state["b"]
  std::vector<std::size_t> by_name_;  // indices of entries, sorted by name
};

/// One line per tensor: its name, dtype, shape and device.
std::string to_string(const StateDict& state);
std::ostream& operator<<(std::ostream& out, const StateDict& state);

}  // namespace sinter::inline v1
