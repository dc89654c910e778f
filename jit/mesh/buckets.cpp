#include "buckets.hpp"

#include <algorithm>
#include <optional>

#include <runtime/side_streams.hpp>
#include <sinter/runtime/communicator.hpp>
#include <sinter/runtime/shards.hpp>
#include "../plan/class_key.hpp"

namespace sinter::inline v1::jit {
namespace {

using runtime::TensorRef;

/// The position of the next sum, aligned for vectors.
std::int64_t next_offset(const Bucket& bucket) {
  const std::int64_t step = std::max<std::int64_t>(max_vector_bytes / static_cast<int>(size_of(bucket.dtype)), 1);
  return (bucket.elements + step - 1) / step * step;
}

void append(Bucket& bucket, std::size_t sum, std::int64_t elements) {
  bucket.sums.push_back(sum);
  bucket.offsets.push_back(next_offset(bucket));
  bucket.elements = bucket.offsets.back() + elements;
}

}  // namespace

std::vector<Bucket> buckets_of(std::span<const PartialSum> sums, std::int64_t max_bytes) {
  std::vector<Bucket> buckets;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const DType dtype = sums[i].dtype;
    const std::int64_t elements = sums[i].shape.numel(), limit = max_bytes / static_cast<std::int64_t>(size_of(dtype));
    const auto newest = std::ranges::find(buckets.rbegin(), buckets.rend(), dtype, &Bucket::dtype);
    const bool has_room = newest != buckets.rend() && next_offset(*newest) + elements <= limit;
    append(has_room ? *newest : buckets.emplace_back(Bucket{.dtype = dtype}), i, elements);
  }
  std::ranges::sort(buckets, {}, [](const Bucket& b) { return b.sums.back(); });
  return buckets;
}

BucketArrays::BucketArrays(std::span<const PartialSum> sums, std::span<const Bucket> buckets, Device mesh)
    : mesh_(Mesh::of(mesh)), views_(sums.size()) {
  for (const Bucket& bucket : buckets) {
    if (bucket.sums.size() == 1) {
      arrays_.push_back(runtime::empty_replicated(sums[bucket.sums[0]].shape, bucket.dtype, mesh));
      views_[bucket.sums[0]] = arrays_.back();
      continue;
    }
    arrays_.push_back(runtime::empty_replicated({bucket.elements}, bucket.dtype, mesh));
    for (std::size_t i = 0; i < bucket.sums.size(); ++i) {
      const Shape& shape = sums[bucket.sums[i]].shape;
      views_[bucket.sums[i]] = runtime::view(*arrays_.back(), shape, contiguous_strides(shape), bucket.offsets[i]);
    }
  }
}

void BucketArrays::all_reduce() const {
  if (mesh_.size() == 1) return;
  std::optional<runtime::SideStreams> beside;
  if (overlap()) beside.emplace(mesh_);
  for (const TensorRef& array : arrays_)
    mesh_.communicator().all_reduce(array->buffer->shards()->local, runtime::ReduceOp::Sum);
  if (beside) beside->join();
}

}  // namespace sinter::inline v1::jit
