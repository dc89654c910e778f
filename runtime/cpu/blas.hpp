// OpenBLAS, loaded at run time: a program without matrix products runs without it and without its threads.
#pragma once
#include <string>
#include <string_view>

#include "vector_units.hpp"

namespace sinter::inline v1::runtime {

/// Constants of the C interface: CBLAS_ORDER, CBLAS_TRANSPOSE.
inline constexpr int blas_row_major = 101, blas_as_it_is = 111, blas_transposed = 112;

/// The functions used, with the names of the C interface. Integers have 32 bits.
struct Blas {
  void (*cblas_sgemm)(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float* a,
                      int lda, const float* b, int ldb, float beta, float* c, int ldc) = nullptr;
  void (*cblas_dgemm)(int order, int transpose_a, int transpose_b, int m, int n, int k, double alpha, const double* a,
                      int lda, const double* b, int ldb, double beta, double* c, int ldc) = nullptr;
  void (*cblas_cgemm)(int order, int transpose_a, int transpose_b, int m, int n, int k, const void* alpha,
                      const void* a, int lda, const void* b, int ldb, const void* beta, void* c, int ldc) = nullptr;
  void (*cblas_zgemm)(int order, int transpose_a, int transpose_b, int m, int n, int k, const void* alpha,
                      const void* a, int lda, const void* b, int ldb, const void* beta, void* c, int ldc) = nullptr;
  double unpacked = 0;  // number of multiplications up to which its real gemm does not pack operands
  void (*cblas_sgemv)(int order, int transpose, int m, int n, float alpha, const float* a, int lda, const float* x,
                      int incx, float beta, float* y, int incy) = nullptr;
  void (*cblas_dgemv)(int order, int transpose, int m, int n, double alpha, const double* a, int lda, const double* x,
                      int incx, double beta, double* y, int incy) = nullptr;
};

/// Surrounds each call. A fork, before which OpenBLAS ends its threads, waits until no thread is in a call. If the
/// address space is limited, only one thread calls at a time.
class InBlas {
 public:
  InBlas() noexcept;
  InBlas(const InBlas&) = delete;
  InBlas& operator=(const InBlas&) = delete;
  ~InBlas();

 private:
  bool is_alone_;
};

/// A message for when OpenBLAS does not recognize the processor and uses fewer vector units than it has; otherwise
/// empty. `core` is OpenBLAS's name for the processor.
std::string core_advice(std::string_view core, VectorUnits has);

/// The process's OpenBLAS, loaded on first use: `$SINTER_OPENBLAS`, else that of the wheel scipy-openblas32 in the
/// package folders, else libopenblas.so.0. Throws DeviceError listing the places searched and how to install it, and
/// OutOfMemory if a limit on the address space leaves too little for it.
const Blas& blas();

}  // namespace sinter::inline v1::runtime
