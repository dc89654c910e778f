// Compiling in the background: prepare_async. Separate from sinter.hpp, whose users need not compile <future>.
#pragma once
#if __cplusplus < 202002L
#error "Sinter needs C++20: compile with -std=c++20"
#else
#include <future>

#include <sinter/jit/prepare.hpp>
#include <sinter/sinter.hpp>

namespace sinter::inline v1 {

namespace detail {

template <class... E>
std::future<void> prepare_all_async(const E&... e) {
  if constexpr ((is_lazy<E> || ...)) {
    const jit::LazyRef nodes[] = {lazy_node(e)...};
    return jit::prepare_async(nodes);
  } else if constexpr (sizeof...(E) == 1) {
    return (jit::prepare_async(detail::bind(e)), ...);
  } else {
    return jit::prepare_async(BoundTogether<E...>(e...).bound());
  }
}

}  // namespace detail

/// Prepares in the background, different kernels in parallel; an evaluation in the meantime waits for those it needs.
/// The call itself throws what can be checked without compiling (ShapeError, DeviceError, DTypeError) and then returns
/// no future; the future throws the rest (CompileError, CudaError). It may be discarded.
template <expression... E>
std::future<void> prepare_async(E&&... e) {
  return detail::prepare_all_async(lift(std::forward<E>(e))...);
}

}  // namespace sinter::inline v1
#endif
