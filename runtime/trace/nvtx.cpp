#include "nvtx.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <memory>
#include <string>

#include "../environment.hpp"
#include "../fork.hpp"
#include "../log.hpp"
#include "../text.hpp"

namespace sinter::inline v1::runtime::nvtx {
namespace {

/// A table that a tool fills with its functions: an array of pointers to the entries, as the protocol requires.
class Functions {
 public:
  Functions() {
    for (std::size_t i = 1; i < functions; ++i) places_[i] = &own_[i];
  }
  AnyFunction** places() noexcept { return places_.data(); }
  /// Includes the null pointer at the end.
  static constexpr unsigned bytes() noexcept { return (functions + 1) * sizeof(AnyFunction*); }
  AnyFunction at(std::size_t number) const noexcept { return own_[number]; }

 private:
  std::array<AnyFunction, functions> own_{};
  std::array<AnyFunction*, functions + 1> places_{};
};

Functions& functions_of(int module) {
  static constinit NoDestructor<Functions> core, core2;
  return module == module_core ? core.get() : core2.get();
}

int give_functions(int module, AnyFunction*** found, unsigned* bytes) {
  if (module != module_core && module != module_core2) return 0;
  if (found) *found = functions_of(module).places();
  if (bytes) *bytes = Functions::bytes();
  return 1;
}

const void* give_table(std::uint32_t table) {
  static constexpr CallbackTable callbacks{sizeof(CallbackTable), give_functions};
  static constexpr VersionTable own{sizeof(VersionTable), version, 0, [](std::uint32_t) {}};
  if (table == table_callbacks) return &callbacks;
  return table == table_version ? &own : nullptr;
}

/// Injects the library. Returns why that failed; empty if it did not.
std::string inject(const char* path) {
  void* library = nullptr;
  {
    const NoFork no_fork;  // a child cannot use the loader if another thread was in it
    library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  }
  if (!library) return dlerror();
  const auto initialize = reinterpret_cast<Initialize>(dlsym(library, "InitializeInjectionNvtx2"));
  if (!initialize) return "it does not export InitializeInjectionNvtx2";
  return initialize(give_table) != 0 ? "" : "its InitializeInjectionNvtx2 failed";
}

std::unique_ptr<const Tool> find_tool() {
  const char* const path = trusted_getenv("NVTX_INJECTION64_PATH");
  if (!path || !*path) return nullptr;
  if (const std::string problem = inject(path); !problem.empty()) {
    notice(fmt::format("NVTX ranges are disabled: the library NVTX_INJECTION64_PATH={} cannot be used: {}", quote(path),
                       problem));
    return nullptr;
  }
  const Functions& given = functions_of(module_core2);
  const AnyFunction push = given.at(domain_range_push_ex), pop = given.at(domain_range_pop);
  if (!push || !pop) return nullptr;  // the tool does not record ranges
  return std::make_unique<const Tool>(given.at(domain_create), push, pop, given.at(domain_name_category));
}

}  // namespace

Tool::Tool(AnyFunction create, AnyFunction push, AnyFunction pop, AnyFunction name_category)
    : push_(reinterpret_cast<decltype(push_)>(push)),
      pop_(reinterpret_cast<decltype(pop_)>(pop)),
      domain_(create ? reinterpret_cast<Domain (*)(const char*)>(create)("sinter") : nullptr) {
  if (!name_category) return;
  const auto give_name = reinterpret_cast<void (*)(Domain, std::uint32_t, const char*)>(name_category);
  for (std::uint32_t i = 0; i < trace_categories; ++i) give_name(domain_, 1 + i, name(static_cast<TraceCategory>(i)));
}

void Tool::push(const TraceRecord& record) const noexcept {
  EventAttributes range;
  range.category = 1 + static_cast<std::uint32_t>(record.category);
  range.message = record.name.data();
  push_(domain_, &range);
}

void Tool::pop() const noexcept { pop_(domain_); }

const Tool* tool() noexcept try {
  static constinit NoDestructor<const std::unique_ptr<const Tool>> found;
  return found.get([] { return new std::unique_ptr<const Tool>(find_tool()); }).get();
} catch (...) {  // out of memory
  return nullptr;
}

}  // namespace sinter::inline v1::runtime::nvtx
