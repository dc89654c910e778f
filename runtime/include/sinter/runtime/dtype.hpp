// Element types, and type promotion as in PyTorch.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <sinter/runtime/half.hpp>

namespace sinter::inline v1 {

/// The element type of a tensor.
enum class DType : std::uint8_t {
#define SINTER_DTYPE(id, type, name, cuda, category, compute_dtype) id,
#include <sinter/runtime/dtypes.def>
};

/// bool < int < float < complex: a result has the highest category of its operands.
enum class Category : std::uint8_t { Bool, Int, Float, Complex };

/// Denotes an element type known only at run time: `Tensor<AnyType>`.
struct AnyType {};

namespace detail {
struct DTypeInfo {
  std::string_view name;       // as printed: float32
  std::string_view cuda_name;  // as written in a kernel: float
  std::string_view cpp_name;   // the element type: std::int64_t
  Category category;
  std::uint8_t size;  // bytes
  DType compute_dtype;
};
inline constexpr DTypeInfo dtype_info[] = {
#define SINTER_DTYPE(id, type, name, cuda, category, compute_dtype) \
  {name, cuda, #type, Category::category, sizeof(type), DType::compute_dtype},
#include <sinter/runtime/dtypes.def>
};
template <class T>
struct DTypeOf;
#define SINTER_DTYPE(id, type, name, cuda, category, compute_dtype) \
  template <>                                                       \
  struct DTypeOf<type> {                                            \
    static constexpr DType value = DType::id;                       \
  };
#include <sinter/runtime/dtypes.def>
}  // namespace detail

inline constexpr int dtype_count = std::size(detail::dtype_info);

constexpr const detail::DTypeInfo& info(DType t) noexcept { return detail::dtype_info[static_cast<std::uint8_t>(t)]; }
/// "float32", as in NumPy and PyTorch.
constexpr std::string_view name(DType t) noexcept { return info(t).name; }
constexpr std::size_t size_of(DType t) noexcept { return info(t).size; }
constexpr Category category(DType t) noexcept { return info(t).category; }
/// The compute dtype of operations on a dtype: itself, or a wider one that holds all its values (of uint64: its bits).
constexpr DType compute_dtype(DType t) noexcept { return info(t).compute_dtype; }
/// Whether a dtype is for storage only, such as int8 and half.
constexpr bool is_stored_only(DType t) noexcept { return compute_dtype(t) != t; }

constexpr bool is_unsigned(DType t) noexcept {
  return t == DType::UInt8 || t == DType::UInt16 || t == DType::UInt32 || t == DType::UInt64;
}
constexpr bool is_signed(DType t) noexcept { return category(t) == Category::Int && !is_unsigned(t); }
/// Whether elements may be indices: integers that int64 holds.
constexpr bool can_index(DType t) noexcept { return category(t) == Category::Int && t != DType::UInt64; }

constexpr bool is_complex(DType t) noexcept { return category(t) == Category::Complex; }
/// The real dtypes come before the complex ones.
inline constexpr int real_dtype_count = static_cast<int>(DType::Complex64);
/// The dtype of a complex number's parts; a real dtype itself.
constexpr DType real_of(DType t) noexcept {
  return t == DType::Complex64 ? DType::Float32 : t == DType::Complex128 ? DType::Float64 : t;
}
/// The complex dtype for a real dtype's values, as in PyTorch: complex128 for float64, else complex64.
constexpr DType complex_of(DType t) noexcept {
  return is_complex(t) ? t : t == DType::Float64 ? DType::Complex128 : DType::Complex64;
}

/// A C++ type that is an element type of tensors.
template <class T>
concept element = requires { detail::DTypeOf<T>::value; };

template <element T>
inline constexpr DType dtype_of = detail::DTypeOf<T>::value;

template <class T>
concept floating_element = element<T> && category(dtype_of<T>) == Category::Float;

template <class T>
concept complex_element = element<T> && is_complex(dtype_of<T>);

namespace detail {
/// The narrowest dtype that holds the values of an unsigned integer dtype and negative ones: none does of uint64, which
/// stays itself.
constexpr DType signed_dtype_over(DType u) noexcept {
  switch (size_of(u)) {
    case 1: return DType::Int16;
    case 2: return DType::Int32;
    case 4: return DType::Int64;
    default: return u;
  }
}
}  // namespace detail

/// The dtype that both operands convert to: the higher category wins, then the type that holds all values of the other;
/// if neither does, the narrowest type that holds both. No type holds uint64 and negative numbers: their common dtype
/// is uint64, in which no operation takes them (op_types).
constexpr DType promote(DType a, DType b) noexcept {
  const DType low = a < b ? a : b, high = a < b ? b : a;
  if (category(a) == Category::Int && category(b) == Category::Int && is_signed(a) != is_signed(b)) {
    const DType u = is_signed(a) ? b : a, s = is_signed(a) ? a : b;
    return size_of(s) > size_of(u) ? s : detail::signed_dtype_over(u);
  }
  if (low == DType::Float16 && high == DType::BFloat16) return DType::Float32;
  if (low == DType::Float64 && high == DType::Complex64) return DType::Complex128;
  return high;
}

/// The dtype of a C++ literal of a category: bool, int64, float32, complex64.
constexpr DType default_dtype(Category c) noexcept {
  constexpr DType defaults[] = {DType::Bool, DType::Int64, DType::Float32, DType::Complex64};
  return defaults[static_cast<std::uint8_t>(c)];
}

/// A C++ scalar raises the category of a tensor, never its width: int32 + 2.5 is float32, float + 2.5 is float, double
/// + 1i is complex128.
constexpr DType promote(DType tensor, Category scalar) noexcept {
  if (category(tensor) >= scalar) return tensor;
  return scalar == Category::Complex ? complex_of(tensor) : default_dtype(scalar);
}

/// Whether a result of dtype `from` may be written in place to a tensor of dtype `to`.
constexpr bool can_cast(DType from, DType to) noexcept { return category(from) <= category(to); }

/// Calls f(std::type_identity<T>{}) with the C++ type of `t`.
template <class F>
constexpr decltype(auto) visit(DType t, F&& f) {
  switch (t) {
#define SINTER_DTYPE(id, type, name, cuda, category, compute_dtype) \
  case DType::id: return f(std::type_identity<type>{});
#include <sinter/runtime/dtypes.def>
  }
  __builtin_unreachable();
}

}  // namespace sinter::inline v1
