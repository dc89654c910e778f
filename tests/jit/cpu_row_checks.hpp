// Row programs on every instruction set, against plain C++.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>
#include "cpu_row_kernels.hpp"

namespace sinter::test {

using jit::cpu::RowProgram;

/// Values whose products stay within range.
template <class Random>
void fill_small(Array& a, Random& random) {
  if (a.index) return;
  std::uniform_real_distribution<double> unit(-2, 2);
  for (std::int64_t i = 0; i < a.extent; ++i) {
    const double v = category(a.dtype) == Category::Float ? unit(random) : static_cast<double>(random() % 100) - 50;
    write(a.dtype, a.memory.data() + i * static_cast<std::int64_t>(size_of(a.dtype)),
          visit_real(a.dtype, [&]<class T>(std::type_identity<T>) { return to_bits(static_cast<T>(v)); }));
  }
}

inline void expect_close(DType t, Bits expected, Bits got, double allowed, const std::string& what) {
  if (category(t) != Category::Float) {
    ASSERT_EQ(expected, got) << what;
    return;
  }
  const auto e = static_cast<double>(number_of(t, expected)), g = static_cast<double>(number_of(t, got));
  if (std::isnan(e) || std::isinf(e)) {
    ASSERT_TRUE(std::isnan(e) ? std::isnan(g) : e == g) << what << ": " << g << ", expected " << e;
    return;
  }
  ASSERT_LE(std::fabs(e - g), allowed) << what << ": " << g << ", expected " << e;
}

/// Runs on every instruction set; each output's distance from the reference is at most `allowed` of its size, or of 1.
inline void check(RowCase& c, const std::string& what, double allowed = 0, const std::vector<Isa>* isas = nullptr) {
  const LoopNest nest = c.nest();
  const RowReference reference(c);
  std::vector<RowReference::Values> expected;
  for (std::int64_t r = 0; r < reference.rows; ++r) expected.push_back(reference.row(r));
  std::vector<std::vector<std::byte>> before;
  for (const Array& a : c.leaves)
    before.emplace_back(a.memory.data(),
                        a.memory.data() + (a.index ? 0 : a.extent * static_cast<std::int64_t>(size_of(a.dtype))));
  const RowProgram program(c.kernel);
  program.prepare(nest);
  EachIsa().run([&](Isa isa) {
    if (isas && std::ranges::find(*isas, isa) == isas->end()) return;
    for (std::size_t k = 0; k < c.leaves.size(); ++k)
      if (!before[k].empty()) std::memcpy(c.leaves[k].memory.data(), before[k].data(), before[k].size());
    const jit::RunFaults faults = program.run(nest, c.scalars);
    ASSERT_FALSE(faults.any());
    for (std::int64_t r = 0; r < reference.rows; ++r)
      for (std::size_t k = 0; k < c.outputs.size(); ++k) {
        const DType t = c.graph()[c.graph().outputs()[k]].dtype;
        const bool one = c.kernel.rows->axis_mapping[k] != AxisMapping::Domain;
        for (std::int64_t i = 0; i < (one ? 1 : reference.columns); ++i) {
          const Bits e = expected[static_cast<std::size_t>(r)][k][static_cast<std::size_t>(i)];
          const double size = category(t) == Category::Float ? std::fabs(static_cast<double>(number_of(t, e))) : 1;
          ASSERT_NO_FATAL_FAILURE(
              expect_close(t, e, reference.element(c.output_array(k), r, i), allowed * std::max(size, 1.0),
                           fmt::format("{}, {}, output {} of row {} at {}", what, isa_name(isa), k, r, i)));
        }
      }
  });
}

}  // namespace sinter::test
