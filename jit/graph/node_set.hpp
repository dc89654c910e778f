// The visited set of searches that visit only a few nodes of a graph.
#pragma once
#include <cstdint>
#include <vector>

#include <sinter/jit/graph.hpp>

namespace sinter::inline v1::jit {

/// A set of nodes that is cleared in constant time, so that a search takes time proportional to the nodes it visits.
class NodeSet {
 public:
  void clear() noexcept { ++round_; }
  /// False if it is in the set already.
  bool add(NodeId id) {
    const auto i = static_cast<std::size_t>(id);
    if (i >= added_in_.size()) added_in_.resize(2 * i + 64);
    if (added_in_[i] == round_) return false;
    added_in_[i] = round_;
    return true;
  }

 private:
  std::uint64_t round_ = 1;
  std::vector<std::uint64_t> added_in_;  // by node
};

}  // namespace sinter::inline v1::jit
