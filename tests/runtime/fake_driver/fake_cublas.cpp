#include "fake_cublas.hpp"

#include <complex>
#include <cstring>
#include <mutex>

#include <runtime/cuda/cublas_library.hpp>
#include <sinter/runtime/half.hpp>
#include "fake_cuda.hpp"

namespace sinter::inline v1::runtime::cublas {

struct LtContext {};
struct MatmulDesc {
  int compute, scale;
  std::int32_t transpose_a = 0, transpose_b = 0;
};
struct MatrixLayout {
  int type;
  std::uint64_t rows, columns;
  std::int64_t leading;
  std::int32_t count = 1;
  std::int64_t step = 0;
};
struct MatmulPreference {
  std::uint64_t workspace = 0;
};

}  // namespace sinter::inline v1::runtime::cublas

namespace {

using namespace sinter::runtime::cublas;
using Wide = std::complex<double>;

constexpr Status invalid_value = 7;

std::mutex mutex;
fake_cublas::Control& control() {
  static auto& made = *new fake_cublas::Control;
  return made;
}

Status enter(const char* name) {
  const std::lock_guard lock(mutex);
  fake_cublas::Control& c = control();
  ++c.calls[name];
  return c.fail_call == name ? c.fail_result : success;
}
void count(int change) {
  const std::lock_guard lock(mutex);
  control().objects += change;
}

#define ENTER() \
  if (const Status entered = enter(__func__)) return entered

template <class Object, class... A>
Status make(Object** to, A... members) {
  *to = new Object{members...};
  count(1);
  return success;
}
template <class Object>
Status destroy(Object* object) {
  delete object;
  count(-1);
  return success;
}
template <class T>
Status set(T& to, const void* value, std::size_t bytes) {
  if (bytes != sizeof to) return invalid_value;
  std::memcpy(&to, value, bytes);
  return success;
}

Wide read(const void* data, int type, std::int64_t i) {
  switch (type) {
    case real_16f: return static_cast<double>(static_cast<float>(static_cast<const sinter::half*>(data)[i]));
    case real_16bf: return static_cast<double>(static_cast<float>(static_cast<const sinter::bfloat16*>(data)[i]));
    case real_32f: return static_cast<double>(static_cast<const float*>(data)[i]);
    case real_64f: return static_cast<const double*>(data)[i];
    case complex_32f: return Wide(static_cast<const std::complex<float>*>(data)[i]);
    default: return static_cast<const Wide*>(data)[i];
  }
}
void write(void* data, int type, std::int64_t i, Wide v) {
  switch (type) {
    case real_16f: static_cast<sinter::half*>(data)[i] = sinter::half(static_cast<float>(v.real())); break;
    case real_16bf: static_cast<sinter::bfloat16*>(data)[i] = sinter::bfloat16(static_cast<float>(v.real())); break;
    case real_32f: static_cast<float*>(data)[i] = static_cast<float>(v.real()); break;
    case real_64f: static_cast<double*>(data)[i] = v.real(); break;
    case complex_32f: static_cast<std::complex<float>*>(data)[i] = std::complex<float>(v); break;
    default: static_cast<Wide*>(data)[i] = v;
  }
}
Wide scale(const void* number, int type) { return read(number, type, 0); }

/// Element (row, column) of what an operand is multiplied as.
Wide element(const void* data, const MatrixLayout& l, bool transposed, std::int64_t row, std::int64_t column,
             std::int64_t batch) {
  if (transposed) std::swap(row, column);
  return read(data, l.type, batch * l.step + column * l.leading + row);
}

struct Call {
  MatmulDesc operation;
  MatrixLayout a, b, c, d;
  const void *from_a, *from_b, *from_c;
  void* to;
  Wide alpha, beta;
  void run() const {
    const auto inner = static_cast<std::int64_t>(operation.transpose_a ? a.rows : a.columns);
    for (std::int64_t i = 0; i < d.count; ++i)
      for (std::int64_t column = 0; column < static_cast<std::int64_t>(d.columns); ++column)
        for (std::int64_t row = 0; row < static_cast<std::int64_t>(d.rows); ++row) {
          Wide sum = 0;
          for (std::int64_t k = 0; k < inner; ++k)
            sum += element(from_a, a, operation.transpose_a, row, k, i) *
                   element(from_b, b, operation.transpose_b, k, column, i);
          sum *= alpha;  // what is multiplied by 0 is not read
          if (beta != Wide(0)) sum += beta * element(from_c, c, false, row, column, i);
          write(to, d.type, i * d.step + column * d.leading + row, sum);
        }
  }
};

/// As the real one would refuse what does not go together.
bool go_together(const MatmulDesc& o, const MatrixLayout& a, const MatrixLayout& b, const MatrixLayout& c,
                 const MatrixLayout& d) {
  const auto rows = [](const MatrixLayout& l, bool transposed) { return transposed ? l.columns : l.rows; };
  const auto columns = [](const MatrixLayout& l, bool transposed) { return transposed ? l.rows : l.columns; };
  for (const MatrixLayout* l : {&a, &b, &c, &d})
    if (l->leading < static_cast<std::int64_t>(l->rows) || l->count != d.count || l->type != d.type) return false;
  return c.rows == d.rows && c.columns == d.columns && rows(a, o.transpose_a) == d.rows &&
         columns(b, o.transpose_b) == d.columns && columns(a, o.transpose_a) == rows(b, o.transpose_b);
}

}  // namespace

extern "C" {

fake_cublas::Control* fake_cublas_control() { return &control(); }

std::size_t cublasLtGetCudartVersion() { return control().cudart_version; }
Status cublasLtCreate(Handle* handle) {
  ENTER();
  return make(handle);
}
Status cublasLtDestroy(Handle handle) { return destroy(handle); }
Status cublasLtMatmulDescCreate(Operation* operation, int compute, int scale_type) {
  ENTER();
  control().compute_type = compute, control().scale_type = scale_type;
  return make(operation, compute, scale_type);
}
Status cublasLtMatmulDescDestroy(Operation operation) { return destroy(operation); }
Status cublasLtMatmulDescSetAttribute(Operation o, int attribute, const void* value, std::size_t bytes) {
  ENTER();
  if (attribute == operation_transpose_a) return set(o->transpose_a, value, bytes);
  if (attribute == operation_transpose_b) return set(o->transpose_b, value, bytes);
  return invalid_value;
}
Status cublasLtMatrixLayoutCreate(Layout* layout, int type, std::uint64_t rows, std::uint64_t columns,
                                  std::int64_t leading) {
  ENTER();
  return make(layout, type, rows, columns, leading);
}
Status cublasLtMatrixLayoutDestroy(Layout layout) { return destroy(layout); }
Status cublasLtMatrixLayoutSetAttribute(Layout l, int attribute, const void* value, std::size_t bytes) {
  ENTER();
  if (attribute == layout_batch_count) return set(l->count, value, bytes);
  if (attribute == layout_batch_step) return set(l->step, value, bytes);
  return invalid_value;
}
Status cublasLtMatmulPreferenceCreate(Preference* preference) {
  ENTER();
  return make(preference);
}
Status cublasLtMatmulPreferenceDestroy(Preference preference) { return destroy(preference); }
Status cublasLtMatmulPreferenceSetAttribute(Preference p, int attribute, const void* value, std::size_t bytes) {
  ENTER();
  if (attribute == preference_workspace) return set(p->workspace, value, bytes);
  std::uint32_t number = 0;
  if (const Status wrong = set(number, value, bytes)) return wrong;
  (attribute == preference_reductions ? control().reductions : control().alignments[attribute]) = number;
  return success;
}
Status cublasLtMatmulAlgoGetHeuristic(Handle, Operation o, Layout a, Layout b, Layout c, Layout d, Preference p,
                                      int requested, Heuristic* results, int* found) {
  ENTER();
  if (requested < 1 || !go_together(*o, *a, *b, *c, *d)) return invalid_value;
  control().element_type = d->type;
  if (d->type == real_16bf && fake_cuda_control()->capability < 80) return not_supported;
  *found = control().found;
  *results = {{}, std::min<std::size_t>(control().workspace, p->workspace), success, 1, {}};
  return success;
}
Status cublasLtMatmul(Handle handle, Operation o, const void* alpha, const void* a, Layout layout_a, const void* b,
                      Layout layout_b, const void* beta, const void* c, Layout layout_c, void* d, Layout layout_d,
                      const Algorithm* algorithm, void* workspace, std::size_t bytes,
                      sinter::runtime::driver::CUstream stream) {
  ENTER();
  if (!handle || !algorithm || !go_together(*o, *layout_a, *layout_b, *layout_c, *layout_d)) return invalid_value;
  if ((workspace == nullptr) != (bytes == 0)) return invalid_value;
  const Call call{
      *o, *layout_a, *layout_b, *layout_c, *layout_d, a, b, c, d, scale(alpha, o->scale), scale(beta, o->scale)};
  // What is in the workspace by then is this product's own.
  return fake_cuda::on_stream(stream, [call, workspace, bytes] {
    if (bytes) std::memset(workspace, 0xAB, bytes);
    call.run();
  });
}

}  // extern "C"
