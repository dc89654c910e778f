// Module: what layers and nets have in common - their parameters, where they are, saving, printing.
#pragma once
#include <sinter/dsl/facts.hpp>
#include <sinter/nn/members.hpp>

namespace sinter::inline v1 {

namespace detail {

/// It points to what members() names, and nothing is changed by it where the module is constant.
template <class M>
ModuleNode node_of(const M& module) {
  ModuleNode node;
  describe_module(const_cast<M&>(module), node);
  return node;
}

}  // namespace detail

namespace nn {

/// A base for layers and nets. The class lists what it is made of; how it is called is its own:
///
///     struct Net : nn::Module<Net> {
///       nn::Linear fc1{784, 128}, fc2{128, 10};
///       nn::Members members() { return nn::members("fc1", fc1, "fc2", fc2); }
///       auto operator()(const auto& x) const { return fc2(sn::relu(fc1(x))); }
///     };
///
/// A module is a value; its tensors are handles. A copy shares the storage of its parameters until one of both is
/// moved to another device.
template <class Derived>
class Module : public detail::ModuleTag {
 public:
  Module() = default;

  /// Every tensor to be learnt, each once: its own first, then those of the modules in it, in the order of members().
  std::vector<AnyTensor> parameters() const {
    std::vector<AnyTensor> tensors;
    for (auto& [name, tensor] : named_parameters()) tensors.push_back(std::move(tensor));
    return tensors;
  }
  /// With their names: "0.weight".
  NamedTensors named_parameters() const { return detail::parameters_of(detail::node_of(self())); }
  /// Parameters and buffers under every name that they have. They share the module's storage: save or clone them.
  StateDict state_dict() const { return detail::state_dict_of(detail::node_of(self())); }
  /// Writes the tensors of `state`, a range of names and tensors, into the module's own, whose dtypes and devices stay.
  /// A prefix "module." of every name counts for nothing. Throws Error where a shape differs and, if strict, where
  /// names are missing or have no place; the message tells all of them, and nothing was written.
  template <class State>
  IncompatibleKeys load_state_dict(const State& state, bool strict = true) {
    NamedTensors named;
    for (const auto& [name, tensor] : state) named.emplace_back(name, AnyTensor(tensor));
    return detail::load_state(detail::node_of(self()), std::move(named), strict);
  }
  /// Of the parameters' elements, each counted once.
  std::int64_t num_parameters() const { return detail::count_parameters(detail::node_of(self())); }

  /// Moves the parameters and buffers of this module. Throws DeviceError, OutOfMemory.
  template <device_argument D>
  Derived& to_(const D& device) {
    if constexpr (requires { typename Derived::device_type; })
      static_assert(detail::same_device<device_type_of<D>, typename Derived::device_type>,
                    "the type of this module says where it is: write auto moved = net.to(device)");
    detail::move_module(detail::node_of(self()), Device(device));
    return self();
  }
  /// This module on a device. Of Sinter's own layers, the type says where it is: Linear to cuda<0> gives
  /// LinearOf<float, Cuda<0>>, which refuses other tensors when the program is compiled. Parameters that are there
  /// already are shared. Throws DeviceError, OutOfMemory.
  template <device_argument D>
  [[nodiscard]] auto to(const D& device) const {
    if constexpr (requires { typename Derived::template on_device<AnyDevice>; }) {
      typename Derived::template on_device<AnyDevice> moved(self());
      moved.to_(device);
      return typename Derived::template on_device<device_type_of<D>>(moved);
    } else {
      Derived moved(self());
      moved.to_(device);
      return moved;
    }
  }

  /// Dropout drops in training alone, which is how modules begin.
  Derived& train(bool mode = true) {
    detail::set_training(detail::node_of(self()), mode);
    return self();
  }
  Derived& eval() { return train(false); }
  bool is_training() const noexcept { return training_; }

  /// As PyTorch prints a module.
  friend std::ostream& operator<<(std::ostream& out, const Module& module) {
    return detail::print(out, detail::node_of(module.self()));
  }

 protected:
  template <class Other>
  explicit Module(const Module<Other>& other) : training_(other.is_training()) {}

  const Derived& self() const noexcept { return static_cast<const Derived&>(*this); }
  Derived& self() noexcept { return static_cast<Derived&>(*this); }

 private:
  template <class M>
  friend void detail::describe_module(M& module, detail::ModuleNode& node);
  bool training_ = true;
};

}  // namespace nn

namespace detail {

template <class M>
inline constexpr bool lists_members = requires(M& module) { module.members(); };

template <class M>
std::string kind_of_module() {
  if constexpr (requires { M::module_name; })
    return M::module_name;
  else
    return class_name(signature_with<M>());
}

template <class M>
void describe_module(M& module, ModuleNode& node) {
  static_assert(lists_members<M>,
                "a module lists what it is made of: nn::Members members() { return nn::members(\"fc1\", fc1); }");
  node.kind = kind_of_module<M>();
  if constexpr (requires { module.extra_repr(); }) node.arguments = module.extra_repr();
  node.training = &module.training_;
  if constexpr (lists_members<M>) {
    nn::Members members = module.members();
    take_members(node, members.node());
  }
}

}  // namespace detail
}  // namespace sinter::inline v1
