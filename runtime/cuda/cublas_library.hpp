// cuBLASLt, loaded at run time: a program without matrix products on a GPU runs without it. Its few types and constants
// are declared here, so no CUDA header is needed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "driver.hpp"

namespace sinter::inline v1::runtime::cublas {

using Status = int;
using Handle = struct LtContext*;
using Operation = struct MatmulDesc*;
using Layout = struct MatrixLayout*;
using Preference = struct MatmulPreference*;

struct Algorithm {
  std::uint64_t data[8];
};
/// cublasLtMatmulHeuristicResult_t.
struct Heuristic {
  Algorithm algorithm;
  std::size_t workspace;
  Status state;
  float waves;
  int reserved[4];
};

inline constexpr Status success = 0, not_supported = 15;
// cudaDataType.
inline constexpr int real_32f = 0, real_64f = 1, real_16f = 2, complex_32f = 4, complex_64f = 5, real_16bf = 14;
// cublasComputeType_t.
inline constexpr int compute_32f = 68, compute_64f = 70, compute_32f_fast_tf32 = 77;
// cublasOperation_t.
inline constexpr std::int32_t as_it_is = 0, transposed = 1;
// Attributes of operations, layouts and preferences.
inline constexpr int operation_transpose_a = 3, operation_transpose_b = 4;
inline constexpr int layout_batch_count = 5, layout_batch_step = 6;
inline constexpr int preference_workspace = 1, preference_reductions = 3;
inline constexpr std::uint32_t reduce_in_compute_type = 2;  // cublasLtReductionScheme_t
inline constexpr int preference_alignment_a = 5, preference_alignment_b = 6, preference_alignment_c = 7,
                     preference_alignment_d = 8;

// (name, argument types...). Matrices are in column-major order.
#define SINTER_CUBLAS_FUNCTIONS(F)                                                                                  \
  F(cublasLtCreate, Handle*)                                                                                        \
  F(cublasLtDestroy, Handle)                                                                                        \
  F(cublasLtMatmulDescCreate, Operation*, int compute_type, int scale_type)                                         \
  F(cublasLtMatmulDescDestroy, Operation)                                                                           \
  F(cublasLtMatmulDescSetAttribute, Operation, int attribute, const void* value, std::size_t bytes)                 \
  F(cublasLtMatrixLayoutCreate, Layout*, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t leading) \
  F(cublasLtMatrixLayoutDestroy, Layout)                                                                            \
  F(cublasLtMatrixLayoutSetAttribute, Layout, int attribute, const void* value, std::size_t bytes)                  \
  F(cublasLtMatmulPreferenceCreate, Preference*)                                                                    \
  F(cublasLtMatmulPreferenceDestroy, Preference)                                                                    \
  F(cublasLtMatmulPreferenceSetAttribute, Preference, int attribute, const void* value, std::size_t bytes)          \
  F(cublasLtMatmulAlgoGetHeuristic, Handle, Operation, Layout a, Layout b, Layout c, Layout d, Preference,          \
    int requested, Heuristic* results, int* found)                                                                  \
  F(cublasLtMatmul, Handle, Operation, const void* alpha, const void* a, Layout, const void* b, Layout,             \
    const void* beta, const void* c, Layout, void* d, Layout, const Algorithm*, void* workspace, std::size_t bytes, \
    driver::CUstream)

/// The library's functions, with the manual's names.
struct Library {
#define SINTER_CUBLAS_MEMBER(name, ...) Status (*name)(__VA_ARGS__) = nullptr;
  SINTER_CUBLAS_FUNCTIONS(SINTER_CUBLAS_MEMBER)
#undef SINTER_CUBLAS_MEMBER
  std::size_t (*cublasLtGetCudartVersion)() = nullptr;
};

/// The process's cuBLASLt, loaded on first use: `$SINTER_CUBLAS`, a file or a folder, else the newest that the driver
/// supports in the loader's path, toolkits and Python's wheels. Throws DeviceError listing the places searched.
const Library& library();

/// "CUBLAS_STATUS_NOT_SUPPORTED (15)".
std::string describe(Status status);

}  // namespace sinter::inline v1::runtime::cublas
