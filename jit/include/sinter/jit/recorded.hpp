// An expression as a graph, with what the graph's numbers mean.
#pragma once
#include <span>
#include <string>
#include <vector>

#include <sinter/jit/graph.hpp>
#include <sinter/jit/lazy.hpp>

namespace sinter::inline v1::jit {

/// What is left of an expression when its type is gone: evaluating and inspecting start from it where no entry of the
/// type knows the answer. Whether the leaves are on one device is for the user of it to check.
struct Recorded {
  Recorded() = default;
  /// The tree's leaves stay the caller's. Throws Error for a leaf that was moved away.
  Recorded(const Bound& tree);
  /// For inspection: as if the value had not been evaluated yet.
  Recorded(const LazyRef& value);
  /// All values together. Throws Error for a value that was moved from or a leaf that was written to since,
  /// DeviceError.
  explicit Recorded(std::span<const LazyRef> values);

  /// Numbers of the leaves that the first output walks over: what its shape comes from, and views of it are views of.
  std::vector<std::uint32_t> walked() const;

  Graph graph;
  std::vector<runtime::TensorImpl*> leaves;
  std::vector<Scalar> scalars;
  Device device;                         // of the leaves; the CPU where there are none
  std::vector<runtime::TensorRef> held;  // leaves that this keeps alive
  std::vector<std::string> names;        // of the leaves, for explain(): empty ones, or all, where there are none
};

}  // namespace sinter::inline v1::jit
