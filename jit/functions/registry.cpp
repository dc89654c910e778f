// Functions that have been defined.
#include <fmt/format.h>
#include <xxhash.h>

#include <map>
#include <memory>
#include <mutex>

#include <runtime/fork.hpp>
#include <runtime/text.hpp>
#include <sinter/runtime/error.hpp>
#include "functions.hpp"
#include "source_check.hpp"
#include "words.hpp"

namespace sinter::inline v1::jit {
namespace {

/// Those of this process; none is ever removed.
struct Registry {
  std::mutex mutex;
  std::map<FunctionId, std::unique_ptr<const DeviceFunction>> functions;
  std::map<std::string, FunctionId, std::less<>> newest;  // by name
};

Registry& registry() {
  static constinit runtime::NoDestructor<Registry> all;
  return all.get([] { return new Registry; });
}

FunctionId id_of(const FunctionSource& source) {
  std::string text = fmt::format("{} {}", name(source.result), source.name);
  for (const FunctionSource::Parameter& p : source.parameters) text += fmt::format(" {} {}", name(p.dtype), p.name);
  text += '\0' + source.body;
  for (const std::string& d : source.derivatives) text += '\0' + d;
  return FunctionId{XXH3_64bits(text.data(), text.size()) & ~std::uint64_t{1}};
}

FunctionId add(DeviceFunction made) {
  Registry& all = registry();
  const runtime::ForkSafeLock lock(all.mutex);
  const FunctionId id = made.id;
  if (!made.gradient_parameter) all.newest.insert_or_assign(made.source.name, id);
  if (!all.functions.contains(id)) all.functions.emplace(id, std::make_unique<const DeviceFunction>(std::move(made)));
  return id;
}

DeviceFunction made(FunctionSource source) {
  const FunctionId id = id_of(source);
  std::string symbol = fmt::format("{}_{:08x}", source.name, static_cast<std::uint64_t>(id) >> 32);
  return {id, std::move(source), std::move(symbol), {}, {}};
}

/// The function that computes the derivative with respect to parameter `i`.
FunctionId define_derivative(const FunctionSource& of, std::size_t i) {
  FunctionSource d{fmt::format("{}_derivative_{}", of.name, of.parameters[i].name),
                   of.parameters[i].dtype,
                   of.parameters,
                   of.derivatives[i],
                   {}};
  d.parameters.push_back({std::string(gradient_name), of.result});
  if (has_word(d.body, result_name)) d.parameters.push_back({std::string(result_name), of.result});
  DeviceFunction derivative = made(std::move(d));
  derivative.gradient_parameter = of.parameters.size();
  return add(std::move(derivative));
}

}  // namespace

FunctionId define_function(FunctionSource source) {
  check_source(source);
  DeviceFunction function = made(std::move(source));
  for (std::size_t i = 0; i < function.source.derivatives.size(); ++i)
    function.derivatives.push_back(
        function.source.derivatives[i].empty() ? std::nullopt : std::optional(define_derivative(function.source, i)));
  return add(std::move(function));
}

const DeviceFunction& function_of(FunctionId id) {
  Registry& all = registry();
  const runtime::ForkSafeLock lock(all.mutex);
  const auto found = all.functions.find(id);
  if (found == all.functions.end())
    throw Error(
        "call: no device function with this id has been defined in this process: define it before it is called");
  return *found->second;
}

const FunctionSource& source_of(FunctionId id) { return function_of(id).source; }

std::optional<FunctionId> function_named(std::string_view name) {
  Registry& all = registry();
  const runtime::ForkSafeLock lock(all.mutex);
  const auto found = all.newest.find(name);
  return found == all.newest.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace sinter::inline v1::jit
