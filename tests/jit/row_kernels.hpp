// Handwritten kernels that reduce, and tensors to run them on.
#pragma once
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <jit/plan/nest.hpp>
#include <jit/plan/plan.hpp>
#include <jit/plan/row_scheme.hpp>
#include <jit/run/executable.hpp>
#include <sinter/jit/graph.hpp>
#include "device_arrays.hpp"
#include "reference.hpp"

namespace sinter::testing {

using jit::AxisMapping;
using jit::Graph;
using jit::Kernel;
using jit::Operand;

/// A kernel over (rows, columns), or any domain, that reduces the last axis or the given ones.
class RowKernel {
 public:
  explicit RowKernel(std::string name, std::uint8_t axes = 1) {
    kernel_.name = "sinter_" + std::move(name);
    kernel_.rows.emplace();
    kernel_.rows->axes = axes;
  }

  Graph& graph() { return kernel_.graph; }
  Operand leaf(DType t, AxisMapping axis_mapping = AxisMapping::Domain) {
    return kernel_.graph.leaf(t, input(axis_mapping));
  }
  Operand iota() { return kernel_.graph.iota(input(AxisMapping::Domain)); }
  Operand array(DType t) {
    const std::uint32_t n = input(AxisMapping::Domain);
    arrays_.push_back(n);
    kernel_.inputs.back().kind = jit::Slot::Kind::Array;
    return kernel_.graph.array(t, n);
  }
  /// An operation or a reduction on operands that already have its compute dtype.
  Operand apply(Op op, std::initializer_list<Operand> operands) {
    return kernel_.graph.apply(op, std::vector<Operand>(operands));
  }
  Operand number(DType t, double value) {
    return kernel_.graph.constant(t, converted_bits(std::bit_cast<std::uint64_t>(value), DType::Float64, t));
  }
  Operand cast(Operand a, DType t) { return kernel_.graph.cast(a, t); }
  void output(Operand a, AxisMapping axis_mapping = AxisMapping::Domain) {
    kernel_.graph.output(a);
    outputs_.push_back(axis_mapping);
  }
  /// Call it once, when the kernel is complete.
  const Kernel& done() {
    for (std::uint32_t i = 0; i < outputs_.size(); ++i) kernel_.outputs.push_back({jit::Slot::Kind::Output, i});
    kernel_.rows->axis_mapping = outputs_;
    kernel_.rows->axis_mapping.insert(kernel_.rows->axis_mapping.end(), inputs_.begin(), inputs_.end());
    for (const std::uint32_t a : arrays_) kernel_.arrays.push_back(a + static_cast<std::uint32_t>(outputs_.size()));
    return kernel_;
  }

 private:
  std::uint32_t input(AxisMapping axis_mapping) {
    inputs_.push_back(axis_mapping);
    const auto n = static_cast<std::uint32_t>(kernel_.inputs.size());
    kernel_.inputs.push_back({jit::Slot::Kind::Leaf, n});
    return n;
  }

  Kernel kernel_;
  std::vector<AxisMapping> inputs_, outputs_;
  std::vector<std::uint32_t> arrays_;
};

/// exp(x - amax(x)) / sum(exp(x - amax(x))) in `compute`, from and to `stored`.
inline void write_softmax(RowKernel& k, DType stored, DType compute) {
  const Operand x = k.cast(k.leaf(stored), compute);
  const Operand e = k.apply(Op::exp, {k.apply(Op::sub, {x, k.apply(Op::amax, {x})})});
  k.output(k.cast(k.apply(Op::div, {e, k.apply(Op::sum, {e})}), stored));
}

/// (x - mean) * rsqrt(var + 1e-5) * w, where w has one element per column and the mean takes two passes.
inline void write_norm(RowKernel& k, DType stored, DType compute) {
  const Operand x = k.cast(k.leaf(stored), compute), w = k.cast(k.leaf(stored), compute);
  const Operand n = k.cast(k.apply(Op::count, {x}), compute);
  const Operand mean = k.apply(Op::div, {k.apply(Op::sum, {x}), n});
  const Operand d = k.apply(Op::sub, {x, mean});
  const Operand var = k.apply(Op::div, {k.apply(Op::sum, {k.apply(Op::mul, {d, d})}), n});
  const Operand scale = k.apply(Op::rsqrt, {k.apply(Op::add, {var, k.number(compute, 1e-5)})});
  k.output(k.cast(k.apply(Op::mul, {k.apply(Op::mul, {d, scale}), w}), stored));
  k.output(mean, AxisMapping::Rows);
}

/// sum(x) of each row.
inline void write_sum(RowKernel& k, DType t) { k.output(k.apply(Op::sum, {k.leaf(t)}), AxisMapping::Rows); }

inline jit::LoopNest row_nest(const Kernel& kernel, std::span<TensorImpl* const> operands, const Shape& domain) {
  jit::LoopNest nest;
  jit::make_row_nest(nest, operands, kernel, domain);
  return nest;
}

/// Runs the kernel over operands, outputs first.
inline void run_rows(const jit::Executable& e, const std::vector<TensorRef>& operands, const Shape& domain,
                     bool aliased = false, const jit::Scalar* scalars = nullptr) {
  std::vector<TensorImpl*> pointers;
  for (const TensorRef& t : operands) pointers.push_back(t.get());
  const jit::LoopNest nest = row_nest(e.kernel(), pointers, domain);
  static_cast<void>(e.run(nest, aliased, scalars, operands[0]->device));
}

/// During its lifetime, choose_rows returns the given scheme.
struct Overridden {
  explicit Overridden(const jit::RowOverride& w) { jit::override_rows(w); }
  ~Overridden() { jit::override_rows({}); }
};

/// A named scheme of each kind.
struct NamedOverride {
  const char* name;
  jit::RowOverride chosen;
  friend void PrintTo(const NamedOverride& w, std::ostream* out) { *out << w.name; }
};
inline const NamedOverride overrides[] = {
    {"OneThread", {{.team = 1, .in_registers = true}, 16, 32}},
    {"EightLanes", {{.team = 8, .in_registers = true}, 16, 32}},
    {"Warp", {{.team = 32, .in_registers = true}, 16, 32}},
    {"WarpOfScalars", {{.team = 32, .in_registers = true}, 1, 32}},
    {"WarpLoop", {{.team = 32, .vectors_per_thread = 4}, 16, 32}},
    {"Block", {{.block = 512, .in_registers = true}, 16, 32}},
    {"BlockLoop", {{.block = 256, .vectors_per_thread = 2}, 16, 32}},
    {"BlockCache", {{.block = 256, .vectors_per_thread = 2, .row_cache = true}, 16, 32}},
    {"BlockCacheScalars", {{.block = 64, .vectors_per_thread = 4, .row_cache = true}, 1, 32}},
    {"Split", {{.block = 128, .vectors_per_thread = 2, .split = true}, 16, 32}},
    {"SplitScalars", {{.block = 64, .vectors_per_thread = 4, .split = true}, 1, 32}},
    {"Columns", {{.row_per_element = true, .team = 8, .vectors_per_thread = 4}, 16, 32}},
    {"ColumnsKept", {{.row_per_element = true, .team = 16, .in_registers = true}, 2, 32}},
    {"ColumnsAlone", {{.row_per_element = true, .team = 1, .vectors_per_thread = 2}, 1, 32}},
    {"ColumnsSplit", {{.row_per_element = true, .team = 32, .vectors_per_thread = 2, .split = true}, 2, 32}},
};

template <class T>
TensorRef upload(const std::vector<T>& values, const Shape& shape, Device device) {
  std::vector<std::uint64_t> bits;
  for (const T v : values) bits.push_back(test::to_bits(v));
  return device_array(dtype_of<T>, shape, device, bits);
}
template <class T>
std::vector<T> download(const TensorRef& t) {
  std::vector<T> values(static_cast<std::size_t>(t->numel));
  if (!values.empty()) runtime::backend(t->device).download(values.data(), t->data, values.size() * sizeof(T));
  return values;
}

/// The same elements with the axes swapped: column-major in memory.
inline TensorRef transposed(const TensorRef& t) {
  return runtime::view(*t, Shape{t->shape[1], t->shape[0]}, Shape{t->strides[1], t->strides[0]});
}
/// A (rows, columns) tensor with these row-major values, row-major or column-major in memory.
template <class T>
TensorRef matrix(const std::vector<T>& values, std::int64_t rows, std::int64_t columns, bool by_columns,
                 Device device) {
  if (!by_columns) return upload(values, Shape{rows, columns}, device);
  std::vector<T> turned(values.size());
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c)
      turned[static_cast<std::size_t>(c * rows + r)] = values[static_cast<std::size_t>(r * columns + c)];
  return transposed(upload(turned, Shape{columns, rows}, device));
}
/// The row-major values of a tensor made by matrix().
template <class T>
std::vector<T> by_rows(const TensorRef& t) {
  std::vector<T> values;
  for (const std::uint64_t bits : values_of(*t)) {
    T v;
    std::memcpy(&v, &bits, sizeof v);
    values.push_back(v);
  }
  return values;
}

}  // namespace sinter::testing
