// The operations as methods: x.exp(), x.pow(2), x.clamp(0, 1). One of each for every line of ops.def.
#pragma once
#include <utility>

#include <sinter/jit/ops.hpp>

namespace sinter::inline v1::detail {

template <Op op, class... Operands>
constexpr auto apply(Operands&&... operands);

/// Methods of tensors and expressions; `Self` is which. A temporary hands its leaves on instead of counting them.
template <class Self>
class Methods {
 public:
#define SINTER_INTERNAL_OP(name, arity, rule, body, doc)
#define SINTER_OP(name, arity, rule, body, doc)                                                    \
  template <class... Rest>                                                                         \
  auto name(Rest&&... rest) const& {                                                               \
    return apply<Op::name>(static_cast<const Self&>(*this), std::forward<Rest>(rest)...);          \
  }                                                                                                \
  template <class... Rest>                                                                         \
  auto name(Rest&&... rest)&& {                                                                    \
    return apply<Op::name>(static_cast<Self&&>(*this), std::forward<Rest>(rest)...);               \
  }
#include <sinter/jit/ops.def>
};

}  // namespace sinter::inline v1::detail
