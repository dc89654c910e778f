// load_state_dict: reports all mismatches at once, in PyTorch's words, before anything is written.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <sinter/nn/members.hpp>

namespace sinter::inline v1::detail {

namespace {

constexpr std::string_view wrapper = "module.";

/// Removes the prefix that nets for several GPUs put before every name.
void unwrap(nn::NamedTensors& state, const nn::NamedTensors& own) {
  const auto wrapped = [](const auto& named) { return named.first.starts_with(wrapper); };
  if (!std::ranges::all_of(state, wrapped) || std::ranges::any_of(own, wrapped)) return;
  for (auto& [name, tensor] : state) name.erase(0, wrapper.size());
}

std::string size_text(const Shape& shape) {
  return fmt::format("torch.Size([{}])", fmt::join(shape.begin(), shape.end(), ", "));
}

std::string quoted(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", name);
  return text;
}

/// Why a tensor cannot be copied into a parameter; empty if it can.
std::string mismatch(const std::string& name, const AnyTensor& to, const AnyTensor& from) {
  if (!(to.shape() == from.shape()))
    return fmt::format(
        "size mismatch for {}: copying a param with shape {} from checkpoint, the shape in current model "
        "is {}.",
        name, size_text(from.shape()), size_text(to.shape()));
  if (is_complex(from.dtype()) && !is_complex(to.dtype()))
    return fmt::format(
        "dtype mismatch for {}: copying a param of {} from checkpoint, the dtype in current model is {}.", name,
        sinter::name(from.dtype()), sinter::name(to.dtype()));
  for (int axis = 0; axis < to.dim(); ++axis)
    if (to.shape()[axis] > 1 && to.strides()[axis] == 0)
      return fmt::format("{} is expanded: several of its elements share memory; give it a contiguous copy.", name);
  return {};
}

void check(const ModuleNode& module, const nn::IncompatibleKeys& keys, const std::vector<std::string>& mismatches,
           bool strict) {
  std::vector<std::string> errors = mismatches;
  if (strict && !keys.unexpected.empty())
    errors.insert(errors.begin(), fmt::format("Unexpected key(s) in state_dict: {}. ", quoted(keys.unexpected)));
  if (strict && !keys.missing.empty())
    errors.insert(errors.begin(), fmt::format("Missing key(s) in state_dict: {}. ", quoted(keys.missing)));
  if (errors.empty()) return;
  throw Error(fmt::format("Error(s) in loading state_dict for {}:\n\t{}", module.kind, fmt::join(errors, "\n\t")));
}

/// A tensor and its new value.
struct Writing {
  AnyTensor to, from;

  bool changes() const { return to.impl().data != from.impl().data || !(to.strides() == from.strides()); }
};

/// As if all were read before any is written (layers may be swapped): values about to change are copied first.
void write(const std::vector<Writing>& writings) {
  std::unordered_set<const runtime::Buffer*> changed;
  for (const Writing& w : writings)
    if (w.changes()) changed.insert(w.to.impl().buffer.get());
  std::vector<AnyTensor> sources;
  for (const Writing& w : writings)
    sources.push_back(changed.contains(w.from.impl().buffer.get()) ? w.from.clone() : w.from);
  for (std::size_t i = 0; i < writings.size(); ++i) jit::copy(writings[i].to.impl(), sources[i].impl());
}

}  // namespace

nn::IncompatibleKeys load_state(const ModuleNode& module, nn::NamedTensors state, bool strict) {
  const nn::NamedTensors own = state_of(module);
  for (const auto& [name, tensor] : state)
    if (!tensor.defined())
      throw Error(
          fmt::format("Error(s) in loading state_dict for {}:\n\t{} is an undefined tensor", module.kind, name));
  unwrap(state, own);
  std::unordered_map<std::string_view, AnyTensor> given(state.begin(), state.end());

  nn::IncompatibleKeys keys;
  std::vector<std::string> mismatches;
  for (const auto& [name, tensor] : own) {
    const auto found = given.find(name);
    if (found == given.end()) {
      keys.missing.push_back(name);
    } else if (std::string why = mismatch(name, tensor, found->second); !why.empty()) {
      mismatches.push_back(std::move(why));
    }
  }
  for (const auto& [name, tensor] : state)
    if (std::ranges::find(own, name, &nn::NamedTensors::value_type::first) == own.end())
      keys.unexpected.push_back(name);
  check(module, keys, mismatches, strict);

  std::vector<Writing> writings;
  for (const auto& [name, tensor] : own)
    if (const auto found = given.find(name); found != given.end()) writings.push_back({tensor, found->second});
  write(writings);
  return keys;
}

}  // namespace sinter::inline v1::detail
