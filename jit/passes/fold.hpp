// Constant folding: one operation on known values.
#pragma once
#include <cstdint>
#include <span>

#include <sinter/jit/graph.hpp>

namespace sinter::inline v1::jit {

/// A value as a constant node holds it: in `dtype`, zero-extended.
struct Value {
  DType dtype;
  std::uint64_t bits;
};

/// The result that the CPU executor computes; operands have the dtypes that the operation computes in.
std::uint64_t fold(Op op, DType result, std::span<const Value> operands);

}  // namespace sinter::inline v1::jit
