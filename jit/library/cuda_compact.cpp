#include "cuda_compact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <string>
#include <vector>

#include <runtime/fork.hpp>
#include <sinter/runtime/transfer.hpp>
#include "../plan/parameters.hpp"
#include "library_kernel.hpp"

namespace sinter::inline v1::jit::cuda {
namespace {

using runtime::TensorImpl;
using runtime::TensorRef;

constexpr std::int64_t warp = 32;
constexpr std::int64_t shortest_part = 512;  // elements: with fewer, launch overhead dominates
constexpr std::int64_t max_parts = 1 << 14;  // warps: more than a GPU runs at once; their counts are copied to the host

constexpr std::string_view count_text = R"(struct sinter_count_true_params {
  unsigned* counts;
  const unsigned char* mask;
  long long n, length;
};

extern "C" __global__ void __launch_bounds__(256) sinter_count_true(
    const __grid_constant__ sinter_count_true_params p) {
  const long long part = (blockIdx.x * 256ll + threadIdx.x) / 32, first = part * p.length;
  const long long last = first + p.length < p.n ? first + p.length : p.n;
  unsigned found = 0;
#pragma unroll 4
  for (long long i = first + threadIdx.x % 32; i < last; i += 32) found += p.mask[i] != 0;
  for (int d = 16; d > 0; d /= 2) found += __shfl_down_sync(~0u, found, d);
  if (threadIdx.x % 32 == 0 && first < p.n) p.counts[part] = found;
}
)";

/// The text between the struct of the parameters and what a thread does with element `i` for `place`.
constexpr std::string_view loop_text = R"(
extern "C" __global__ void __launch_bounds__(256) {0}(const __grid_constant__ {0}_params p) {{
  const int lane = threadIdx.x % 32;
  const long long part = (blockIdx.x * 256ll + threadIdx.x) / 32, first = part * p.length;
  const long long last = first + p.length < p.n ? first + p.length : p.n;
  long long at = first < last ? p.offsets[part] : 0;
#pragma unroll 4
  for (long long i = first + lane; i - lane < last; i += 32) {{
    const bool chosen = i < last && p.mask[i] != 0;
    const unsigned all = __ballot_sync(~0u, chosen);
    const long long place = at + __popc(all & ((1u << lane) - 1));
    at += __popc(all);
    if (!chosen) continue;
{1}  }}
}}
)";

std::string copy_text(std::string_view name, std::string_view type) {
  return fmt::format(R"(struct {0}_params {{
  {1}* to;
  const {1}* from;
  const unsigned char* mask;
  const long long* offsets;
  long long n, length;
}};
)",
                     name, type) +
         fmt::format(loop_text, name, "    p.to[place] = p.from[i];\n");
}

std::string positions_text(std::string_view name) {
  return fmt::format(R"(struct {0}_params {{
  long long* to;
  const unsigned char* mask;
  const long long* offsets;
  long long n, length, ndim;
  struct {{
    unsigned long long extent;
    sinter::FastDivisor64 divisor;
  }} dims[{1}];
}};
)",
                     name, max_ndim) +
         fmt::format(loop_text, name, R"(    unsigned long long rest = i;
    for (int d = int(p.ndim) - 1; d > 0; --d) {
      const unsigned long long q = sinter::fast_divide64(rest, p.dims[d].divisor);
      p.to[place * p.ndim + d] = rest - q * p.dims[d].extent;
      rest = q;
    }
    p.to[place * p.ndim] = rest;
)");
}

const LibraryKernel& count_kernel() {
  static constinit runtime::NoDestructor<const LibraryKernel> kernel;
  return kernel.get([] { return new LibraryKernel("sinter_count_true", std::string(count_text)); });
}

const LibraryKernel& positions_kernel() {
  static constinit runtime::NoDestructor<const LibraryKernel> kernel;
  return kernel.get([] { return new LibraryKernel("sinter_nonzero", positions_text("sinter_nonzero")); });
}

/// For elements of 1, 2, 4, 8 or 16 bytes.
const LibraryKernel& copy_kernel(std::size_t size) {
  constexpr std::string_view types[] = {"unsigned char", "unsigned short", "unsigned", "unsigned long long",
                                        "sinter::complex128"};
  static constinit std::array<runtime::NoDestructor<const LibraryKernel>, std::size(types)> kernels;
  const auto log2 = static_cast<std::size_t>(std::countr_zero(size));
  return kernels[log2].get([&] {
    const std::string name = fmt::format("sinter_masked_select_b{}", 8 * size);
    return new LibraryKernel(name, copy_text(name, types[log2]));
  });
}

std::int64_t blocks_for(std::int64_t n, const MaskCounts& parts) noexcept {
  const std::int64_t threads = (n + parts.length - 1) / parts.length * warp;
  return (threads + LibraryKernel::block_threads - 1) / LibraryKernel::block_threads;
}

}  // namespace

MaskCounts count_true(const TensorImpl& mask) {
  const std::int64_t n = mask.numel, even = (n + max_parts - 1) / max_parts;
  MaskCounts parts{std::max(shortest_part, (even + warp - 1) / warp * warp), 0, {}};
  const std::int64_t count = (n + parts.length - 1) / parts.length;
  std::vector<std::uint32_t> found(static_cast<std::size_t>(count));
  const TensorRef counts = runtime::empty(Shape(count), DType::Int32, mask.device);
  const std::uint64_t words[] = {address(*counts), address(mask), static_cast<std::uint64_t>(n),
                                 static_cast<std::uint64_t>(parts.length)};
  const runtime::BufferAccess uses[] = {{counts->buffer.get(), true}, {mask.buffer.get(), false}};
  count_kernel().launch(mask.device, blocks_for(n, parts), words, 2, uses);
  runtime::download(found.data(), {counts->buffer.get(), counts->data}, found.size() * sizeof found[0]);
  std::vector<std::int64_t> offsets;
  for (const std::uint32_t in_part : found) {
    offsets.push_back(parts.total);
    parts.total += in_part;
  }
  if (parts.total == 0) return parts;
  parts.offsets = runtime::empty(Shape(count), DType::Int64, mask.device);
  runtime::upload({parts.offsets->buffer.get(), parts.offsets->data}, offsets.data(),
                  offsets.size() * sizeof offsets[0]);
  return parts;
}

void copy_true(const TensorImpl& to, const TensorImpl& from, const TensorImpl& mask, const MaskCounts& parts) {
  const std::uint64_t words[] = {address(to),
                                 address(from),
                                 address(mask),
                                 address(*parts.offsets),
                                 static_cast<std::uint64_t>(mask.numel),
                                 static_cast<std::uint64_t>(parts.length)};
  const runtime::BufferAccess uses[] = {{to.buffer.get(), true},
                                        {from.buffer.get(), false},
                                        {mask.buffer.get(), false},
                                        {parts.offsets->buffer.get(), false}};
  copy_kernel(size_of(to.dtype)).launch(to.device, blocks_for(mask.numel, parts), words, 4, uses);
}

void write_positions(const TensorImpl& to, const TensorImpl& mask, const MaskCounts& parts) {
  std::array<std::uint64_t, 6 + 3 * max_ndim> words = {address(to),
                                                       address(mask),
                                                       address(*parts.offsets),
                                                       static_cast<std::uint64_t>(mask.numel),
                                                       static_cast<std::uint64_t>(parts.length),
                                                       static_cast<std::uint64_t>(mask.ndim())};
  std::uint64_t* dim = words.data() + 6;
  for (const std::int64_t extent : mask.shape) dim = write_wide_extent(dim, extent);
  const runtime::BufferAccess uses[] = {
      {to.buffer.get(), true}, {mask.buffer.get(), false}, {parts.offsets->buffer.get(), false}};
  positions_kernel().launch(to.device, blocks_for(mask.numel, parts), words, 3, uses);
}

}  // namespace sinter::inline v1::jit::cuda
