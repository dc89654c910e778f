#include "cuda_scatter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include <runtime/fork.hpp>
#include <sinter/runtime/fault.hpp>
#include "../cuda/expression.hpp"
#include "library_kernel.hpp"

namespace sinter::inline v1::jit::cuda {
namespace {

/// A kernel that calls `write(place, value)` for elements of a type.
LibraryKernel make(const std::string& name, std::string_view type, std::string_view write) {
  return {name, fmt::format(R"(struct {0}_params {{
  unsigned* fault;
  {1}* to;
  const long long* places;
  const {1}* values;
  long long n, step;
  alignas(8) unsigned fault_code;
}};

extern "C" __global__ void __launch_bounds__(256) {0}(const __grid_constant__ {0}_params p) {{
  bool fault = false;
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < p.n; i += gridDim.x * 256ll) {{
    const long long place = p.places[i];
    if (place < -{3}ll || place >= {3}ll)
      fault = true;
    else
      sinter::{2}(p.to + place, p.values[i * p.step]);
  }}
  if (fault) sinter::report(p.fault, p.fault_code);
}}
)",
                            name, type, write, places_end)};
}

/// By size in bytes: 1, 2, 4, 8, 16.
const LibraryKernel& store_kernel(std::size_t size) {
  constexpr std::string_view types[] = {"unsigned char", "unsigned short", "unsigned", "unsigned long long",
                                        "sinter::complex128"};
  static constinit std::array<runtime::NoDestructor<const LibraryKernel>, std::size(types)> kernels;
  const auto log2 = static_cast<std::size_t>(std::countr_zero(size));
  return kernels[log2].get([&] {
    return new LibraryKernel(make(fmt::format("sinter_scatter_b{}", 8 * size), types[log2],
                                  size == 16 ? "store_relaxed_parts" : "store_relaxed"));
  });
}

const LibraryKernel& add_kernel(DType dtype) {
  static constinit std::array<runtime::NoDestructor<const LibraryKernel>, dtype_count> kernels;
  return kernels[static_cast<std::size_t>(dtype)].get([&] {
    const std::string name = fmt::format("sinter_scatter_add_{}", sinter::name(dtype));
    const char* const add = dtype == DType::Bool                                          ? "or_relaxed"
                            : is_complex(dtype)                                           ? "atomic_add_parts"
                            : is_stored_only(dtype) && category(dtype) == Category::Float ? "atomic_add_16_bits"
                                                                                          : "atomic_add";
    return new LibraryKernel(make(name, storage_type(dtype), add));
  });
}

}  // namespace

/// CUDA has no compare-and-swap of bytes, and that of 16 bits is worth its code only for floats.
bool adds_in_place(DType dtype) noexcept { return category(dtype) != Category::Int || size_of(dtype) >= 4; }

void write_at(const runtime::TensorImpl& x, const runtime::TensorImpl& offsets, const runtime::TensorImpl& values,
              Write how, const std::string& fault) {
  const LibraryKernel& kernel = how == Write::Add ? add_kernel(x.dtype) : store_kernel(size_of(x.dtype));
  const std::int64_t blocks =
      (offsets.numel + LibraryKernel::block_threads - 1) / std::int64_t{LibraryKernel::block_threads};
  const std::uint64_t words[] = {runtime::gpu(x.device.index()).fault_word(),
                                 address(x),
                                 address(offsets),
                                 address(values),
                                 static_cast<std::uint64_t>(offsets.numel),
                                 values.numel == offsets.numel ? 1u : 0u,
                                 runtime::fault_code(fault, true)};
  const runtime::BufferAccess uses[] = {
      {x.buffer.get(), true}, {offsets.buffer.get(), false}, {values.buffer.get(), false}};
  kernel.launch(x.device, std::min(blocks, LibraryKernel::max_blocks), words, 4, uses);
}

}  // namespace sinter::inline v1::jit::cuda
