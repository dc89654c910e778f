// One event of a trace, as it is kept in memory until it is written.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace sinter::inline v1::runtime {

enum class TraceCategory : std::uint8_t {
  Plan,        // simplifying and scheduling a graph
  Compile,     // compiling a kernel, or finding it in the disk cache
  Load,        // loading a binary on a device
  Launch,      // issuing a kernel to a GPU
  Kernel,      // a kernel's run, on a stream or on the CPU
  Product,     // a matrix product, by cuBLAS or OpenBLAS
  Library,     // sorts, scans, selections, scatters
  Copy,        // between host and devices, or on a device
  Collective,  // a collective call of a mesh
  Wait,        // waiting for a GPU or for another thread
};
inline constexpr std::size_t trace_categories = 10;
/// "plan".
const char* name(TraceCategory category) noexcept;

/// An argument of an event: a word, or a number if the word is empty. Both strings live as long as the process.
struct TraceValue {
  std::string_view name;
  std::int64_t number = 0;
  std::string_view word = {};
};

/// The time since the machine started, in nanoseconds; the same clock in all processes.
std::int64_t trace_clock() noexcept;

struct TraceRecord {
  static constexpr std::size_t max_values = 6;

  TraceRecord(TraceCategory c, std::string_view text, std::initializer_list<TraceValue> values = {}) noexcept;
  /// Values beyond max_values are dropped.
  void add(TraceValue value) noexcept {
    if (value_count < max_values) values[value_count++] = value;
  }

  std::int64_t begin = 0, end = 0;  // by trace_clock()
  std::uint32_t track = 0;          // Recorder::new_track; 0: the thread's own
  TraceCategory category;
  std::uint8_t value_count = 0;
  std::array<char, 114> name;  // null-terminated; longer names are shortened in the middle
  std::array<TraceValue, max_values> values;
};

}  // namespace sinter::inline v1::runtime
