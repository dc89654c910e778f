// Layers that return their input or another view of it.
#pragma once
#include <sinter/nn/module.hpp>

namespace sinter::inline v1::nn {

/// Returns its input.
class Identity : public Module<Identity> {
 public:
  template <expression X>
  auto operator()(const X& x) const {
    return x;
  }
  Members members() { return {}; }
};

/// Merges the axes from `start_dim` to `end_dim`, both included. Throws IndexError if the input lacks one of them.
class Flatten : public Module<Flatten> {
 public:
  explicit Flatten(detail::Index start_dim = 1, detail::Index end_dim = -1) : start_(start_dim), end_(end_dim) {}

  template <expression X>
  auto operator()(const X& x) const {
    if constexpr (detail::is_error<X>)
      return detail::ErrorExpression();
    else
      return x.flatten(start_, end_);
  }

  Members members() { return {}; }
  std::string extra_repr() const {
    return "start_dim=" + std::to_string(start_.value) + ", end_dim=" + std::to_string(end_.value);
  }

 private:
  detail::Index start_, end_;
};

}  // namespace sinter::inline v1::nn
