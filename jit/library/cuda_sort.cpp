#include "cuda_sort.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string>

#include <runtime/fork.hpp>
#include <sinter/runtime/error.hpp>
#include "../cuda/expression.hpp"
#include "library_kernel.hpp"

namespace sinter::inline v1::embedded {
extern const std::string_view sort;
}

namespace sinter::inline v1::jit::cuda {
namespace {

using runtime::TensorImpl;
using runtime::TensorRef;

constexpr std::int64_t block_slots = 2048, digits = 256, tile = 2048;  // as in sort.cuh

std::uint64_t word(std::int64_t n) noexcept { return static_cast<std::uint64_t>(n); }
std::uint64_t address_or_null(const TensorImpl* t) noexcept { return t ? address(*t) : 0; }
runtime::BufferAccess use_of(const TensorImpl* t, bool writes) noexcept {
  return {t ? t->buffer.get() : nullptr, writes};
}

std::int64_t blocks_for(std::int64_t threads) noexcept {
  return (threads + LibraryKernel::block_threads - 1) / LibraryKernel::block_threads;
}

constexpr const char* key_types[] = {"unsigned char", "unsigned short", "unsigned", "unsigned long long"};

/// By its size in bytes.
const char* key_type(std::size_t size) noexcept { return key_types[std::countr_zero(size)]; }

/// The expression that makes an element's key.
std::string key_expression(DType dtype) {
  switch (dtype) {
    case DType::Bool: return "x != 0";
    case DType::UInt8:
    case DType::UInt16:
    case DType::UInt32:
    case DType::UInt64: return "x";
    case DType::Float16: return "float_key<Key>(x.bits, 0x7C00)";
    case DType::BFloat16: return "float_key<Key>(x.bits, 0x7F80)";
    case DType::Float32: return "float_key<Key>(__float_as_uint(x), 0x7F800000u)";
    case DType::Float64: return "float_key<Key>(Key(__double_as_longlong(x)), 0x7FF0000000000000ull)";
    default: return fmt::format("Key(Key(x) ^ Key(Key(1) << {}))", 8 * size_of(dtype) - 1);  // signed
  }
}

/// The text of sort.cuh with a kernel that calls `function` with `params`.
LibraryKernel make(const std::string& name, const std::string& before, const char* params, const char* function) {
  return {name, std::string(embedded::sort) +
                    fmt::format("\n{1}extern \"C\" __global__ void __launch_bounds__(256) {0}(const __grid_constant__ "
                                "{2} p) {{\n  {3}(p);\n}}\n",
                                name, before, params, function)};
}

std::string order_text(DType dtype) {
  return fmt::format(R"(struct Order {{
  using Element = {};
  using Key = {};
  static constexpr bool has_nan = {};
  static __device__ __forceinline__ Key key(Element x) {{ return {}; }}
}};

)",
                     storage_type(dtype), key_type(size_of(dtype)), category(dtype) == Category::Float,
                     key_expression(dtype));
}

/// Kernels over elements.
enum class Step : std::uint8_t { BlockSort, Keys, Select };

const LibraryKernel& kernel(Step step, DType dtype) {
  static constexpr const char* names[] = {"sort", "sort_keys", "select"};
  static constexpr const char* params[] = {"BlockSortParams<Order>", "KeysParams<Order>", "SelectParams<Order>"};
  static constexpr const char* functions[] = {"sort_in_block", "make_keys", "select_in_row"};
  using Kernels = std::array<runtime::NoDestructor<const LibraryKernel>, dtype_count>;
  static constinit std::array<Kernels, std::size(names)> kernels;
  const auto s = static_cast<std::size_t>(step);
  return kernels[s][static_cast<std::size_t>(dtype)].get([&] {
    return new LibraryKernel(
        make(fmt::format("sinter_{}_{}", names[s], name(dtype)), order_text(dtype), params[s], functions[s]));
  });
}

/// Kernels over keys.
enum class Pass : std::uint8_t { Count, Add, Move, Gather };

const LibraryKernel& kernel(Pass pass, std::size_t key_bytes) {
  static constexpr const char* names[] = {"count", "add", "move", "gather"};
  static constexpr const char* params[] = {"RadixParams", "RadixParams", "RadixParams", "GatherParams"};
  static constexpr const char* functions[] = {"count_digits", "add_counts", "move_by_digit", "gather_sorted"};
  using Kernels = std::array<runtime::NoDestructor<const LibraryKernel>, std::size(key_types)>;
  static constinit std::array<Kernels, std::size(names)> kernels;
  const auto s = static_cast<std::size_t>(pass);
  return kernels[s][static_cast<std::size_t>(std::countr_zero(key_bytes))].get([&] {
    return new LibraryKernel(make(fmt::format("sinter_sort_{}_b{}", names[s], 8 * key_bytes), "",
                                  fmt::format("{}<{}>", params[s], key_type(key_bytes)).c_str(), functions[s]));
  });
}

/// Which elements of each row are written, as in sort.cuh: cpu::Statistic's, or the first ones.
constexpr std::uint64_t first_ones = 3;

/// Rows to sort, and the results to write.
struct SortJob {
  const TensorImpl& x;
  const TensorImpl* values;  // may be null
  const TensorImpl& indices;
  const TensorImpl* origins;  // original positions of x's elements; null: their current ones
  std::int64_t first;         // elements of each row
  std::uint64_t flip;         // all ones in descending order
  std::uint64_t statistic = first_ones;
  std::int64_t position = 0;  // of cpu::Statistic::Kth

  std::int64_t length() const { return x.shape[-1]; }
  std::int64_t rows() const { return x.numel / length(); }
};

void sort_in_blocks(const SortJob& job) {
  const int log2 = std::bit_width(word(job.length()) - 1);
  const std::int64_t at_once = block_slots >> log2;
  const std::uint64_t words[] = {address_or_null(job.values),
                                 address(job.indices),
                                 address(job.x),
                                 address_or_null(job.origins),
                                 job.flip,
                                 word(job.rows()),
                                 word(job.length()),
                                 word(job.first),
                                 job.statistic,
                                 word(job.position),
                                 word(log2)};
  const runtime::BufferAccess uses[] = {use_of(job.values, true), use_of(&job.indices, true), use_of(&job.x, false),
                                        use_of(job.origins, false)};
  kernel(Step::BlockSort, job.x.dtype).launch(job.x.device, (job.rows() + at_once - 1) / at_once, words, 4, uses);
}

/// Double-buffered keys and positions: each pass moves them from one buffer to the other.
struct RadixMemory {
  TensorRef keys[2], positions[2], counts, totals;
};

void make_keys(const SortJob& job, const TensorImpl& keys) {
  const std::uint64_t words[] = {address(keys), address(job.x), job.flip, word(job.x.numel)};
  const runtime::BufferAccess uses[] = {use_of(&keys, true), use_of(&job.x, false)};
  kernel(Step::Keys, job.x.dtype)
      .launch(job.x.device, std::min(blocks_for(job.x.numel), LibraryKernel::max_blocks), words, 2, uses);
}

/// Returns which buffer holds the sorted ones.
int radix_sort(const SortJob& job, const RadixMemory& memory) {
  const std::size_t key_bytes = size_of(job.x.dtype);
  const std::int64_t tiles = (job.length() + tile - 1) / tile;
  int from = 0;
  for (std::size_t byte = 0; byte < key_bytes; ++byte, from ^= 1) {
    const TensorImpl* const positions = byte > 0 ? memory.positions[from].get() : nullptr;
    const TensorImpl *const keys = memory.keys[from].get(), *const keys_to = memory.keys[from ^ 1].get();
    const TensorImpl* const positions_to = memory.positions[from ^ 1].get();
    const std::uint64_t words[] = {address(*keys_to),
                                   address(*positions_to),
                                   address(*memory.counts),
                                   address(*memory.totals),
                                   address(*keys),
                                   address_or_null(positions),
                                   word(job.rows()),
                                   word(job.length()),
                                   word(tiles),
                                   8 * byte};
    const runtime::BufferAccess uses[] = {use_of(keys_to, true),
                                          use_of(positions_to, true),
                                          use_of(memory.counts.get(), true),
                                          use_of(memory.totals.get(), true),
                                          use_of(keys, false),
                                          use_of(positions, false)};
    kernel(Pass::Count, key_bytes).launch(job.x.device, job.rows() * tiles, words, 6, uses);
    kernel(Pass::Add, key_bytes).launch(job.x.device, job.rows() * (digits / 8), words, 6, uses);
    kernel(Pass::Move, key_bytes).launch(job.x.device, job.rows() * tiles, words, 6, uses);
  }
  return from;
}

void gather(const SortJob& job, const TensorImpl& keys, const TensorImpl& positions) {
  const std::uint64_t words[] = {address_or_null(job.values),
                                 address(job.indices),
                                 address(job.x),
                                 address(keys),
                                 address(positions),
                                 address_or_null(job.origins),
                                 word(job.rows()),
                                 word(job.length()),
                                 word(job.first),
                                 job.statistic,
                                 word(job.position),
                                 category(job.x.dtype) == Category::Float};
  const runtime::BufferAccess uses[] = {use_of(job.values, true),  use_of(&job.indices, true),
                                        use_of(&job.x, false),     use_of(&keys, false),
                                        use_of(&positions, false), use_of(job.origins, false)};
  kernel(Pass::Gather, size_of(job.x.dtype))
      .launch(job.x.device, std::min(blocks_for(job.rows() * job.first), LibraryKernel::max_blocks), words, 6, uses);
}

void sort_by_digits(const SortJob& job) {
  constexpr DType key_dtypes[] = {DType::UInt8, DType::Int16, DType::Int32, DType::Int64};
  const DType key_dtype = key_dtypes[std::countr_zero(size_of(job.x.dtype))];
  const auto room = [&](std::int64_t n, DType dtype) { return runtime::empty(Shape(n), dtype, job.x.device); };
  const std::int64_t n = job.x.numel, tiles = (job.length() + tile - 1) / tile;
  const RadixMemory memory{{room(n, key_dtype), room(n, key_dtype)},
                           {room(n, DType::Int32), room(n, DType::Int32)},
                           room(job.rows() * digits * tiles, DType::Int32),
                           room(job.rows() * digits, DType::Int32)};
  make_keys(job, *memory.keys[0]);
  const int sorted = radix_sort(job, memory);
  gather(job, *memory.keys[sorted], *memory.positions[sorted]);
}

void sort_rows(const SortJob& job) { job.length() <= block_slots ? sort_in_blocks(job) : sort_by_digits(job); }

/// Radix selection, in which a block reads a row several times: for many or short rows, faster than sorting them.
bool is_selected(const SortJob& job) {
  return job.length() > block_slots && job.first <= job.length() / 4 && (job.rows() >= 8 || job.length() <= 1 << 15);
}

/// The first ones, in order of position, or the requested one.
void select(const SortJob& job) {
  const std::uint64_t words[] = {
      address(*job.values), address(job.indices),
      address(job.x),       job.flip,
      word(job.length()),   word(job.first),
      job.statistic,        word(job.statistic == first_ones ? job.first - 1 : job.position)};
  const runtime::BufferAccess uses[] = {use_of(job.values, true), use_of(&job.indices, true), use_of(&job.x, false)};
  kernel(Step::Select, job.x.dtype).launch(job.x.device, job.rows(), words, 3, uses);
}

void select_and_sort(const SortJob& job) {
  const TensorRef values = runtime::empty(job.indices.shape, job.x.dtype, job.x.device);
  const TensorRef origins = runtime::empty(job.indices.shape, DType::Int64, job.x.device);
  select({job.x, values.get(), *origins, nullptr, job.first, job.flip});
  sort_rows({*values, job.values, job.indices, origins.get(), job.first, job.flip});
}

void check_length(const TensorImpl& x) {
  if (x.shape[-1] <= std::numeric_limits<std::uint32_t>::max()) return;
  throw Error(fmt::format("a GPU can only sort rows of fewer than 2^32 elements, but they have {} in {}", x.shape[-1],
                          runtime::describe(x)));
}

}  // namespace

void sort(const TensorImpl& x, bool descending, const ValuesAndIndices& to) {
  check_length(x);
  const SortJob job{x,       to.values.get(),       *to.indices,
                    nullptr, to.indices->shape[-1], descending ? ~std::uint64_t{0} : 0};
  return job.values && is_selected(job) ? select_and_sort(job) : sort_rows(job);
}

void pick(const TensorImpl& x, cpu::Statistic statistic, std::int64_t position, const ValuesAndIndices& to) {
  check_length(x);
  const SortJob job{x, to.values.get(), *to.indices, nullptr, 1, 0, static_cast<std::uint64_t>(statistic), position};
  return is_selected(job) ? select(job) : sort_rows(job);
}

}  // namespace sinter::inline v1::jit::cuda
