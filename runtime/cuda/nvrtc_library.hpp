// Finding NVRTC. Its few types are declared here, so no CUDA header is needed.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace sinter::inline v1::runtime {

using nvrtcResult = int;
using nvrtcProgram = struct NvrtcProgram*;

inline constexpr nvrtcResult nvrtc_success = 0;
inline constexpr nvrtcResult nvrtc_invalid_option = 5;

// REQUIRED or OPTIONAL (result, name, argument types...); older versions lack the optional ones.
#define SINTER_NVRTC_FUNCTIONS(REQUIRED, OPTIONAL)                                                            \
  REQUIRED(nvrtcResult, nvrtcVersion, int*, int*)                                                             \
  REQUIRED(const char*, nvrtcGetErrorString, nvrtcResult)                                                     \
  REQUIRED(nvrtcResult, nvrtcCreateProgram, nvrtcProgram*, const char*, const char*, int, const char* const*, \
           const char* const*)                                                                                \
  REQUIRED(nvrtcResult, nvrtcDestroyProgram, nvrtcProgram*)                                                   \
  REQUIRED(nvrtcResult, nvrtcCompileProgram, nvrtcProgram, int, const char* const*)                           \
  REQUIRED(nvrtcResult, nvrtcGetPTXSize, nvrtcProgram, std::size_t*)                                          \
  REQUIRED(nvrtcResult, nvrtcGetPTX, nvrtcProgram, char*)                                                     \
  REQUIRED(nvrtcResult, nvrtcGetCUBINSize, nvrtcProgram, std::size_t*)                                        \
  REQUIRED(nvrtcResult, nvrtcGetCUBIN, nvrtcProgram, char*)                                                   \
  REQUIRED(nvrtcResult, nvrtcGetProgramLogSize, nvrtcProgram, std::size_t*)                                   \
  REQUIRED(nvrtcResult, nvrtcGetProgramLog, nvrtcProgram, char*)                                              \
  OPTIONAL(nvrtcResult, nvrtcGetNumSupportedArchs, int*)                                                      \
  OPTIONAL(nvrtcResult, nvrtcGetSupportedArchs, int*)

struct Nvrtc {
#define SINTER_NVRTC_MEMBER(result, name, ...) result (*name)(__VA_ARGS__) = nullptr;
  SINTER_NVRTC_FUNCTIONS(SINTER_NVRTC_MEMBER, SINTER_NVRTC_MEMBER)
#undef SINTER_NVRTC_MEMBER
  int major = 0;
  int minor = 0;
  bool ptx_loads = true;           // the driver, if any, is not older than this NVRTC
  std::vector<int> architectures;  // supported ones, ascending: 75, 80, ...; empty if NVRTC does not report them
};

/// Candidates for NVRTC, best first: names for the loader's own search, then absolute paths of existing files.
/// `$SINTER_NVRTC`, a file or a folder, replaces the list.
std::vector<std::string> nvrtc_candidates();

/// Loads the first candidate of version 12.1 or later that is not newer than the driver, else the first that loads.
/// `driver` is 1000 * major + 10 * minor, 0 for any. Throws DeviceError listing the places searched.
Nvrtc open_nvrtc(const std::vector<std::string>& candidates, int driver);

/// The process's NVRTC, loaded on first use. Throws DeviceError.
const Nvrtc& nvrtc();

}  // namespace sinter::inline v1::runtime
