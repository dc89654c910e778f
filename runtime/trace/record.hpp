// One event of a trace, as threads keep it until it is written.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace sinter::inline v1::runtime {

enum class TraceCategory : std::uint8_t {
  Plan,        // simplifying and scheduling a graph
  Compile,     // a kernel's text to a binary, or finding it on disk
  Load,        // a binary to a device
  Launch,      // handing a kernel to a GPU
  Kernel,      // a kernel's run, on a stream or on the CPU
  Product,     // of matrices, by cuBLAS or OpenBLAS
  Library,     // sorts, scans, selections, scatters
  Copy,        // between host and devices, on a device
  Collective,  // of a mesh
  Wait,        // for a GPU, or for another thread
};
inline constexpr std::size_t trace_categories = 10;
/// "plan".
const char* name(TraceCategory category) noexcept;

/// A number, or a word where there is one. Both texts live as long as the process.
struct TraceValue {
  std::string_view name;
  std::int64_t number = 0;
  std::string_view word = {};
};

/// The time since the machine started, in nanoseconds: of all processes alike.
std::int64_t trace_clock() noexcept;

struct TraceRecord {
  static constexpr std::size_t most_values = 6;

  TraceRecord(TraceCategory c, std::string_view text, std::initializer_list<TraceValue> values = {}) noexcept;
  /// Beyond most_values they are left out.
  void add(TraceValue value) noexcept {
    if (value_count < most_values) values[value_count++] = value;
  }

  std::int64_t begin = 0, end = 0;  // of trace_clock()
  std::uint32_t track = 0;          // Recorder::new_track; 0: the thread's own
  TraceCategory category;
  std::uint8_t value_count = 0;
  std::array<char, 114> name;  // with a 0 at its end; longer ones lose their middle
  std::array<TraceValue, most_values> values;
};

}  // namespace sinter::inline v1::runtime
