#include "cublas_products.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <complex>
#include <limits>
#include <utility>

#include <sinter/runtime/error.hpp>

namespace sinter::inline v1::runtime::cublas {
namespace {

constexpr std::size_t max_plans = 1024;
/// cuBLAS's recommendation for the largest GPUs; algorithms that need less use less.
constexpr std::size_t max_workspace = std::size_t{32} << 20;
constexpr std::int64_t widest_alignment = 256;

/// The dtype of elements, of alpha and beta, and of accumulation.
struct Types {
  int elements, scale, compute;
};
Types types_of(const MatrixProduct& p) {
  const int single = p.tensor_float32 ? compute_32f_fast_tf32 : compute_32f;
  switch (p.dtype) {
    case DType::Float16: return {real_16f, real_32f, compute_32f};
    case DType::BFloat16: return {real_16bf, real_32f, compute_32f};
    case DType::Float32: return {real_32f, real_32f, single};
    case DType::Float64: return {real_64f, real_64f, compute_64f};
    case DType::Complex64: return {complex_32f, complex_32f, single};
    case DType::Complex128: return {complex_64f, complex_64f, compute_64f};
    default:
      throw DTypeError(fmt::format("matrices of {} cannot be multiplied: convert them to float32", name(p.dtype)));
  }
}

std::string in_words(const MatrixProduct& p) {
  return fmt::format("{} x ({} x {}) ({} x {}) of {}", p.batch, p.rows, p.inner, p.inner, p.columns, name(p.dtype));
}

void check(const char* call, Status status, const MatrixProduct& p) {
  if (status != success)
    throw CudaError(fmt::format("CUDA error: {} failed: {}, for the matrix product {}", call, cublas::describe(status),
                                in_words(p)));
}

std::int64_t alignment_of(const Matrix& m) {
  const auto address = reinterpret_cast<std::uintptr_t>(m.data);
  return address == 0 ? widest_alignment
                      : std::min<std::int64_t>(widest_alignment, std::int64_t{1} << std::countr_zero(address));
}

/// Without an addend, the matrix that cuBLAS adds 0 times.
const Matrix& addend_of(const MatrixProduct& p) { return p.addend.data ? p.addend : p.c; }

/// cuBLAS's order is column-major, so a row-major matrix is a transposed one with swapped extents.
void make_layout(Layout& layout, const Matrix& m, std::int64_t rows, std::int64_t columns, const MatrixProduct& p) {
  const Library& d = library();
  const auto lines = static_cast<std::uint64_t>(m.transposed ? columns : rows),
             length = static_cast<std::uint64_t>(m.transposed ? rows : columns);
  check("cublasLtMatrixLayoutCreate",
        d.cublasLtMatrixLayoutCreate(&layout, types_of(p).elements, length, lines, m.leading), p);
  const auto count = static_cast<std::int32_t>(p.batch);
  check("cublasLtMatrixLayoutSetAttribute",
        d.cublasLtMatrixLayoutSetAttribute(layout, layout_batch_count, &count, sizeof count), p);
  check("cublasLtMatrixLayoutSetAttribute",
        d.cublasLtMatrixLayoutSetAttribute(layout, layout_batch_step, &m.step, sizeof m.step), p);
}

class Preferences {
 public:
  explicit Preferences(const MatrixProduct& p) : p_(p) {
    check("cublasLtMatmulPreferenceCreate", library().cublasLtMatmulPreferenceCreate(&made_), p);
  }
  Preferences(const Preferences&) = delete;
  Preferences& operator=(const Preferences&) = delete;
  ~Preferences() { library().cublasLtMatmulPreferenceDestroy(made_); }
  template <class T>
  void set(int attribute, T value) {
    check("cublasLtMatmulPreferenceSetAttribute",
          library().cublasLtMatmulPreferenceSetAttribute(made_, attribute, &value, sizeof value), p_);
  }
  Preference get() const noexcept { return made_; }

 private:
  const MatrixProduct& p_;
  Preference made_ = nullptr;
};

void choose_algorithm(Handle handle, ProductPlan& plan, const MatrixProduct& p) {
  Preferences preferences(p);
  preferences.set(preference_workspace, static_cast<std::uint64_t>(max_workspace));
  preferences.set(preference_reductions, reduce_in_compute_type);  // partial sums are not rounded to 16 bits
  preferences.set(preference_alignment_a, static_cast<std::uint32_t>(alignment_of(p.b)));
  preferences.set(preference_alignment_b, static_cast<std::uint32_t>(alignment_of(p.a)));
  preferences.set(preference_alignment_c, static_cast<std::uint32_t>(alignment_of(addend_of(p))));
  preferences.set(preference_alignment_d, static_cast<std::uint32_t>(alignment_of(p.c)));
  Heuristic best{};
  int found = 0;
  check("cublasLtMatmulAlgoGetHeuristic",
        library().cublasLtMatmulAlgoGetHeuristic(handle, plan.operation, plan.b, plan.a, plan.addend, plan.c,
                                                 preferences.get(), 1, &best, &found),
        p);
  check("cublasLtMatmulAlgoGetHeuristic", found == 0 ? not_supported : best.state, p);
  plan.algorithm = best.algorithm;
  plan.workspace = best.workspace;
}

std::shared_ptr<const ProductPlan> make_plan(Handle handle, const MatrixProduct& p) {
  const Library& d = library();
  if (p.batch > std::numeric_limits<std::int32_t>::max())
    throw ShapeError(fmt::format("cuBLAS supports batches of up to 2^31 - 1 matrices: {}; multiply slices of the batch",
                                 in_words(p)));
  auto plan = std::make_shared<ProductPlan>();
  const Types types = types_of(p);
  check("cublasLtMatmulDescCreate", d.cublasLtMatmulDescCreate(&plan->operation, types.compute, types.scale), p);
  const auto transpose = [&](int attribute, const Matrix& m) {
    const std::int32_t how = m.transposed ? transposed : as_it_is;
    check("cublasLtMatmulDescSetAttribute",
          d.cublasLtMatmulDescSetAttribute(plan->operation, attribute, &how, sizeof how), p);
  };
  transpose(operation_transpose_a, p.b);  // c' = b' a'
  transpose(operation_transpose_b, p.a);
  make_layout(plan->a, p.a, p.rows, p.inner, p);
  make_layout(plan->b, p.b, p.inner, p.columns, p);
  make_layout(plan->c, p.c, p.rows, p.columns, p);
  make_layout(plan->addend, addend_of(p), p.rows, p.columns, p);
  choose_algorithm(handle, *plan, p);
  return plan;
}

}  // namespace

ProductPlan::~ProductPlan() {
  const Library& d = library();
  for (const Layout layout : {a, b, c, addend})
    if (layout) d.cublasLtMatrixLayoutDestroy(layout);
  if (operation) d.cublasLtMatmulDescDestroy(operation);
}

Products::~Products() {
  for (auto& [key, plan] : plans_) new std::shared_ptr(std::move(plan));  // left by close(): the library may be gone
}

void Products::close() {
  plans_.clear();
  if (handle_) library().cublasLtDestroy(std::exchange(handle_, nullptr));
}

Products::Key Products::key_of(const MatrixProduct& p) {
  Key key{static_cast<std::int64_t>(p.dtype), p.tensor_float32, p.rows, p.columns, p.inner, p.batch};
  std::size_t next = 6;
  for (const Matrix* m : {&p.a, &p.b, &p.c, &addend_of(p)})
    for (const std::int64_t part : {m->leading, m->transposed ? -1 - m->step : m->step, alignment_of(*m)})
      key[next++] = part;
  return key;
}

std::shared_ptr<const ProductPlan> Products::known_plan(const MatrixProduct& p) {
  const std::lock_guard lock(mutex_);
  const auto known = plans_.find(key_of(p));
  return known == plans_.end() ? nullptr : known->second;
}

std::shared_ptr<const ProductPlan> Products::plan(const MatrixProduct& p) {
  const Key key = key_of(p);
  const std::lock_guard lock(mutex_);
  if (const auto known = plans_.find(key); known != plans_.end()) return known->second;
  if (!handle_) check("cublasLtCreate", library().cublasLtCreate(&handle_), p);
  std::shared_ptr<const ProductPlan> made = make_plan(handle_, p);
  if (plans_.size() >= max_plans) plans_.clear();
  plans_.emplace(key, made);
  return made;
}

void Products::multiply(const ProductPlan& plan, const MatrixProduct& p, void* workspace, driver::CUstream stream) {
  // Typed by the scale type; a complex number begins with its real part.
  const double beta = p.addend.data ? p.beta : 0;
  const std::complex<double> wide[] = {p.alpha, beta};
  const std::complex<float> narrow[] = {static_cast<float>(p.alpha), static_cast<float>(beta)};
  const bool is_wide = p.dtype == DType::Float64 || p.dtype == DType::Complex128;
  const auto factor = [&](int i) { return is_wide ? static_cast<const void*>(wide + i) : narrow + i; };
  const Matrix& added = addend_of(p);
  const bool in_place = added.data == p.c.data;  // then cuBLAS requires the same layout for both
  check("cublasLtMatmul",
        library().cublasLtMatmul(handle_, plan.operation, factor(0), p.b.data, plan.b, p.a.data, plan.a, factor(1),
                                 added.data, in_place ? plan.c : plan.addend, p.c.data, plan.c, &plan.algorithm,
                                 workspace, plan.workspace, stream),
        p);
}

}  // namespace sinter::inline v1::runtime::cublas
