// A typed tree, flattened: postfix bytes that are part of the type, and the value's handles and scalars.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include <sinter/jit/ops.hpp>
#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::jit {

/// A byte of a program is an Op, or one of these. Immediate bytes follow:
///   leaf, array: DType, or any_dtype if only the tensor knows it.   scalar: Category.
///   constant: DType, then eight bytes of value, lowest first; weak in promotion, like a scalar.  cast: DType.
///   integer: one signed byte, an int64 constant.  reference: which binding, outermost first.
/// A reduction and a call take, besides their operands, the next scalar, whose bits are the node's attribute: its
/// ReduceAxes, its FunctionId.
/// bind pops the value on top of the stack and names it; unbind forgets the innermost name.
enum class Code : std::uint8_t { integer = 0xFC, bind = 0xFD, reference = 0xFE, unbind = 0xFF };
inline constexpr std::uint8_t any_dtype = 0xFF;

struct Hash {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend constexpr bool operator==(const Hash&, const Hash&) = default;
};

/// What the type of an expression determines. Leaves and scalars are numbered in the order in which the code uses them.
struct Program {
  std::span<const std::uint8_t> code;  // leaves `outputs` values on the stack, the first at the bottom
  std::uint16_t leaves = 0;
  std::uint16_t scalars = 0;
  std::uint16_t outputs = 1;
  bool any_typed = false;                          // some leaf's dtype is known only at run time
  std::span<const std::uint16_t> attributes = {};  // indices of the scalars that hold one
};

/// A C++ scalar: the bits of a bool, int64 or double, according to its category.
struct Scalar {
  std::uint64_t bits;
  Scalar() = default;  // uninitialized, so that an array of them costs nothing
  constexpr Scalar(bool v) : bits(v) {}
  constexpr Scalar(std::int64_t v) : bits(static_cast<std::uint64_t>(v)) {}
  constexpr Scalar(double v) : bits(__builtin_bit_cast(std::uint64_t, v)) {}
};

/// The cache of one expression type's plans. Constant-initialized; owned by the tree's type, while the library owns
/// what it points to and never frees it.
struct CallSiteCache {
  std::atomic<const void*> plans{nullptr};
};

/// A tree with its values: everything that an evaluation needs. Borrowed for the duration of a call.
struct Bound {
  CallSiteCache* site = nullptr;
  const Program* program = nullptr;
  runtime::TensorImpl* const* leaves = nullptr;
  const Scalar* scalars = nullptr;
};

}  // namespace sinter::inline v1::jit
