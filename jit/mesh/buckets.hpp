// Buckets: partial sums that one all-reduce adds across the ranks.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <sinter/runtime/mesh.hpp>
#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::jit {

/// A sum of which each rank computes a part of this shape.
struct PartialSum {
  Shape shape;
  DType dtype;
};

/// Sums of one dtype in one array per rank: for small ones, the latency of a message outweighs its bytes.
struct Bucket {
  DType dtype;
  std::int64_t elements = 0;  // with the gaps that align the sums; what is in them is added and never read
  std::vector<std::size_t> sums;
  std::vector<std::int64_t> offsets;  // of the sums, in elements
};

/// A bucket for each dtype, with its sums in order.
std::vector<Bucket> buckets_of(std::span<const PartialSum> sums);

/// The arrays of buckets on a mesh.
class BucketArrays {
 public:
  /// Throws OutOfMemory, DeviceError.
  BucketArrays(std::span<const PartialSum> sums, Device mesh);

  /// A replicated tensor, whose copy at each rank receives the rank's part of sum i; then the sum.
  const runtime::TensorRef& operator[](std::size_t i) const { return views_[i]; }
  /// Replaces the parts by their sums. Throws what Communicator throws.
  void all_reduce() const;

 private:
  const Mesh mesh_;
  std::vector<runtime::TensorRef> arrays_;  // by bucket
  std::vector<runtime::TensorRef> views_;   // by sum
};

}  // namespace sinter::inline v1::jit
