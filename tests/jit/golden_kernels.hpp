// The kernels whose texts are golden files, and the class of each.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include <jit/plan/class_key.hpp>
#include <jit/plan/plan.hpp>
#include <sinter/jit/device_function.hpp>
#include "programs.hpp"
#include "row_kernels.hpp"

namespace sinter::testing {

/// The only kernel of a program.
struct Kernelled {
  jit::Plan plan;
  jit::KernelTraits traits;
  explicit Kernelled(const Written& p) : Kernelled(p.record()) {}
  explicit Kernelled(const Graph& g) : plan(jit::schedule(jit::simplify(g))), traits(kernel()) {}
  const jit::Kernel& kernel() const { return plan.kernels[0]; }
};

/// The class for (rows, columns) that lie by rows or by columns. Nothing is read or written there.
inline jit::KernelClass row_class(const Kernel& kernel, std::int64_t rows, std::int64_t columns,
                                  bool by_columns = false, bool aliased = false) {
  const jit::KernelTraits traits(kernel);
  const Shape domain{rows, columns};
  std::vector<TensorRef> tensors;
  std::vector<TensorImpl*> pointers;
  for (std::size_t k = 0; k < traits.operands.size(); ++k) {
    const bool is_row = kernel.rows->axis_mapping[k] != AxisMapping::Domain;
    TensorRef t = runtime::iota_tensor(is_row ? Shape{rows} : by_columns ? Shape{columns, rows} : domain, Device());
    t->dtype = traits.operands[k].dtype;
    if (!is_row && by_columns) t = transposed(t);
    t->data = reinterpret_cast<std::byte*>(std::uintptr_t{4096});
    tensors.push_back(t);
    pointers.push_back(tensors.back().get());
  }
  const jit::LoopNest nest = row_nest(kernel, pointers, domain);
  return jit::classify(traits, nest, aliased).decode(traits.operands.size());
}

struct Softmax : RowKernel {
  Softmax() : RowKernel("softmax_f32") { write_softmax(*this, DType::Float32, DType::Float32); }
};
struct Sum : RowKernel {
  Sum() : RowKernel("sum_f32") { write_sum(*this, DType::Float32); }
};

struct GoldenKernel {
  std::string name;
  jit::Kernel kernel;
  jit::KernelClass kernel_class;

  template <class Print>
  std::string text(Print print) const {
    return print(kernel, jit::KernelTraits(kernel), kernel_class);
  }
};

/// (x + s).exp() * y.
inline Written golden_example() {
  Written p;
  p.leaf(DType::Float32).scalar(Category::Int).op(Op::add).op(Op::exp).leaf(DType::Float32);
  return p.op(Op::mul);
}

inline Written golden_where() {
  Written p;
  p.leaf(DType::Bool).leaf(DType::Int64).leaf(DType::Int32).op(Op::add).constant(7).op(Op::floor_divide);
  p.leaf(DType::Float64);
  return p.op(Op::where);
}

/// Rows of a matrix at indices, and a value beside them: offsets are of 64 bits whatever the nest's are.
inline Written golden_load() {
  Written p;
  p.array(DType::Float32).leaf(DType::Int32).cast(DType::Int64).scalar(Category::Int).scalar(Category::Int);
  return p.op(Op::axis_offset).leaf(DType::Int64).op(Op::add).op(Op::load).leaf(DType::Float32).op(Op::mul);
}

inline Written golden_constants() {
  using test::to_bits;
  Written p;
  p.leaf(DType::Float32).constant(DType::Float64, to_bits(0.1)).op(Op::mul);
  p.constant(DType::Float64, to_bits(std::nan(""))).op(Op::fmax);
  return p.constant(DType::Float64, to_bits(-std::numeric_limits<double>::infinity())).op(Op::fmin);
}

/// A device function.
inline Graph golden_function() {
  const jit::FunctionId larger =
      jit::define_function({"golden",
                            DType::Float32,
                            {{"x", DType::Float32}, {"y", DType::Float32}},
                            "const int64_t n = 2;\n  return x > y && x < INFINITY ? x * y : x - n * y;",
                            {}});
  Graph g;
  const std::array operands{g.leaf(DType::Float32, 0), g.leaf(DType::Float32, 1)};
  const Operand called = g.call(larger, operands);
  g.output(g.apply(Op::square, {&called, 1}));
  return g;
}

/// Kernels that do not reduce.
inline std::vector<GoldenKernel> golden_kernels() {
  using enum jit::AccessPattern;
  std::vector<GoldenKernel> out;
  const auto add = [&](const char* name, const auto& program, std::optional<jit::KernelClass> c) {
    const Kernelled k(program);
    out.push_back({name, k.kernel(), c ? *c : jit::generic_class(k.traits)});
  };
  add("example_contiguous", golden_example(), {{1, 4, false, false, {Contiguous, Contiguous, Contiguous}}});
  add("example_rows", golden_example(), {{2, 4, false, true, {Contiguous, InnerContiguous, InnerBroadcast}}});
  add("where_generic", golden_where(), {});
  add("load_rows", golden_load(),
      {{2, 4, false, true, {Contiguous, InnerBroadcast, InnerContiguous, Uniform, Contiguous}}});
  add("function", golden_function(), {{1, 4, false, false, {Contiguous, Contiguous, Contiguous}}});
  add("constants", golden_constants(), {{1, 4, false, false, {Contiguous, Contiguous}}});
  return out;
}

/// Rows that are in registers, read by every pass, held in shared memory; columns; rows that blocks share.
inline std::vector<GoldenKernel> golden_row_kernels() {
  const Kernel softmax = Softmax().done(), sum = Sum().done();
  return {{"row_softmax_in_registers", softmax, row_class(softmax, 4096, 1024)},
          {"row_softmax_long", softmax, row_class(softmax, 4096, 100000)},
          {"row_softmax_cached", softmax, row_class(softmax, 4096, 40000)},
          {"row_sum_columns", sum, row_class(sum, 1 << 20, 1000, true)},
          {"row_sum_split", sum, row_class(sum, 1, (1 << 24) + 1)}};
}

}  // namespace sinter::testing
