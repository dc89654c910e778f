// Layers without parameters that apply an operation elementwise or along an axis.
#pragma once
#include <sinter/nn/functional.hpp>
#include <sinter/nn/module.hpp>

namespace sinter::inline v1::nn {

#define SINTER_ACTIVATION(Name, function, name, arguments) \
  struct Name : Module<Name> {                             \
    static constexpr const char* module_name = name;       \
    Members members() { return {}; }                       \
    std::string extra_repr() const { return arguments; }   \
    template <expression X>                                \
    auto operator()(X&& x) const {                         \
      return functional::function(std::forward<X>(x));     \
    }                                                      \
  };
SINTER_ACTIVATION(ReLU, relu, "ReLU", "")
SINTER_ACTIVATION(GELU, gelu, "GELU", "approximate='none'")
SINTER_ACTIVATION(GELUTanh, gelu_tanh, "GELU", "approximate='tanh'")  // torch.nn.GELU(approximate='tanh')
SINTER_ACTIVATION(SiLU, silu, "SiLU", "")
SINTER_ACTIVATION(Tanh, tanh, "Tanh", "")
SINTER_ACTIVATION(Sigmoid, sigmoid, "Sigmoid", "")
#undef SINTER_ACTIVATION

/// exp(x) / sum(exp(x)) along an axis. Throws IndexError if the input lacks the axis.
class Softmax : public Module<Softmax> {
 public:
  explicit Softmax(detail::Index dim) : dim_(dim) {}

  template <expression X>
  auto operator()(X&& x) const {
    return softmax(std::forward<X>(x), dim_.value);
  }

  Members members() { return {}; }
  std::string extra_repr() const { return "dim=" + std::to_string(dim_.value); }

 private:
  detail::Index dim_;
};

}  // namespace sinter::inline v1::nn
