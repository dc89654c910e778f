// NVTX ranges for profilers that inject a library, as Nsight Systems does; NVTX_INJECTION64_PATH names the library. The
// few types of NVTX 3 that this takes are declared here, so no NVIDIA header is needed; a test compares them with
// NVIDIA's.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "record.hpp"

namespace sinter::inline v1::runtime::nvtx {

inline constexpr std::uint32_t version = 3;

/// nvtxEventAttributes_t.
struct EventAttributes {
  std::uint16_t version = nvtx::version;
  std::uint16_t size = 48;
  std::uint32_t category = 0;
  std::int32_t color_type = 0;
  std::uint32_t color = 0;
  std::int32_t payload_type = 0;
  std::int32_t reserved = 0;
  std::uint64_t payload = 0;
  std::int32_t message_type = 1;  // ASCII; tools accept UTF-8
  const char* message = nullptr;
};
static_assert(sizeof(EventAttributes) == 48);

struct DomainRegistration;
using Domain = DomainRegistration*;
using AnyFunction = void (*)();

// NvtxCallbackModule: functions without a domain, and functions with one.
inline constexpr int module_core = 1;
inline constexpr int module_core2 = 5;
/// The size of each module's function table; entry 0 is unused.
inline constexpr std::size_t functions = 16;
// NvtxCallbackIdCore2.
inline constexpr std::size_t domain_range_push_ex = 4;
inline constexpr std::size_t domain_range_pop = 5;
inline constexpr std::size_t domain_name_category = 8;
inline constexpr std::size_t domain_create = 12;
// NvtxExportTableID.
inline constexpr std::uint32_t table_callbacks = 1;
inline constexpr std::uint32_t table_version = 3;

/// NvtxExportTableCallbacks: a tool requests a module's function table and fills it with its own functions.
struct CallbackTable {
  std::size_t size;
  int (*functions_of)(int module, AnyFunction*** functions, unsigned* bytes);
};
/// NvtxExportTableVersionInfo.
struct VersionTable {
  std::size_t size;
  std::uint32_t version;
  std::uint32_t reserved;
  void (*set_tool_version)(std::uint32_t);
};
using FindTable = const void* (*)(std::uint32_t table);
/// InitializeInjectionNvtx2, which the library exports. Returns 0 on failure.
using Initialize = int (*)(FindTable);

/// A profiler that records ranges, in the domain "sinter". Thread-safe.
class Tool {
 public:
  Tool(AnyFunction create, AnyFunction push, AnyFunction pop, AnyFunction name_category);
  /// Begins a range of this thread with the record's name.
  void push(const TraceRecord& record) const noexcept;
  void pop() const noexcept;

 private:
  int (*push_)(Domain, const EventAttributes*);
  int (*pop_)(Domain);
  Domain domain_;
};

/// Null if NVTX_INJECTION64_PATH names none that works. Loads the library on the first call.
const Tool* tool() noexcept;

}  // namespace sinter::inline v1::runtime::nvtx
