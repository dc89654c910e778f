// What a module consists of (its tensors and submodules, by name) in a form that non-template code can use.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <sinter/dsl/state_dict.hpp>

namespace sinter::inline v1 {

namespace nn {

/// Names and tensors, in order. The tensors share the storage of their sources.
using NamedTensors = std::vector<std::pair<std::string, AnyTensor>>;

/// The names for which load_state_dict found no tensor, and those of tensors that it did not use.
struct IncompatibleKeys {
  std::vector<std::string> missing;
  std::vector<std::string> unexpected;
};

/// A tensor that is in state_dict but is not a parameter: members("mean", buffer(mean)).
template <class T, class D>
struct Buffer {
  Tensor<T, D>& tensor;
};
template <class T, class D>
Buffer<T, D> buffer(Tensor<T, D>& tensor) {
  return {tensor};
}

}  // namespace nn

namespace detail {

struct ModuleTag {};
template <class M>
inline constexpr bool is_module = std::is_base_of_v<ModuleTag, std::remove_cvref_t<M>>;

enum class TensorRole : std::uint8_t {
  Parameter,
  Buffer,    // part of the state, but not trained
  Constant,  // only moves with the module: replaces an absent parameter
};

/// A Tensor<T, D> of a module.
struct ModuleTensor {
  std::string name;
  TensorRole role;
  TensorRef value;
  void* tensor;
  void (*check)(const TensorImpl& value);  // throws DeviceError unless the device is of type D
  void (*assign)(void* tensor, TensorRef value);
};

/// A module and its contents; points into the module. Compiled code constructs and destroys these, so that user
/// programs compile no containers for them.
struct ModuleNode {
  std::string name;       // name in the parent module
  std::string kind;       // "Linear"
  std::string arguments;  // "in_features=3, out_features=1, bias=True"
  bool* training = nullptr;
  std::vector<ModuleTensor> tensors;
  std::vector<ModuleNode> modules;

  ModuleNode();
  ModuleNode(ModuleNode&&) noexcept;
  ModuleNode& operator=(ModuleNode&&) noexcept;
  ~ModuleNode();
};

template <class T, class D>
void assign_tensor(void* tensor, TensorRef value) {
  *static_cast<Tensor<T, D>*>(tensor) = Tensor<T, D>(std::move(value));
}

/// Fills in the description of `module`.
template <class M>
void describe_module(M& module, ModuleNode& node);

/// A new child node, named by its number if it has no name.
ModuleNode& add_module(ModuleNode& node);
ModuleNode& add_module(ModuleNode& node, std::string_view name);
/// Moves the tensors and modules of `members` to the module's node.
void take_members(ModuleNode& node, ModuleNode& members) noexcept;

/// The name of a class without namespaces and template arguments, from the compiler's signature, which ends with "M =
/// name]".
std::string class_name(std::string_view signature);
template <class M>
constexpr std::string_view signature_with() {
  return __PRETTY_FUNCTION__;
}

// For a module and all its submodules.
nn::NamedTensors parameters_of(const ModuleNode& module);
nn::NamedTensors state_of(const ModuleNode& module);
StateDict state_dict_of(const ModuleNode& module);
std::int64_t count_parameters(const ModuleNode& module);
void set_training(const ModuleNode& module, bool mode);
/// Moves every tensor. Names that shared a tensor still share it. Throws DeviceError, OutOfMemory.
void move_module(const ModuleNode& module, Device device);
/// Copies the tensors into those of the module. Throws Error naming every mismatch, before anything is written.
nn::IncompatibleKeys load_state(const ModuleNode& module, nn::NamedTensors state, bool strict);
/// Like PyTorch: "Linear(in_features=3, out_features=1, bias=True)".
std::string to_string(const ModuleNode& module);
std::ostream& print(std::ostream& out, const ModuleNode& module);

}  // namespace detail

namespace nn {

/// A class that derives from Module.
template <class M>
concept module = detail::is_module<M>;

/// A module's tensors and submodules, as members() returns them to Module. Tensors without an array are skipped.
class Members {
 public:
  template <class T, class D>
  void add(std::string_view name, Tensor<T, D>& parameter) {
    add(name, parameter, detail::TensorRole::Parameter);
  }
  template <class T, class D>
  void add(std::string_view name, Buffer<T, D> buffer) {
    add(name, buffer.tensor, detail::TensorRole::Buffer);
  }
  template <class T, class D>
  void add(std::string_view name, Tensor<T, D>& tensor, detail::TensorRole role) {
    add_tensor(name, role, tensor.ref(), &tensor, detail::check_device<D>, detail::assign_tensor<T, D>);
  }
  template <module M>
  void add(std::string_view name, M& module) {
    detail::describe_module(module, detail::add_module(node_, name));
  }
  /// Several modules of one type, like torch.nn.ModuleList: "layers.0.weight".
  template <module M>
  void add(std::string_view name, std::vector<M>& modules) {
    detail::ModuleNode& list = detail::add_module(node_, name);
    list.kind = "ModuleList";
    for (M& module : modules) detail::describe_module(module, detail::add_module(list));
  }

  /// For Sinter's own layers.
  detail::ModuleNode& node() noexcept { return node_; }

 private:
  void add_tensor(std::string_view name, detail::TensorRole role, const runtime::TensorRef& value, void* tensor,
                  void (*check)(const runtime::TensorImpl&), void (*assign)(void*, runtime::TensorRef));
  detail::ModuleNode node_;
};

}  // namespace nn

namespace detail {

inline void add_members(nn::Members&) {}
template <class M, class... Rest>
void add_members(nn::Members& members, std::string_view name, M&& member, Rest&&... rest) {
  static_assert(
      requires { members.add(name, member); },
      "a member of a module is a Tensor, a buffer(tensor), a module, or a std::vector of modules");
  members.add(name, member);
  add_members(members, std::forward<Rest>(rest)...);
}

}  // namespace detail

namespace nn {

/// Alternating names and members: members("fc1", fc1, "scale", scale).
template <class... NamesAndMembers>
Members members(NamesAndMembers&&... named) {
  constexpr bool in_pairs = sizeof...(named) % 2 == 0;
  static_assert(in_pairs, "members takes a name before each member: members(\"fc1\", fc1)");
  Members list;
  if constexpr (in_pairs) detail::add_members(list, std::forward<NamesAndMembers>(named)...);
  return list;
}

}  // namespace nn
}  // namespace sinter::inline v1
