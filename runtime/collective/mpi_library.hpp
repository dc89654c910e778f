// MPI, loaded at run time: Open MPI's ABI, whose few types are declared here.
#pragma once
#include <cstdint>
#include <string>

namespace sinter::inline v1::runtime::mpi {

using Comm = struct ompi_communicator_t*;
using Datatype = struct ompi_datatype_t*;
using Op = struct ompi_op_t*;
using Request = struct ompi_request_t*;
using Errhandler = struct ompi_errhandler_t*;
using UserFunction = void (*)(void* in, void* in_out, int* count, Datatype* type);

inline constexpr int success = 0;
inline constexpr int any_source = -1;
inline constexpr int thread_serialized = 2;
inline constexpr int max_text = 256;  // MPI_MAX_ERROR_STRING, MPI_MAX_LIBRARY_VERSION_STRING
inline void* const in_place = reinterpret_cast<void*>(1);
/// MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE.
inline void* const no_status = nullptr;

// The functions used: FUNCTION(name, argument types...).
#define SINTER_MPI_FUNCTIONS(FUNCTION)                                                                           \
  FUNCTION(MPI_Get_library_version, char*, int*)                                                                 \
  FUNCTION(MPI_Initialized, int*)                                                                                \
  FUNCTION(MPI_Finalized, int*)                                                                                  \
  FUNCTION(MPI_Init_thread, int*, char***, int, int*)                                                            \
  FUNCTION(MPI_Query_thread, int*)                                                                               \
  FUNCTION(MPI_Is_thread_main, int*)                                                                             \
  FUNCTION(MPI_Finalize)                                                                                         \
  FUNCTION(MPI_Error_string, int, char*, int*)                                                                   \
  FUNCTION(MPI_Comm_dup, Comm, Comm*)                                                                            \
  FUNCTION(MPI_Comm_rank, Comm, int*)                                                                            \
  FUNCTION(MPI_Comm_size, Comm, int*)                                                                            \
  FUNCTION(MPI_Comm_set_errhandler, Comm, Errhandler)                                                            \
  FUNCTION(MPI_Type_contiguous, int, Datatype, Datatype*)                                                        \
  FUNCTION(MPI_Type_commit, Datatype*)                                                                           \
  FUNCTION(MPI_Op_create, UserFunction, int, Op*)                                                                \
  FUNCTION(MPI_Test, Request*, int*, void*)                                                                      \
  FUNCTION(MPI_Testall, int, Request*, int*, void*)                                                              \
  FUNCTION(MPI_Iprobe, int, int, Comm, int*, void*)                                                              \
  FUNCTION(MPI_Cancel, Request*)                                                                                 \
  FUNCTION(MPI_Wait, Request*, void*)                                                                            \
  FUNCTION(MPI_Isend, const void*, int, Datatype, int, int, Comm, Request*)                                      \
  FUNCTION(MPI_Irecv, void*, int, Datatype, int, int, Comm, Request*)                                            \
  FUNCTION(MPI_Ibcast, void*, int, Datatype, int, Comm, Request*)                                                \
  FUNCTION(MPI_Iallgather, const void*, int, Datatype, void*, int, Datatype, Comm, Request*)                     \
  FUNCTION(MPI_Iallgatherv, const void*, int, Datatype, void*, const int*, const int*, Datatype, Comm, Request*) \
  FUNCTION(MPI_Iallreduce, const void*, void*, int, Datatype, Op, Comm, Request*)                                \
  FUNCTION(MPI_Ireduce, const void*, void*, int, Datatype, Op, int, Comm, Request*)                              \
  FUNCTION(MPI_Ireduce_scatter, const void*, void*, const int*, Datatype, Op, Comm, Request*)

/// The library's functions, with the standard's names, and its objects.
struct Library {
#define SINTER_MPI_MEMBER(name, ...) int (*name)(__VA_ARGS__) = nullptr;
  SINTER_MPI_FUNCTIONS(SINTER_MPI_MEMBER)
#undef SINTER_MPI_MEMBER
  Comm world = nullptr;
  Datatype byte = nullptr, int64 = nullptr;
  Op minimum = nullptr;
  Errhandler errors_return = nullptr;
  std::string path, version;
};

/// Loads `$SINTER_MPI`, else libmpi.so.40 or libmpi.so. Throws DeviceError, which mentions a library with another
/// implementation's ABI if it found one.
const Library& library();

/// "MPI_ERR_TRUNCATE: message truncated (15)".
std::string describe(const Library& library, int result);

}  // namespace sinter::inline v1::runtime::mpi
