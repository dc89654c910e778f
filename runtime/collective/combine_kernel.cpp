#include "combine_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <tuple>

#include "../fork.hpp"
#include "combine.hpp"
#include "ranks.hpp"

namespace sinter::inline v1::runtime {
namespace {

/// Converts like half.hpp.
constexpr std::string_view float16_text = R"(
__device__ float wide(unsigned short bits) {
  const unsigned sign = (bits & 0x8000u) << 16, magnitude = bits & 0x7FFFu;
  if (magnitude >= 0x7C00u) return __uint_as_float(sign | 0x7F800000u | magnitude << 13);
  if (magnitude >= 0x400u) return __uint_as_float(sign | ((magnitude << 13) + 0x38000000u));
  const float value = __uint_as_float((magnitude << 13) + 0x38800000u) - 6.103515625e-05f;
  return sign ? -value : value;
}
__device__ unsigned short narrow(float value) {
  const unsigned bits = __float_as_uint(value), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return (unsigned short)(sign | 0x7E00u);
  if (magnitude >= 0x477FF000u) return (unsigned short)(sign | 0x7C00u);
  if (magnitude < 0x38800000u)
    return (unsigned short)(sign | (__float_as_uint(__uint_as_float(magnitude) + 0.5f) - 0x3F000000u));
  const unsigned odd = magnitude >> 13 & 1u;
  return (unsigned short)(sign | (magnitude - 0x38000000u + 0xFFFu + odd) >> 13);
}
)";
constexpr std::string_view bfloat16_text = R"(
__device__ float wide(unsigned short bits) { return __uint_as_float((unsigned)bits << 16); }
__device__ unsigned short narrow(float value) {
  const unsigned bits = __float_as_uint(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return (unsigned short)(bits >> 16 | 0x40u);
  return (unsigned short)((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}
)";

struct Types {
  std::string stored, wide, conversions;
};
Types types_of(DType dtype) {
  if (dtype == DType::Float16) return {"unsigned short", "float", std::string(float16_text)};
  if (dtype == DType::BFloat16) return {"unsigned short", "float", std::string(bfloat16_text)};
  const bool widens = dtype != DType::UInt64;  // int64 orders its upper half below 0
  const std::string stored(info(dtype).cuda_name), wide(info(widens ? compute_dtype(dtype) : dtype).cuda_name);
  return {stored, wide,
          fmt::format(
              "\n__device__ {1} wide({0} x) {{ return ({1})x; }}\n__device__ {0} narrow({1} x) {{ return ({0})x; }}\n",
              stored, wide)};
}

/// Combines the accumulator r with the next element, x. NaN in either gives NaN.
std::string_view expression_of(ReduceOp how) {
  constexpr std::string_view all[] = {"r + x", "r * x", "r < x || x != x ? x : r", "r > x || x != x ? x : r"};
  return all[static_cast<std::size_t>(how)];
}

/// The kernel, compiled once per device and kept.
void* function_for(GpuBackend& gpu, DType dtype, ReduceOp how) {
  using Key = std::tuple<int, DType, ReduceOp>;
  static constinit ForkLocal<std::mutex> mutex;
  static constinit NoDestructor<std::map<Key, KernelHandle>> functions;
  const std::lock_guard lock(mutex.get());  // possibly for long: the compiler runs
  KernelHandle& f = functions.get()[{gpu.device().index(), dtype, how}];
  if (!f.handle()) {
    const KernelSource source = combine_kernel(dtype, how);
    f = gpu.load(gpu.compile(source), source.name);
  }
  return f.handle();
}

}  // namespace

KernelSource combine_kernel(DType dtype, ReduceOp how) {
  const Types t = types_of(dtype);
  const std::string entry = fmt::format("combine_{}_{}", name(dtype), name(how));
  return {entry, fmt::format(R"(struct Params {{
  {0}* to;
  const {0}* from;
  long long arrays;
  long long count;
}};
{2}
extern "C" __global__ void __launch_bounds__(256) {3}(const __grid_constant__ Params p) {{
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < p.count; i += step) {{
    {1} r = wide(p.from[i]);
    for (long long a = 1; a < p.arrays; ++a) {{
      const {1} x = wide(p.from[a * p.count + i]);
      r = {4};
    }}
    p.to[i] = narrow(r);
  }}
}}
)",
                             t.stored, t.wide, t.conversions, entry, expression_of(how))};
}

void combine_on_gpu(GpuBackend& gpu, DType dtype, ReduceOp how, std::byte* to, const std::byte* from,
                    std::int64_t arrays, std::int64_t count) {
  if (count == 0) return;
  constexpr std::int64_t block = 256;
  const std::uint64_t words[] = {std::bit_cast<std::uint64_t>(to), std::bit_cast<std::uint64_t>(from),
                                 static_cast<std::uint64_t>(arrays), static_cast<std::uint64_t>(count)};
  const std::int64_t most = std::int64_t{8} * gpu.multiprocessors();
  gpu.launch({.kernel = function_for(gpu, dtype, how),
              .grid = static_cast<unsigned>(std::clamp<std::int64_t>((count + block - 1) / block, 1, most)),
              .block = block,
              .words = words,
              .pointers = 2});
}

}  // namespace sinter::inline v1::runtime
