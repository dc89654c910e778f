#include "buckets.hpp"

#include <algorithm>

#include <sinter/runtime/communicator.hpp>
#include <sinter/runtime/shards.hpp>
#include "../plan/class_key.hpp"

namespace sinter::inline v1::jit {
namespace {

using runtime::TensorRef;

void append(Bucket& bucket, std::size_t sum, std::int64_t elements) {
  const std::int64_t step = std::max<std::int64_t>(max_vector_bytes / static_cast<int>(size_of(bucket.dtype)), 1);
  const std::int64_t offset = (bucket.elements + step - 1) / step * step;
  bucket.sums.push_back(sum);
  bucket.offsets.push_back(offset);
  bucket.elements = offset + elements;
}

}  // namespace

std::vector<Bucket> buckets_of(std::span<const PartialSum> sums) {
  std::vector<Bucket> buckets;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    auto bucket = std::ranges::find(buckets, sums[i].dtype, &Bucket::dtype);
    if (bucket == buckets.end()) bucket = buckets.insert(bucket, {.dtype = sums[i].dtype});
    append(*bucket, i, sums[i].shape.numel());
  }
  return buckets;
}

BucketArrays::BucketArrays(std::span<const PartialSum> sums, Device mesh) : mesh_(Mesh::of(mesh)), views_(sums.size()) {
  for (const Bucket& bucket : buckets_of(sums)) {
    arrays_.push_back(runtime::empty_replicated({bucket.elements}, bucket.dtype, mesh));
    for (std::size_t i = 0; i < bucket.sums.size(); ++i) {
      const Shape& shape = sums[bucket.sums[i]].shape;
      views_[bucket.sums[i]] = runtime::view(*arrays_.back(), shape, contiguous_strides(shape), bucket.offsets[i]);
    }
  }
}

void BucketArrays::all_reduce() const {
  if (mesh_.size() == 1) return;
  for (const TensorRef& array : arrays_)
    mesh_.communicator().all_reduce(array->buffer->shards()->local, runtime::ReduceOp::Sum);
}

}  // namespace sinter::inline v1::jit
