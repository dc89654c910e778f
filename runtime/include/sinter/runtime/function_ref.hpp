// FunctionRef: a function object as a parameter of compiled code, like C++26's std::function_ref.
#pragma once
#include <memory>
#include <type_traits>

namespace sinter::inline v1::runtime {

template <class Signature>
class FunctionRef;

/// Refers to a function object of its caller, and must not outlive it.
template <class R, class... A>
class FunctionRef<R(A...)> {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> && std::is_object_v<std::remove_reference_t<F>> &&
             std::is_invocable_r_v<R, F&, A...>)
  FunctionRef(F&& function) noexcept
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(function)))),
        call_([](void* object, A... arguments) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(object))(static_cast<A>(arguments)...);
        }) {}

  R operator()(A... arguments) const { return call_(object_, static_cast<A>(arguments)...); }

 private:
  void* object_;
  R (*call_)(void*, A...);
};

}  // namespace sinter::inline v1::runtime
