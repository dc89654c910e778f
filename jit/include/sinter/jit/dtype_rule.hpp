// How an operation's operands convert, and the dtype of its result. This header contains nothing else: the CPU's loops,
// built for several instruction sets, must not use inline functions from headers.
#pragma once
#include <cstdint>

namespace sinter::inline v1 {

/// The compute dtype of an operation and the dtype of its result.
enum class DTypeRule : std::uint8_t {
  None,            // leaf, index, array, scalar, constant, cast, load: the dtype is an attribute
  Same,            // operands promote; the result has that dtype
  Number,          // the same, not for bool
  Integer,         // the same, for bool and integers only
  IntegerOnly,     // the same, for integers only
  First,           // the first operand decides: the others convert to its dtype
  FirstNumber,     // the same, not for bool
  Float,           // bool and integers become float32
  FloatOnly,       // the same, not for bool and integers
  WideFloat,       // the same, only for dtypes that are their own compute dtype
  Float64,         // operands become float64
  Compare,         // operands promote; the result is bool
  FloatCompare,    // the same, bool and integers become float32 first
  Logical,         // operands become bool (x != 0)
  Select,          // the first is a bool; the others promote
  RealPart,        // any dtype; the result of a complex one is real
  Complex,         // operands promote and must be complex
  ComplexParts,    // operands become float32 or float64, the parts of the complex result
  Int64,           // operands are int64, like the result
  Int64ToFloat32,  // operands are int64
  Int64ToFloat64,
  Sum,      // bool and integers but uint64 become int64
  Index,    // any dtype but bool and complex ones; the result is int64
  Count,    // any dtype; the result is int64
  Nonzero,  // the same, operands become bool (x != 0)
  Product,  // operands have one floating or complex dtype, like the result; nothing converts
};

}  // namespace sinter::inline v1
