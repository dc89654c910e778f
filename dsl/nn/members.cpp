#include <sinter/nn/members.hpp>

#include <algorithm>
#include <ostream>
#include <unordered_map>
#include <unordered_set>

namespace sinter::inline v1 {

void nn::Members::add_tensor(std::string_view name, detail::TensorRole role, const runtime::TensorRef& value,
                             void* tensor, void (*check)(const runtime::TensorImpl&),
                             void (*assign)(void*, runtime::TensorRef)) {
  if (value) node_.tensors.push_back({std::string(name), role, value, tensor, check, assign});
}

namespace detail {

namespace {

/// Calls f(name, tensor) for the module's tensors, then for those of its submodules.
template <class F>
void for_each_tensor(const ModuleNode& module, const std::string& prefix, const F& f) {
  for (const ModuleTensor& tensor : module.tensors) f(prefix + tensor.name, tensor);
  for (const ModuleNode& inner : module.modules) for_each_tensor(inner, prefix + inner.name + ".", f);
}

/// Indents every line but the first by two spaces.
std::string indented(std::string text) {
  for (std::size_t i = text.find('\n'); i != std::string::npos; i = text.find('\n', i + 1)) text.insert(i + 1, "  ");
  return text;
}

}  // namespace

ModuleNode::ModuleNode() = default;
ModuleNode::ModuleNode(ModuleNode&&) noexcept = default;
ModuleNode& ModuleNode::operator=(ModuleNode&&) noexcept = default;
ModuleNode::~ModuleNode() = default;

ModuleNode& add_module(ModuleNode& node, std::string_view name) {
  ModuleNode& added = node.modules.emplace_back();
  added.name = name;
  return added;
}
ModuleNode& add_module(ModuleNode& node) { return add_module(node, std::to_string(node.modules.size())); }

void take_members(ModuleNode& node, ModuleNode& members) noexcept {
  node.tensors = std::move(members.tensors);
  node.modules = std::move(members.modules);
}

std::string class_name(std::string_view signature) {
  signature = signature.substr(signature.find("M = ") + 4);
  signature.remove_suffix(signature.size() - std::min(signature.rfind(']'), signature.find(';')));
  int depth = 0;
  std::size_t end = signature.size(), first = end;
  while (first > 0 && !(depth == 0 && signature[first - 1] == ':')) {
    const char c = signature[--first];
    depth += (c == '>') - (c == '<');
    if (c == '<' && depth == 0) end = first;
  }
  return std::string(signature.substr(first, end - first));
}

nn::NamedTensors parameters_of(const ModuleNode& module) {
  nn::NamedTensors parameters;
  std::unordered_set<const TensorImpl*> seen;
  for_each_tensor(module, "", [&](const std::string& name, const ModuleTensor& tensor) {
    if (tensor.role == TensorRole::Parameter && seen.insert(tensor.value.get()).second)
      parameters.emplace_back(name, AnyTensor(tensor.value));
  });
  return parameters;
}

nn::NamedTensors state_of(const ModuleNode& module) {
  nn::NamedTensors state;
  for_each_tensor(module, "", [&](const std::string& name, const ModuleTensor& tensor) {
    if (tensor.role != TensorRole::Constant) state.emplace_back(name, AnyTensor(tensor.value));
  });
  return state;
}

StateDict state_dict_of(const ModuleNode& module) {
  std::vector<StateDict::Entry> entries;
  for (auto& [name, tensor] : state_of(module)) entries.push_back({std::move(name), std::move(tensor)});
  return StateDict(std::move(entries));
}

std::int64_t count_parameters(const ModuleNode& module) {
  std::int64_t count = 0;
  for (const auto& [name, parameter] : parameters_of(module)) count += parameter.numel();
  return count;
}

void set_training(const ModuleNode& module, bool mode) {
  if (module.training) *module.training = mode;
  for (const ModuleNode& inner : module.modules) set_training(inner, mode);
}

void move_module(const ModuleNode& module, Device device) {
  std::unordered_map<const TensorImpl*, TensorRef> moved;
  for_each_tensor(module, "", [&](const std::string&, const ModuleTensor& tensor) {
    TensorRef& there = moved[tensor.value.get()];
    if (!there) there = jit::to(*tensor.value, tensor.value->dtype, device);
    tensor.check(*there);
  });
  // Only after all copies succeeded: an error leaves the module unchanged.
  for_each_tensor(module, "", [&](const std::string&, const ModuleTensor& tensor) {
    tensor.assign(tensor.tensor, moved.at(tensor.value.get()));
  });
}

std::string to_string(const ModuleNode& module) {
  if (module.modules.empty() && module.arguments.find('\n') == std::string::npos)
    return module.kind + "(" + module.arguments + ")";
  std::string text = module.kind + "(\n  ";
  if (!module.arguments.empty()) text += indented(module.arguments) + "\n  ";
  for (const ModuleNode& inner : module.modules) text += "(" + inner.name + "): " + indented(to_string(inner)) + "\n  ";
  text.resize(text.size() - 2);
  return text + ")";
}

std::ostream& print(std::ostream& out, const ModuleNode& module) { return out << to_string(module); }

}  // namespace detail
}  // namespace sinter::inline v1
