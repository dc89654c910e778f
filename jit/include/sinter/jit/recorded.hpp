// An expression as a graph, with its leaves and scalars.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <sinter/jit/graph.hpp>
#include <sinter/jit/lazy.hpp>

namespace sinter::inline v1::jit {

/// An expression without its C++ type: evaluation and inspection start from it if the call-site cache has no plan.
/// It does not check that the leaves are on one device; its users do.
struct Recorded {
  Recorded() = default;
  /// The caller keeps the tree's leaves. Throws Error for a leaf that was moved from.
  Recorded(const Bound& tree);
  /// For inspection: as if the value had not been evaluated yet.
  Recorded(const LazyRef& value);
  /// All values together. Throws Error for a value that was moved from or a leaf that was written to since,
  /// DeviceError.
  explicit Recorded(std::span<const LazyRef> values);
  /// All values together, where those that have been evaluated become leaves that know their origin.
  static Recorded with_origins(std::span<const LazyRef> values);
  /// All values together, as if nothing had been evaluated yet, with the leaves' origins.
  static Recorded unevaluated(std::span<const LazyRef> values);

  /// Indices of the first output's leaves that are not gathered from: its shape comes from them, and so do its views.
  std::vector<std::uint32_t> elementwise() const;

  Graph graph;
  std::vector<runtime::TensorImpl*> leaves;
  std::vector<Scalar> scalars;
  Device device;                         // of the leaves; the CPU if there are none
  std::vector<runtime::TensorRef> held;  // leaves kept alive by this object
  std::vector<std::string> names;        // of the leaves, for explain(); empty where unknown, or the whole list is
  bool is_cut = false;                   // a leaf was computed, but from what is not known any more
  std::vector<std::shared_ptr<const Origin>> origins;  // of the leaves, if recorded; null for those that have none
};

}  // namespace sinter::inline v1::jit
