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

/// The most bytes of a bucket of several sums, as in PyTorch's DistributedDataParallel: for small messages, latency
/// outweighs bandwidth; of large ones, the first could have been sent while the last sum was computed.
inline constexpr std::int64_t max_bucket_bytes = 25 << 20;

/// Sums of one dtype in one array per rank.
struct Bucket {
  DType dtype;
  std::int64_t elements = 0;  // with the gaps that align the sums; what is in them is added and never read
  std::vector<std::size_t> sums;
  std::vector<std::int64_t> offsets;  // of the sums, in elements
};

/// Buckets with their sums in order; those that are complete first come first.
std::vector<Bucket> buckets_of(std::span<const PartialSum> sums, std::int64_t max_bytes = max_bucket_bytes);

/// The arrays of buckets on a mesh.
class BucketArrays {
 public:
  /// `buckets` are those of the sums. Throws OutOfMemory, DeviceError.
  BucketArrays(std::span<const PartialSum> sums, std::span<const Bucket> buckets, Device mesh);

  /// A replicated tensor, whose copy at each rank receives the rank's part of sum i; then the sum.
  const runtime::TensorRef& operator[](std::size_t i) const { return views_[i]; }
  /// Whether a bucket may be sent while ranks compute the parts in later ones.
  bool overlap() const noexcept { return mesh_.size() > 1 && arrays_.size() > 1; }
  /// Replaces the parts by their sums, in streams beside the current ones if buckets overlap. Throws what Communicator
  /// throws.
  void all_reduce() const;

 private:
  const Mesh mesh_;
  std::vector<runtime::TensorRef> arrays_;  // by bucket
  std::vector<runtime::TensorRef> views_;   // by sum
};

}  // namespace sinter::inline v1::jit
