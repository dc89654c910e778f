// The operations as methods: x.exp(), x.pow(2), x.clamp(0, 1). One of each for every line of ops.def.
#pragma once
#include <utility>

#include <sinter/jit/ops.hpp>

namespace sinter::inline v1::detail {

/// An operation as a function object: it can be passed on, and one operator() serves every operation.
template <Op op>
struct Function {
  template <class... A>
  constexpr auto operator()(A&&... operands) const;
};

/// Methods of tensors and expressions; `Self` is which. A temporary hands its leaves on instead of counting them.
template <class Self>
class Methods {
 public:
#define SINTER_METHOD_1(name)                                                          \
  auto name() const& { return Function<Op::name>{}(static_cast<const Self&>(*this)); } \
  auto name()&& { return Function<Op::name>{}(static_cast<Self&&>(*this)); }
#define SINTER_METHOD_2(name)                                                         \
  template <class B>                                                                  \
  auto name(B&& b) const {                                                            \
    return Function<Op::name>{}(static_cast<const Self&>(*this), std::forward<B>(b)); \
  }
#define SINTER_METHOD_3(name)                                                                             \
  template <class B, class C>                                                                             \
  auto name(B&& b, C&& c) const {                                                                         \
    return Function<Op::name>{}(static_cast<const Self&>(*this), std::forward<B>(b), std::forward<C>(c)); \
  }
#define SINTER_INTERNAL_OP(name, arity, rule, body, doc)
#define SINTER_OP(name, arity, rule, body, doc) SINTER_METHOD_##arity(name)
#include <sinter/jit/ops.def>
#undef SINTER_METHOD_1
#undef SINTER_METHOD_2
#undef SINTER_METHOD_3
};

}  // namespace sinter::inline v1::detail
