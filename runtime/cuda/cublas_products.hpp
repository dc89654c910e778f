// Products of matrices on one GPU, by cuBLASLt.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include <sinter/runtime/matrix_product.hpp>
#include "cublas_library.hpp"

namespace sinter::inline v1::runtime::cublas {

/// The algorithm for products with given extents, layouts and alignments. Lives as long as its Products.
struct ProductPlan {
  Operation operation = nullptr;
  Layout a = nullptr, b = nullptr, c = nullptr, addend = nullptr;  // as cuBLAS sees them: transposed
  Algorithm algorithm{};
  std::size_t workspace = 0;  // bytes

  ProductPlan() = default;
  ProductPlan(const ProductPlan&) = delete;
  ProductPlan& operator=(const ProductPlan&) = delete;
  ~ProductPlan();
};

class Products {
 public:
  Products() = default;
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;
  ~Products();
  /// Frees everything. Plans that still exist then are leaked: at the end of a process the library may be unloaded.
  void close();

  /// The plan for such products, by cuBLASLt's heuristics; cached. It does not depend on measurements, so results do
  /// not vary from run to run. Thread-safe. The GPU's context must be current. Throws DeviceError, CudaError.
  std::shared_ptr<const ProductPlan> plan(const MatrixProduct& product);
  /// The plan if it is cached; else null.
  std::shared_ptr<const ProductPlan> known_plan(const MatrixProduct& product);

  /// Asynchronous. `workspace` has the plan's bytes. Throws CudaError.
  void multiply(const ProductPlan& plan, const MatrixProduct& product, void* workspace, driver::CUstream stream);

 private:
  using Key = std::array<std::int64_t, 18>;
  static Key key_of(const MatrixProduct& product);

  std::mutex mutex_;
  Handle handle_ = nullptr;
  std::map<Key, std::shared_ptr<const ProductPlan>> plans_;
};

}  // namespace sinter::inline v1::runtime::cublas
