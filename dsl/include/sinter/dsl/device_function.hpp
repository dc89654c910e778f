// Functions written in C, called in expressions like Sinter's own.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sinter/dsl/lazy.hpp>
#include <sinter/jit/device_function.hpp>

namespace sinter::inline v1 {

namespace detail {

template <class T>
concept function_element = std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, std::int32_t> ||
                           std::is_same_v<T, std::int64_t> || std::is_same_v<T, bool>;

/// Whether an operand converts to a parameter when it is passed; unknown dtypes are checked at run time.
template <class T, class P>
inline constexpr bool may_pass = std::is_same_v<T, AnyType> || std::is_same_v<T, Unknown> ||
                                 promote(operand_type<T>.dtype, dtype_of<P>) == dtype_of<P>;
template <Category C, class P>
inline constexpr bool may_pass<Weak<C>, P> = C <= category(dtype_of<P>);

template <class R, class... E>
auto join_call(jit::FunctionId function, E&&... operands) {
  static_assert(shapes_agree<Op::call, typename E::tree...>, SINTER_DIFFERENT_SHAPES);
  using Result = Expression<R, typename CommonDeviceOf<typename E::device_type...>::type,
                            Apply<Op::call, typename E::tree..., AttributeLeaf>, (E::leaf_count + ...),
                            (E::scalar_count + ... + 1), (E::byte_count + ... + operation_bytes<sizeof...(E)>)>;
  AttributeOperand id(static_cast<std::uint64_t>(function));
  return Result(FromOperands{}, operands..., id);
}

template <class R, class... A>
auto call_lazy(jit::FunctionId function, const A&... operands) {
  const jit::LazyRef nodes[] = {lazy_node(operands)...};
  return Lazy<R, typename CommonDeviceOf<typename lifted<const A&>::device_type...>::type>(
      jit::lazy_call(function, nodes));
}

/// A function whose parameters are called a, b, c, ...
jit::FunctionId define_function(std::string_view name, DType result, std::initializer_list<DType> parameters,
                                std::string_view body, std::initializer_list<std::string_view> derivatives);

/// Reads the definition of one function. Throws ParseError.
jit::FunctionSource parse_function(std::string_view definition);
jit::FunctionId define_function(std::string_view definition, std::vector<std::string> derivatives);

}  // namespace detail

/// A function of numbers, which kernels call for each element. Its body is written in C:
///   const sn::device_function<float(float, float)> leaky("leaky", "return a > 0 ? a : a * b;");
///   sn::Tensor y = leaky(x + 1, 0.1) * z;  // one kernel
/// The parameters are called a, b, c, d, e, f in their order: float, double, std::int32_t, std::int64_t or bool. The
/// body may declare variables, loop, and call functions of <math.h>, such as expf.
///
/// Operands are tensors and expressions, which broadcast, and numbers; at least one is not a number. One of another
/// dtype converts if both promote to the parameter's: half and int64 to float, but not double to float.
///
/// GPUs compile the body into their kernels, and exports contain it. The CPU calls it in a loop that the host's C++
/// compiler makes at the first evaluation, which throws DeviceError without a compiler.
template <class Signature>
class device_function;

template <class R, class... P>
class device_function<R(P...)> {
  static_assert(
      detail::function_element<R> && (detail::function_element<P> && ...),
      "a device function takes and returns float, double, std::int32_t, std::int64_t and bool; smaller floats "
      "convert to float when they are passed");
  static_assert(sizeof...(P) > 0 && sizeof...(P) <= jit::max_function_parameters,
                "a device function takes one to six parameters");

 public:
  /// `derivatives`: for each parameter the body of a function that returns the derivative with respect to it, times g,
  /// the gradient of the result; it may also use r, the result. "" where there is none. Without derivatives, grad()
  /// throws Error if it meets the function. Throws Error for a name that C, C++ or an operation has, and for a body
  /// that is not the inside of a function; the compiler's errors come with the first evaluation, as CompileError.
  device_function(std::string_view name, std::string_view body,
                  std::initializer_list<std::string_view> derivatives = {})
      : id_(detail::define_function(name, dtype_of<R>, {dtype_of<P>...}, body, derivatives)) {}

  /// Throws DTypeError for an AnyTensor that does not convert, DeviceError for operands on different devices.
  template <class... A>
    requires(detail::operand<A> && ...)
  auto operator()(A&&... operands) const {
    static_assert(sizeof...(A) == sizeof...(P), "this device function takes another number of operands");
    static_assert((expression<A> || ...), "a device function takes at least one tensor or expression");
    static_assert(detail::same_device<detail::device_of<A>...>, SINTER_DIFFERENT_DEVICES);
    if constexpr (sizeof...(A) != sizeof...(P) || !(expression<A> || ...) ||
                  !detail::same_device<detail::device_of<A>...> || (detail::is_error<A> || ...)) {
      return detail::ErrorExpression();
    } else {
      static_assert((detail::may_pass<typename detail::lifted<A>::value_type, P> && ...),
                    "the operand's dtype does not promote to the parameter's: convert the operand with cast<T>(x)");
      if constexpr ((detail::is_lazy<std::remove_cvref_t<A>> || ...))
        return detail::call_lazy<R>(id_, operands...);
      else
        return detail::join_call<R>(id_, detail::lift(std::forward<A>(operands))...);
    }
  }

 private:
  jit::FunctionId id_;
};

/// Defines a function that texts call by its name, for parse() and export_text():
///   sn::define_function("float scaled(float x, int n) { return x * n; }");
/// It takes and returns float, double, int or int32_t, long long or int64_t, and bool. Of several with one name, texts
/// call the newest. `derivatives` and what it throws are as in device_function; also Error for a name that texts have
/// for a function of their own, and ParseError for text that is not a definition.
void define_function(std::string_view definition, std::initializer_list<std::string_view> derivatives = {});

}  // namespace sinter::inline v1
