// Ranges for profilers that inject a library for NVTX, as Nsight Systems does: NVTX_INJECTION64_PATH names it. What the
// header of NVTX 3 does for a program is little, so no header of NVIDIA's is needed; a test holds these types against
// it.
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
  std::int32_t message_type = 1;  // ASCII, of which UTF-8 is taken
  const char* message = nullptr;
};
static_assert(sizeof(EventAttributes) == 48);

struct DomainRegistration;
using Domain = DomainRegistration*;
using AnyFunction = void (*)();

// NvtxCallbackModule: functions without a domain, and with one.
inline constexpr int module_core = 1;
inline constexpr int module_core2 = 5;
/// Functions of each of these modules; number 0 is none.
inline constexpr std::size_t functions = 16;
// NvtxCallbackIdCore2.
inline constexpr std::size_t domain_range_push_ex = 4;
inline constexpr std::size_t domain_range_pop = 5;
inline constexpr std::size_t domain_name_category = 8;
inline constexpr std::size_t domain_create = 12;
// NvtxExportTableID.
inline constexpr std::uint32_t table_callbacks = 1;
inline constexpr std::uint32_t table_version = 3;

/// NvtxExportTableCallbacks: a tool asks for a module's functions and puts its own there.
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
/// InitializeInjectionNvtx2, which the library exports: 0 if it fails.
using Initialize = int (*)(FindTable);

/// A profiler that takes ranges, in the domain "sinter". Thread-safe.
class Tool {
 public:
  Tool(AnyFunction create, AnyFunction push, AnyFunction pop, AnyFunction name_category);
  /// A range of this thread's, named as the record.
  void push(const TraceRecord& record) const noexcept;
  void pop() const noexcept;

 private:
  int (*push_)(Domain, const EventAttributes*);
  int (*pop_)(Domain);
  Domain domain_;
};

/// Null where none injects itself. Opens the library when it is first called.
const Tool* tool() noexcept;

}  // namespace sinter::inline v1::runtime::nvtx
