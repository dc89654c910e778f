// Expression trees as types, and their flattening into postfix bytes. No objects of these types exist.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <sinter/jit/program.hpp>

namespace sinter::inline v1 {

/// Extents that are known only at run time; see extents.hpp.
struct AnyExtents {};

}  // namespace sinter::inline v1

namespace sinter::inline v1::detail {

template <class T, class X = AnyExtents>
struct Leaf;      // a tensor of T, or of AnyType, with extents X
struct IotaLeaf;  // the position of each element: a tensor without memory
template <class T, class Offset>
struct Load;  // elements gathered from an array of T (a leaf of its own) at offsets from its first one
template <Category C>
struct ScalarLeaf;  // a C++ scalar
template <std::int64_t Value>
struct ConstantLeaf;  // a compile-time integer, 2_c
template <Category C, std::uint64_t Bits>
struct FixedLeaf;      // another number in the expression's type: bits of a bool or a double
struct AttributeLeaf;  // the last operand of a reduction, its reduce axes, or of a call, its function: a scalar,
                       // without a code
template <Op Operation, class... Operands>
struct Apply;
template <class T, class Operand>
struct Cast;
template <class Name, class Value, class Body>
struct Let;  // Body, in which Reference<Name> refers to Value
template <class Name>
struct Reference;
template <class... Trees>
struct Outputs;  // several results of one evaluation

/// Whether a tree uses a name that a let around it binds: its shape is not known there.
template <class Tree, class... Bound>
struct HasFreeNames : std::false_type {};
template <class Name, class... Bound>
struct HasFreeNames<Reference<Name>, Bound...> : std::bool_constant<!(std::is_same_v<Name, Bound> || ...)> {};
template <Op op, class... A, class... Bound>
struct HasFreeNames<Apply<op, A...>, Bound...> : std::bool_constant<(HasFreeNames<A, Bound...>::value || ...)> {};
template <class T, class A, class... Bound>
struct HasFreeNames<Cast<T, A>, Bound...> : HasFreeNames<A, Bound...> {};
template <class T, class Offset, class... Bound>
struct HasFreeNames<Load<T, Offset>, Bound...> : HasFreeNames<Offset, Bound...> {};
template <class Name, class Value, class Body, class... Bound>
struct HasFreeNames<Let<Name, Value, Body>, Bound...>
    : std::bool_constant<HasFreeNames<Value, Bound...>::value || HasFreeNames<Body, Name, Bound...>::value> {};

/// HasFreeNames for an expression, tensor or Lazy.
template <class E>
inline constexpr bool has_free_names = false;
template <class E>
  requires requires { typename std::remove_cvref_t<E>::tree; }
inline constexpr bool has_free_names<E> = HasFreeNames<typename std::remove_cvref_t<E>::tree>::value;

/// Maximum number of bytes of each node; see jit::Program.
inline constexpr int leaf_bytes = 2, iota_bytes = 1, load_bytes = 3, scalar_bytes = 2, cast_bytes = 3, let_bytes = 2,
                     reference_bytes = 2;
template <std::int64_t Value>
inline constexpr bool fits_a_byte = Value >= -128 && Value <= 127;
template <std::int64_t Value>
inline constexpr int constant_bytes = fits_a_byte<Value> ? 2 : 10;
inline constexpr int fixed_bytes = 10;
/// An operation takes one byte. It counts as if it and its operands took three (six with three operands), so that the
/// limit on bytes is a limit on operations.
template <int Operands>
inline constexpr int operation_bytes = Operands == 1 ? 3 : Operands - 1;
inline constexpr int max_operations = 256, max_code_bytes = 3 * max_operations + leaf_bytes;

template <class T>
inline constexpr std::uint8_t dtype_code = static_cast<std::uint8_t>(dtype_of<T>);
template <>
inline constexpr std::uint8_t dtype_code<AnyType> = jit::any_dtype;

/// The names bound at a place in the tree, outermost first.
template <class... Names>
struct Scope {};
template <class Name, class... Names>
constexpr std::uint8_t position(Scope<Names...>*) {
  // The innermost binding of a name counts.
  std::uint8_t found = 0, i = 0;
  ((std::is_same_v<Name, Names> ? found = i++ : i++), ...);
  return found;
}

constexpr void put(std::uint8_t*& p, auto code) { *p++ = static_cast<std::uint8_t>(code); }
constexpr void put_constant(std::uint8_t*& p, DType dtype, std::uint64_t bits) {
  put(p, Op::constant);
  put(p, dtype);
  for (int i = 0; i < 8; ++i) put(p, bits >> (8 * i) & 0xFF);
}

template <class S, class T, class X>
constexpr void emit(std::uint8_t*& p, Leaf<T, X>*) {
  put(p, Op::leaf);
  put(p, dtype_code<T>);
}
template <class S>
constexpr void emit(std::uint8_t*& p, IotaLeaf*) {
  put(p, Op::iota);
}
template <class S, class T, class Offset>
constexpr void emit(std::uint8_t*& p, Load<T, Offset>*);
template <class S, Category C>
constexpr void emit(std::uint8_t*& p, ScalarLeaf<C>*) {
  put(p, Op::scalar);
  put(p, C);
}
template <class S>
constexpr void emit(std::uint8_t*&, AttributeLeaf*) {}
template <class S, std::int64_t Value>
constexpr void emit(std::uint8_t*& p, ConstantLeaf<Value>*) {
  if constexpr (fits_a_byte<Value>) {
    put(p, jit::Code::integer);
    put(p, Value);
  } else {
    put_constant(p, DType::Int64, static_cast<std::uint64_t>(Value));
  }
}
template <class S, Category C, std::uint64_t Bits>
constexpr void emit(std::uint8_t*& p, FixedLeaf<C, Bits>*) {
  put_constant(p, C == Category::Bool ? DType::Bool : DType::Float64, Bits);
}
template <class S, class T, class A>
constexpr void emit(std::uint8_t*& p, Cast<T, A>*);
template <class S, class Name, class Value, class Body>
constexpr void emit(std::uint8_t*& p, Let<Name, Value, Body>*);
template <class S, class Name>
constexpr void emit(std::uint8_t*& p, Reference<Name>*) {
  put(p, jit::Code::reference);
  put(p, position<Name>(static_cast<S*>(nullptr)));
}
template <class S, Op op, class... A>
constexpr void emit(std::uint8_t*& p, Apply<op, A...>*) {
  (emit<S>(p, static_cast<A*>(nullptr)), ...);
  put(p, op);
}
template <class S, class T, class Offset>
constexpr void emit(std::uint8_t*& p, Load<T, Offset>*) {
  put(p, Op::array);
  put(p, dtype_code<T>);
  emit<S>(p, static_cast<Offset*>(nullptr));
  put(p, Op::load);
}
template <class S, class... A>
constexpr void emit(std::uint8_t*& p, Outputs<A...>*) {
  (emit<S>(p, static_cast<A*>(nullptr)), ...);
}
template <class S, class T, class A>
constexpr void emit(std::uint8_t*& p, Cast<T, A>*) {
  emit<S>(p, static_cast<A*>(nullptr));
  put(p, Op::cast);
  put(p, dtype_code<T>);
}
template <class Name, class... Names>
constexpr Scope<Names..., Name> inside(Scope<Names...>*);
template <class S, class Name, class Value, class Body>
constexpr void emit(std::uint8_t*& p, Let<Name, Value, Body>*) {
  emit<S>(p, static_cast<Value*>(nullptr));
  put(p, jit::Code::bind);
  emit<decltype(inside<Name>(static_cast<S*>(nullptr)))>(p, static_cast<Body*>(nullptr));
  put(p, jit::Code::unbind);
}

/// The program of a tree, in the number of bytes that its type counts.
template <int Bytes>
struct CodeBytes {
  std::array<std::uint8_t, Bytes> bytes{};
  std::size_t size = 0;

  constexpr std::span<const std::uint8_t> used() const noexcept { return std::span(bytes).first(size); }
};
template <class Tree, int Bytes>
constexpr CodeBytes<Bytes> code_of() {
  CodeBytes<Bytes> code;
  std::uint8_t* p = code.bytes.data();
  emit<Scope<>>(p, static_cast<Tree*>(nullptr));
  code.size = static_cast<std::size_t>(p - code.bytes.data());
  return code;
}

}  // namespace sinter::inline v1::detail
