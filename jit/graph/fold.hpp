// One operation on known values.
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

/// What the CPU executor makes of the operation; operands have the dtypes that it computes in.
std::uint64_t fold(Op op, DType result, std::span<const Value> operands);

}  // namespace sinter::inline v1::jit
