// NCCL, loaded at run time. Its few types are declared here, so no NCCL header is needed.
#pragma once
#include <cstddef>
#include <string>

namespace sinter::inline v1::runtime::nccl {

using Result = int;
using Comm = struct ncclComm*;
using Stream = struct CUstream_st*;

inline constexpr Result success = 0;
inline constexpr Result invalid_usage = 5;
inline constexpr Result in_progress = 7;

inline constexpr int int8 = 0, uint8 = 1, int32 = 2, uint32 = 3, int64 = 4, uint64 = 5, float32 = 7, float64 = 8;
inline constexpr int sum = 0, product = 1, maximum = 2, minimum = 3;

/// ncclUniqueId.
struct UniqueId {
  alignas(8) char bytes[128];
};

/// ncclConfig_t of NCCL 2.14, which later versions accept.
struct Config {
  std::size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = 21400;
  int blocking = 0;
};

// The functions used: FUNCTION(result type, name, argument types...).
#define SINTER_NCCL_FUNCTIONS(FUNCTION)                                                                     \
  FUNCTION(Result, ncclGetVersion, int*)                                                                    \
  FUNCTION(Result, ncclGetUniqueId, UniqueId*)                                                              \
  FUNCTION(Result, ncclCommInitRankConfig, Comm*, int, UniqueId, int, Config*)                              \
  FUNCTION(Result, ncclCommFinalize, Comm)                                                                  \
  FUNCTION(Result, ncclCommDestroy, Comm)                                                                   \
  FUNCTION(Result, ncclCommAbort, Comm)                                                                     \
  FUNCTION(Result, ncclCommGetAsyncError, Comm, Result*)                                                    \
  FUNCTION(const char*, ncclGetErrorString, Result)                                                         \
  FUNCTION(const char*, ncclGetLastError, Comm)                                                             \
  FUNCTION(Result, ncclGroupStart)                                                                          \
  FUNCTION(Result, ncclGroupEnd)                                                                            \
  FUNCTION(Result, ncclAllReduce, const void*, void*, std::size_t, int type, int op, Comm, Stream)          \
  FUNCTION(Result, ncclReduce, const void*, void*, std::size_t, int type, int op, int root, Comm, Stream)   \
  FUNCTION(Result, ncclReduceScatter, const void*, void*, std::size_t each, int type, int op, Comm, Stream) \
  FUNCTION(Result, ncclAllGather, const void*, void*, std::size_t each, int type, Comm, Stream)             \
  FUNCTION(Result, ncclBroadcast, const void*, void*, std::size_t, int type, int root, Comm, Stream)        \
  FUNCTION(Result, ncclSend, const void*, std::size_t, int type, int peer, Comm, Stream)                    \
  FUNCTION(Result, ncclRecv, void*, std::size_t, int type, int peer, Comm, Stream)

/// The library's functions, with the manual's names.
struct Library {
#define SINTER_NCCL_MEMBER(result, name, ...) result (*name)(__VA_ARGS__) = nullptr;
  SINTER_NCCL_FUNCTIONS(SINTER_NCCL_MEMBER)
#undef SINTER_NCCL_MEMBER
  std::string path;
};

/// The process's NCCL, loaded on first use: `$SINTER_NCCL`, a file or a folder, else found in the loader's path,
/// toolkits and Python's wheels. Null if there is none or it is older than 2.14. Throws DeviceError if SINTER_NCCL does
/// not name NCCL.
const Library* library();

/// "invalid usage (5): Duplicate GPU detected".
std::string describe(const Library& library, Result result, Comm comm = nullptr);

}  // namespace sinter::inline v1::runtime::nccl
