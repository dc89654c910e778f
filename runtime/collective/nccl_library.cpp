#include "nccl_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <optional>

#include <sinter/runtime/error.hpp>
#include "../cuda/library_search.hpp"
#include "../environment.hpp"
#include "../fork.hpp"
#include "../symbol.hpp"

namespace sinter::inline v1::runtime::nccl {
namespace {

constexpr const char* sonames[] = {"libnccl.so.2", "libnccl.so"};

bool resolve(void* opened, Library& table) {
  bool complete = true;
#define SINTER_NCCL_RESOLVE(result, name, ...) complete &= find_symbol(opened, #name, table.name);
  SINTER_NCCL_FUNCTIONS(SINTER_NCCL_RESOLVE)
#undef SINTER_NCCL_RESOLVE
  return complete;
}

std::optional<Library> open_library() {
  std::string problems;
  const NoFork no_fork;  // a child cannot use the loader if another thread was in it
  // Prefer what the process has already loaded: two versions of one library in a process cause trouble.
  for (const int flags : {RTLD_NOW | RTLD_NOLOAD, RTLD_NOW | RTLD_LOCAL})
    for (const std::string& candidate : library_candidates("SINTER_NCCL", "libnccl.so", sonames)) {
      Library table;
      void* const opened = dlopen(candidate.c_str(), flags);
      const char* const why = opened ? nullptr : dlerror();
      if (opened && resolve(opened, table)) {
        table.path = candidate;
        return table;
      }
      problems += fmt::format("\n  {}", why ? why : candidate + ": not NCCL, or older than 2.14");
      if (opened) dlclose(opened);
    }
  if (!environment("SINTER_NCCL").empty())
    throw DeviceError(fmt::format("NCCL, through which GPUs communicate, was not found at SINTER_NCCL={}.{}",
                                  searched_places("SINTER_NCCL"), problems));
  return std::nullopt;
}

}  // namespace

const Library* library() {
  static constinit NoDestructor<const std::optional<Library>> opened;
  const std::optional<Library>& found = opened.get([] { return new std::optional<Library>(open_library()); });
  return found ? &*found : nullptr;
}

std::string describe(const Library& library, Result result, Comm comm) {
  const char* const name = library.ncclGetErrorString(result);
  const char* const last = library.ncclGetLastError(comm);
  return fmt::format("{} ({}){}{}", name ? name : "unknown", result, last && *last ? ": " : "", last ? last : "");
}

}  // namespace sinter::inline v1::runtime::nccl
