// Complex numbers as pairs of real ones.
#pragma once
#include <sinter/jit/graph.hpp>

namespace sinter::inline v1::jit {

/// Lowers complex numbers to their parts, except in loads and stores: real() and imag() of a leaf or a load and, at an
/// output, complex(re, im) are the only operations on them that remain. Everything between is real arithmetic. With
/// `keeps_shapes`, or if the graph reshapes, parts keep the shape of the whole value.
Graph lower_complex(const Graph& graph, bool keeps_shapes = false);

/// Whether the operation splits a complex number into its parts or builds one from them.
constexpr bool is_of_parts(Op op) noexcept { return op == Op::real || op == Op::imag || op == Op::complex; }

}  // namespace sinter::inline v1::jit
