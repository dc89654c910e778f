// Module: what layers and nets have in common: parameters, moving between devices, saving, printing.
#pragma once
#include <sinter/dsl/operand_info.hpp>
#include <sinter/nn/members.hpp>

namespace sinter::inline v1 {

namespace detail {

/// Points to what members() names, and changes nothing if the module is const.
template <class M>
ModuleNode node_of(const M& module) {
  ModuleNode node;
  describe_module(const_cast<M&>(module), node);
  return node;
}

}  // namespace detail

namespace nn {

/// Base class of layers and nets. The derived class lists its members and defines its own call operator:
///
///     struct Net : nn::Module<Net> {
///       nn::Linear fc1{784, 128}, fc2{128, 10};
///       nn::Members members() { return nn::members("fc1", fc1, "fc2", fc2); }
///       auto operator()(const auto& x) const { return fc2(sn::relu(fc1(x))); }
///     };
///
/// A module is a value; its tensors are handles. A copy shares the storage of its parameters until either is moved to
/// another device.
template <class Derived>
class Module : public detail::ModuleTag {
 public:
  Module() = default;

  /// All trainable tensors, each once: the module's own first, then those of its submodules, in the order of members().
  std::vector<AnyTensor> parameters() const {
    std::vector<AnyTensor> tensors;
    for (auto& [name, tensor] : named_parameters()) tensors.push_back(std::move(tensor));
    return tensors;
  }
  /// The parameters with their names: "0.weight".
  NamedTensors named_parameters() const { return detail::parameters_of(detail::node_of(self())); }
  /// Parameters and buffers under all of their names. They share the module's storage: save or clone them.
  StateDict state_dict() const { return detail::state_dict_of(detail::node_of(self())); }
  /// Writes the tensors of `state`, a range of names and tensors, into the module's own, which keep their dtypes and
  /// devices. A prefix "module." common to all names is ignored. Throws Error, naming all mismatches, if a shape
  /// differs or, if strict, if names are missing or unknown; nothing is written then.
  template <class State>
  IncompatibleKeys load_state_dict(const State& state, bool strict = true) {
    NamedTensors named;
    for (const auto& [name, tensor] : state) named.emplace_back(name, AnyTensor(tensor));
    return detail::load_state(detail::node_of(self()), std::move(named), strict);
  }
  /// Number of elements of all parameters, each counted once.
  std::int64_t num_parameters() const { return detail::count_parameters(detail::node_of(self())); }

  /// Moves the parameters and buffers of this module. Throws DeviceError, OutOfMemory.
  template <device_argument D>
  Derived& to_(const D& device) {
    if constexpr (requires { typename Derived::device_type; })
      static_assert(detail::same_device<device_type_of<D>, typename Derived::device_type>,
                    "the type of this module contains its device: write auto moved = net.to(device)");
    detail::move_module(detail::node_of(self()), Device(device));
    return self();
  }
  /// This module on a device. For Sinter's own layers the type holds the device: Linear to cuda<0> gives
  /// LinearOf<float, Cuda<0>>, which rejects other tensors at compile time. Parameters that are already there are
  /// shared. Throws DeviceError, OutOfMemory.
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

  /// Sets the mode. Dropout drops only in training mode, in which modules start.
  Derived& train(bool mode = true) {
    detail::set_training(detail::node_of(self()), mode);
    return self();
  }
  Derived& eval() { return train(false); }
  bool is_training() const noexcept { return training_; }

  /// Prints a module like PyTorch.
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
                "a module lists its members: nn::Members members() { return nn::members(\"fc1\", fc1); }");
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
