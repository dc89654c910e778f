#include "cuda_scan.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

#include <runtime/fork.hpp>
#include "../cuda/expression.hpp"
#include "library_kernel.hpp"

namespace sinter::inline v1::embedded {
extern const std::string_view scan;
}

namespace sinter::inline v1::jit::cuda {
namespace {

using runtime::TensorImpl;
using runtime::TensorRef;

constexpr std::int64_t short_line = 64;    // a thread's work
constexpr std::int64_t many_lines = 4096;  // enough for one thread each, if their reads coalesce
constexpr std::int64_t few_lines = 256;    // long lines are split, so that more blocks have work
constexpr std::int64_t chunk_length = 1 << 14;

enum class Entry : std::uint8_t { Lines, Vectors, Totals, Serial };
constexpr const char* entry_suffixes[] = {"", "_vectors", "_totals", "_serial"};

/// Elements that a thread loads at once; a thread scans 8 of a tile.
constexpr int vector_width(DType dtype) noexcept {
  return static_cast<int>(std::min<std::size_t>(16 / size_of(dtype), 8));
}

std::string entry_function(Entry entry, DType dtype) {
  switch (entry) {
    case Entry::Lines: return "scan_lines<1>";
    case Entry::Vectors: return fmt::format("scan_lines<{}>", vector_width(dtype));
    case Entry::Totals: return "scan_totals";
    case Entry::Serial: return "scan_serially";
  }
  __builtin_unreachable();
}

/// Scan's, then Extreme's.
constexpr int operation_count = 5;
constexpr const char* names[operation_count] = {"cumsum", "cumprod", "logcumsumexp", "cummax", "cummin"};
constexpr int number_of(Scan what) noexcept { return static_cast<int>(what); }
constexpr int number_of(Extreme what) noexcept { return 3 + static_cast<int>(what); }
bool is_extreme(int operation) noexcept { return operation >= number_of(Extreme::Max); }

/// The accumulator's type, as in cpu::scan.
const char* state_type(DType dtype) noexcept {
  if (dtype == DType::Int64 || dtype == DType::UInt64) return "unsigned long long";
  return size_of(dtype) == 2 ? "float" : "double";
}

std::string operation_type(int operation, DType dtype) {
  constexpr const char* templates[] = {"Sum", "Product", "LogSumExp"};
  const std::string_view element = storage_type(dtype);
  if (is_extreme(operation)) {
    const bool max = operation == number_of(Extreme::Max);
    if (dtype == DType::Bool) return fmt::format("ExtremeOfBools<{}>", max);
    return fmt::format("Extreme<{}, {}, {}>", element,
                       info(dtype == DType::UInt64 ? dtype : compute_dtype(dtype)).cuda_name, max);
  }
  if (is_complex(dtype))
    return fmt::format("Complex{}<{}, {}>", templates[operation], element, info(real_of(dtype)).cuda_name);
  return fmt::format("{}<{}, {}>", templates[operation], element, state_type(dtype));
}

std::int64_t state_bytes(int operation, DType dtype) noexcept {
  return is_extreme(operation) || is_complex(dtype) ? 16 : 8;
}

const LibraryKernel& kernel(int operation, DType dtype, Entry entry) {
  using Kernels = std::array<runtime::NoDestructor<const LibraryKernel>, operation_count * dtype_count>;
  static constinit std::array<Kernels, std::size(entry_suffixes)> kernels;
  const auto kind = static_cast<std::size_t>(entry);
  const auto number = static_cast<std::size_t>(operation * dtype_count + static_cast<int>(dtype));
  return kernels[kind][number].get([&] {
    const std::string name = fmt::format("sinter_{}_{}{}", names[operation], sinter::name(dtype), entry_suffixes[kind]);
    return new LibraryKernel(
        name, std::string(embedded::scan) +
                  fmt::format("\nextern \"C\" __global__ void __launch_bounds__(256) {}(const __grid_constant__ "
                              "ScanParams<{}> p) {{\n  {}(p);\n}}\n",
                              name, operation_type(operation, dtype), entry_function(entry, dtype)));
  });
}

struct ScanJob {
  const TensorImpl &x, &to;
  const TensorImpl* indices;  // may be null
  cpu::Lines lines;
  int operation;

  std::int64_t count() const noexcept { return lines.outer * lines.inner; }
};

void launch(const ScanJob& job, Entry entry, std::int64_t blocks, const TensorImpl* totals, std::int64_t chunk,
            bool reduces) {
  const std::int64_t chunks = (job.lines.length + chunk - 1) / chunk;
  const auto word = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
  const std::uint64_t words[] = {address(job.to),
                                 job.indices ? address(*job.indices) : 0,
                                 totals ? address(*totals) : 0,
                                 address(job.x),
                                 word(job.count()),
                                 word(job.lines.length),
                                 word(job.lines.inner),
                                 word(chunk),
                                 word(chunks),
                                 word(reduces)};
  const runtime::BufferAccess uses[] = {{job.to.buffer.get(), true},
                                        {job.indices ? job.indices->buffer.get() : nullptr, true},
                                        {totals ? totals->buffer.get() : nullptr, true},
                                        {job.x.buffer.get(), false}};
  kernel(job.operation, job.x.dtype, entry).launch(job.x.device, blocks, words, 4, uses);
}

/// Whether the elements of each line are adjacent and aligned to vectors.
bool has_vectors(const ScanJob& job) noexcept {
  const auto width = static_cast<std::uint64_t>(vector_width(job.x.dtype)), bytes = width * size_of(job.x.dtype);
  const std::uint64_t addresses = address(job.x) | address(job.to);
  return width > 1 && job.lines.inner == 1 && static_cast<std::uint64_t>(job.lines.length) % width == 0 &&
         addresses % bytes == 0 && (!job.indices || address(*job.indices) % (width * size_of(DType::Int64)) == 0);
}

void run(const ScanJob& job) {
  const std::int64_t lines = job.count(), length = job.lines.length;
  constexpr std::int64_t threads = LibraryKernel::block_threads;
  if (length <= short_line || (job.lines.inner >= 32 && lines >= many_lines))
    return launch(job, Entry::Serial, (lines + threads - 1) / threads, nullptr, length, false);
  const Entry entry = has_vectors(job) ? Entry::Vectors : Entry::Lines;
  if (lines >= few_lines || length <= 2 * chunk_length) return launch(job, entry, lines, nullptr, length, false);
  const std::int64_t chunks = (length + chunk_length - 1) / chunk_length;
  const std::int64_t bytes = lines * chunks * state_bytes(job.operation, job.x.dtype);
  const TensorRef totals = runtime::empty(Shape(bytes), DType::UInt8, job.x.device);
  launch(job, entry, lines * chunks, totals.get(), chunk_length, true);
  launch(job, Entry::Totals, lines, totals.get(), chunk_length, false);
  launch(job, entry, lines * chunks, totals.get(), chunk_length, false);
}

}  // namespace

void scan(const TensorImpl& x, const cpu::Lines& lines, Scan what, const TensorImpl& to) {
  run({x, to, nullptr, lines, number_of(what)});
}

void scan(const TensorImpl& x, const cpu::Lines& lines, Extreme what, const ValuesAndIndices& to) {
  run({x, *to.values, to.indices.get(), lines, number_of(what)});
}

}  // namespace sinter::inline v1::jit::cuda
