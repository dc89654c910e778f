// What a rank of a mesh computes: sums of two arrays, by a kernel each.
#pragma once
#include <vector>

#include <jit/run/compiled_graph.hpp>
#include <jit/run/runner.hpp>
#include <sinter/runtime/transfer.hpp>
#include "device_arrays.hpp"

namespace sinter::testing {

inline std::vector<float> floats(const TensorImpl& t) {
  std::vector<float> v(static_cast<std::size_t>(t.numel));
  runtime::download(v.data(), {t.buffer.get(), t.data}, v.size() * sizeof(float));
  return v;
}

/// Sets the outputs to the sums of the columns of ones (3, 2) and twos (5, 4): {3, 3} and {10, 10, 10, 10}.
inline void sum_columns(TensorRef (&outputs)[2], Device device, bool marks_outputs) {
  Graph g;
  for (std::uint32_t i = 0; i < 2; ++i) {
    const Operand x = g.leaf(f32, i);
    g.output(g.node(Op::sum, f32, {&x, 1}, jit::ReduceAxes{0b10, false}.bits()));
  }
  const TensorRef x = device_array(f32, {3, 2}, device, std::vector<std::uint64_t>(6, to_bits(1.f)));
  const TensorRef y = device_array(f32, {5, 4}, device, std::vector<std::uint64_t>(20, to_bits(2.f)));
  TensorImpl* const leaves[] = {x.get(), y.get()};
  jit::run(*jit::compiled_graph_for(std::move(g), false, false),
           {.leaves = leaves, .outputs = outputs, .device = device, .marks_outputs = marks_outputs});
}

}  // namespace sinter::testing
