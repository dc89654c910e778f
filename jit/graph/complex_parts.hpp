// Complex numbers as pairs of real ones.
#pragma once
#include <sinter/jit/graph.hpp>

namespace sinter::inline v1::jit {

/// The same values, with complex numbers where they are loaded and stored alone: real() and imag() of a leaf or a load
/// and, at an output, complex(re, im) are all that is left to do with them. Everything between is real arithmetic.
/// With `keeps_shapes`, or where the graph reshapes, parts keep the shape of the whole.
Graph with_complex_parts(const Graph& graph, bool keeps_shapes = false);

/// Whether the operation takes a complex number apart or puts one together.
constexpr bool is_of_parts(Op op) noexcept { return op == Op::real || op == Op::imag || op == Op::complex; }

}  // namespace sinter::inline v1::jit
