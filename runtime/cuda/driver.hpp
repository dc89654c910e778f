// The CUDA driver, loaded at run time: one binary runs with and without it. Its few types are declared here, so no CUDA
// header is needed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace sinter::inline v1::runtime::driver {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
// Declared in this namespace, since Stream and Event are also names of public classes.
struct Context;
struct Stream;
struct Event;
struct Module;
struct Kernel;
struct MemoryPool;
struct Graph;
struct GraphNode;
struct UserObject;
using CUcontext = Context*;
using CUstream = Stream*;
using CUevent = Event*;
using CUmodule = Module*;
using CUfunction = Kernel*;
using CUmemoryPool = MemoryPool*;
using CUgraph = Graph*;
using CUgraphNode = GraphNode*;
using CUuserObject = UserObject*;
using CUhostFn = void (*)(void*);

/// CUmemAccessDesc.
struct MemoryAccess {
  int location_type;
  int location;
  int flags;
};

/// CUDA 12.1, for driver and NVRTC: kernels with many operands exceed older versions' 4096 bytes of parameters.
inline constexpr int oldest_version = 12010;

inline constexpr CUresult success = 0;
inline constexpr CUresult error_invalid_value = 1;
inline constexpr CUresult error_out_of_memory = 2;
inline constexpr CUresult error_not_initialized = 3;
// The device rejects the binary.
inline constexpr CUresult error_invalid_image = 200;
inline constexpr CUresult error_no_binary_for_gpu = 209;
inline constexpr CUresult error_invalid_ptx = 218;
inline constexpr CUresult error_unsupported_ptx = 222;
inline constexpr CUresult error_invalid_source = 300;
inline constexpr CUresult error_symbol_not_found = 302;
inline constexpr CUresult error_symbol_init_failed = 303;
inline constexpr CUresult error_not_found = 500;
// After these errors a context is lost, and a kernel before the failing call may be the cause.
inline constexpr CUresult error_ecc_uncorrectable = 214;
inline constexpr CUresult error_nvlink_uncorrectable = 220;
inline constexpr CUresult error_contained = 226;
inline constexpr CUresult error_illegal_address = 700;
inline constexpr CUresult error_launch_timeout = 702;
inline constexpr CUresult error_assert = 710;
inline constexpr CUresult error_hardware_stack_error = 714;
inline constexpr CUresult error_illegal_instruction = 715;
inline constexpr CUresult error_misaligned_address = 716;
inline constexpr CUresult error_invalid_address_space = 717;
inline constexpr CUresult error_invalid_pc = 718;
inline constexpr CUresult error_launch_failed = 719;
inline constexpr CUresult error_tensor_memory_leak = 721;
inline constexpr CUresult error_not_ready = 600;
// A call that a graph capture does not allow, in this thread or, depending on the capture's mode, in any thread.
inline constexpr CUresult first_capture_error = 900;
inline constexpr CUresult last_capture_error = 908;
inline constexpr int capture_status_none = 0;
inline constexpr int capture_status_active = 1;
inline constexpr int capture_mode_relaxed = 2;
inline constexpr unsigned user_object_no_destructor_sync = 1;
inline constexpr unsigned graph_user_object_move = 1;
inline constexpr unsigned host_portable = 1;
inline constexpr unsigned stream_non_blocking = 1;
inline constexpr unsigned event_default = 0;
inline constexpr unsigned event_disable_timing = 2;
inline constexpr unsigned host_memory_mapped = 2;
inline constexpr int attribute_clock = 13;  // kHz, of the multiprocessors
inline constexpr int attribute_multiprocessors = 16;
inline constexpr int attribute_memory_clock = 36;      // kHz
inline constexpr int attribute_memory_bus_width = 37;  // bits
inline constexpr int attribute_capability_major = 75;
inline constexpr int attribute_capability_minor = 76;
inline constexpr int attribute_shared_per_block = 97;  // bytes, static and dynamic, for kernels that opt in
inline constexpr int attribute_memory_pools = 115;
inline constexpr int location_device = 1;
inline constexpr int access_read_write = 3;
inline constexpr int function_static_shared = 1;
inline constexpr int function_max_dynamic_shared = 8;
inline constexpr int jit_error_log = 5;
inline constexpr int jit_error_log_size = 6;
/// The `extra` argument of cuLaunchKernel: parameters as one packed buffer.
inline void* const launch_end = nullptr;
inline void* const launch_buffer = reinterpret_cast<void*>(1);
inline void* const launch_buffer_size = reinterpret_cast<void*>(2);

// The functions used: REQUIRED or OPTIONAL (name, suffix of its current version, argument types...). An optional
// function is null if the driver lacks it.
#define SINTER_DRIVER_FUNCTIONS(REQUIRED, OPTIONAL)                                                                  \
  REQUIRED(cuInit, , unsigned)                                                                                       \
  REQUIRED(cuDriverGetVersion, , int*)                                                                               \
  REQUIRED(cuGetErrorName, , CUresult, const char**)                                                                 \
  REQUIRED(cuGetErrorString, , CUresult, const char**)                                                               \
  REQUIRED(cuDeviceGetCount, , int*)                                                                                 \
  REQUIRED(cuDeviceGet, , CUdevice*, int)                                                                            \
  REQUIRED(cuDeviceGetName, , char*, int, CUdevice)                                                                  \
  REQUIRED(cuDeviceGetAttribute, , int*, int, CUdevice)                                                              \
  REQUIRED(cuDevicePrimaryCtxRetain, , CUcontext*, CUdevice)                                                         \
  REQUIRED(cuDevicePrimaryCtxRelease, _v2, CUdevice)                                                                 \
  REQUIRED(cuCtxGetCurrent, , CUcontext*)                                                                            \
  REQUIRED(cuCtxSetCurrent, , CUcontext)                                                                             \
  REQUIRED(cuCtxPushCurrent, _v2, CUcontext)                                                                         \
  REQUIRED(cuCtxPopCurrent, _v2, CUcontext*)                                                                         \
  REQUIRED(cuStreamCreate, , CUstream*, unsigned)                                                                    \
  REQUIRED(cuStreamDestroy, _v2, CUstream)                                                                           \
  REQUIRED(cuStreamSynchronize, , CUstream)                                                                          \
  REQUIRED(cuStreamQuery, , CUstream)                                                                                \
  REQUIRED(cuStreamIsCapturing, , CUstream, int*)                                                                    \
  REQUIRED(cuStreamGetCaptureInfo, _v2, CUstream, int*, std::uint64_t*, CUgraph*, const CUgraphNode**, std::size_t*) \
  REQUIRED(cuUserObjectCreate, , CUuserObject*, void*, CUhostFn, unsigned, unsigned)                                 \
  REQUIRED(cuUserObjectRelease, , CUuserObject, unsigned)                                                            \
  REQUIRED(cuGraphRetainUserObject, , CUgraph, CUuserObject, unsigned, unsigned)                                     \
  REQUIRED(cuStreamWaitEvent, , CUstream, CUevent, unsigned)                                                         \
  REQUIRED(cuThreadExchangeStreamCaptureMode, , int*)                                                                \
  REQUIRED(cuEventCreate, , CUevent*, unsigned)                                                                      \
  REQUIRED(cuEventDestroy, _v2, CUevent)                                                                             \
  REQUIRED(cuEventRecord, , CUevent, CUstream)                                                                       \
  REQUIRED(cuEventSynchronize, , CUevent)                                                                            \
  REQUIRED(cuEventQuery, , CUevent)                                                                                  \
  REQUIRED(cuMemGetInfo, _v2, std::size_t*, std::size_t*)                                                            \
  REQUIRED(cuMemAlloc, _v2, CUdeviceptr*, std::size_t)                                                               \
  REQUIRED(cuMemFree, _v2, CUdeviceptr)                                                                              \
  REQUIRED(cuMemHostAlloc, , void**, std::size_t, unsigned)                                                          \
  REQUIRED(cuMemFreeHost, , void*)                                                                                   \
  REQUIRED(cuMemcpyHtoDAsync, _v2, CUdeviceptr, const void*, std::size_t, CUstream)                                  \
  REQUIRED(cuMemcpyDtoHAsync, _v2, void*, CUdeviceptr, std::size_t, CUstream)                                        \
  REQUIRED(cuMemcpyDtoDAsync, _v2, CUdeviceptr, CUdeviceptr, std::size_t, CUstream)                                  \
  REQUIRED(cuMemcpyPeerAsync, , CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, std::size_t, CUstream)               \
  REQUIRED(cuModuleLoadDataEx, , CUmodule*, const void*, unsigned, int*, void**)                                     \
  REQUIRED(cuModuleUnload, , CUmodule)                                                                               \
  REQUIRED(cuModuleGetFunction, , CUfunction*, CUmodule, const char*)                                                \
  REQUIRED(cuFuncGetAttribute, , int*, int, CUfunction)                                                              \
  REQUIRED(cuFuncSetAttribute, , CUfunction, int, int)                                                               \
  REQUIRED(cuLaunchKernel, , CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,       \
           CUstream, void**, void**)                                                                                 \
  REQUIRED(cuEventElapsedTime, , float*, CUevent, CUevent)                                                           \
  REQUIRED(cuDeviceCanAccessPeer, , int*, CUdevice, CUdevice)                                                        \
  REQUIRED(cuCtxEnablePeerAccess, , CUcontext, unsigned)                                                             \
  OPTIONAL(cuDeviceGetDefaultMemPool, , CUmemoryPool*, CUdevice)                                                     \
  OPTIONAL(cuMemPoolSetAccess, , CUmemoryPool, const MemoryAccess*, std::size_t)                                     \
  OPTIONAL(cuMemAllocAsync, , CUdeviceptr*, std::size_t, CUstream)                                                   \
  OPTIONAL(cuMemFreeAsync, , CUdeviceptr, CUstream)

/// The driver's functions, with the manual's names.
struct Driver {
#define SINTER_DRIVER_MEMBER(name, suffix, ...) CUresult (*name)(__VA_ARGS__) = nullptr;
  SINTER_DRIVER_FUNCTIONS(SINTER_DRIVER_MEMBER, SINTER_DRIVER_MEMBER)
#undef SINTER_DRIVER_MEMBER
};

/// The result of loading the driver, done once: `$SINTER_CUDA_DRIVER`, else libcuda.so.1.
struct Opened {
  Driver functions;
  int version = 0;       // CUDA version as 1000 * major + 10 * minor; 0 without a driver
  int devices = 0;       // GPUs that the driver reports
  std::string path;      // of the library
  unsigned process = 0;  // the generation() that initialized it: a forked child cannot use it
  std::string problem;   // why there are no devices
};

/// The driver's version, without initializing it. Throws only std::bad_alloc.
int version();
/// Loads and initializes the driver.
const Opened& opened();

/// "CUDA_ERROR_INVALID_VALUE (1): invalid argument".
std::string describe(const Driver& driver, CUresult result);

}  // namespace sinter::inline v1::runtime::driver
