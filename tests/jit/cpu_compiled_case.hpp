// Programs whose loops are compiled, beside the same programs interpreted, bit by bit.
#pragma once
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <jit/cpu/layout.hpp>
#include <jit/cpu/steps.hpp>
#include "cpu_kernels.hpp"
#include "when_compiled.hpp"

namespace sinter::test {

inline bool is_nan(DType dtype, Bits bits) {
  switch (dtype) {
    case DType::Float32: return as<float>(bits) != as<float>(bits);
    case DType::Float64: return as<double>(bits) != as<double>(bits);
    case DType::Float16: return (bits & 0x7FFF) > 0x7C00;
    case DType::BFloat16: return (bits & 0x7FFF) > 0x7F80;
    default: return false;
  }
}

using Extents = std::vector<std::int64_t>;

/// A graph, its inputs, and one contiguous array for each of its outputs.
struct Case {
  Graph graph;
  std::vector<DType> inputs;
  std::vector<DType> outputs;
  std::vector<std::uint64_t> scalars;

  Operand leaf(DType dtype) {
    inputs.push_back(dtype);
    return graph.leaf(dtype, static_cast<std::uint32_t>(inputs.size() - 1));
  }
  void output(Operand o, DType dtype) {
    graph.output(o);
    outputs.push_back(dtype);
  }

  /// Evaluates n elements in both ways and compares. `uniform`: bit k is set if input k is one element for all.
  void check(std::int64_t n, std::uint32_t uniform, std::uint32_t seed) const {
    std::vector<Extents> strides;
    for (std::size_t k = 0; k < inputs.size(); ++k) strides.push_back({uniform >> k & 1 ? 0 : 1});
    SCOPED_TRACE(::testing::Message() << "uniform " << uniform);
    check({n}, {1}, strides, seed);
  }
  /// `strides`: of the outputs, and of each input.
  void check(const Extents& extents, const Extents& out_strides, const std::vector<Extents>& strides,
             std::uint32_t seed) const {
    std::mt19937 random(seed);
    std::vector<Array> in, interpreted, compiled;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      in.push_back(make_array(inputs[k], extents, strides[k], random() % 2 == 0));
      fill(in.back(), random);
    }
    for (const DType d : outputs) {
      interpreted.push_back(make_array(d, extents, out_strides, random() % 2 == 0));
      compiled.push_back(make_array(d, extents, out_strides, random() % 2 == 0));
    }
    run(interpreted, in, extents, CpuJit::Off);
    run(compiled, in, extents, CpuJit::Always);
    std::int64_t n = 1;
    for (const std::int64_t e : extents) n *= e;
    for (std::size_t k = 0; k < outputs.size(); ++k)
      for (std::int64_t i = 0; i < n; ++i) {
        const Bits a = element(interpreted[k], extents, i), b = element(compiled[k], extents, i);
        if (is_nan(outputs[k], a) && is_nan(outputs[k], b)) continue;
        ASSERT_EQ(a, b) << "output " << k << ", element " << i << " of " << n << ", seed " << seed;
      }
  }

 private:
  void run(const std::vector<Array>& out, const std::vector<Array>& in, const Extents& extents, CpuJit when) const {
    std::vector<const Array*> operands;
    for (const Array& a : out) operands.push_back(&a);
    for (const Array& a : in) operands.push_back(&a);
    const When chosen(when);
    std::unique_ptr<TileProgram>& program = programs_[{when, jit::cpu::isa()}];
    if (!program) program = std::make_unique<TileProgram>(graph, "test");
    const jit::LoopNest nest = make_nest(extents, operands, static_cast<int>(out.size()));
    program->run(nest, scalars);
    volatile long double one = 1;
    ASSERT_EQ(one + one, 2.0L) << "loops must not leave values in MMX registers, which are those of x87";
    if (when == CpuJit::Always && has_loops(nest)) {
      ASSERT_TRUE(program->is_compiled());
    }
  }
  /// The library may run one operation, beside work that is done for each row.
  bool has_loops(const jit::LoopNest& nest) const {
    for (const jit::cpu::ShortestRows rows : {jit::cpu::shortest_compiled_rows, jit::cpu::shortest_rows}) {
      jit::cpu::TileLayout layout;
      make_layout(layout, nest, rows);
      const std::vector<jit::cpu::Step> steps = make_steps(graph, layout.leaves).tiles;
      if (steps.size() == 1 && steps[0].chain == jit::cpu::none) return false;
      if (make_steps(graph, layout.leaves, jit::cpu::Grouping::Compiled).text.empty()) return false;
    }
    return true;
  }

  mutable std::map<std::pair<CpuJit, Isa>, std::unique_ptr<TileProgram>> programs_;
};

/// The instruction sets whose loops differ most: the narrowest, without masks, and the best.
template <class F>
void for_two_isas(F f) {
  EachIsa().run([&](Isa isa) {
    if (isa == static_cast<Isa>(0) || isa == jit::cpu::best_isa()) f(isa);
  });
}

}  // namespace sinter::test
