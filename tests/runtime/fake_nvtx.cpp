// A profiler's library for NVTX: writes a line for each call to the file that FAKE_NVTX_LINES names.
#include <cstdio>
#include <cstdlib>

#include <runtime/trace/nvtx.hpp>

namespace nvtx = sinter::runtime::nvtx;

namespace {

FILE* lines() {
  static FILE* const file = std::fopen(std::getenv("FAKE_NVTX_LINES"), "w");
  return file;
}

const char domain = 0;

nvtx::Domain create(const char* name) {
  std::fprintf(lines(), "domain %s\n", name);
  return reinterpret_cast<nvtx::Domain>(const_cast<char*>(&domain));
}
void name_category(nvtx::Domain, std::uint32_t number, const char* name) {
  std::fprintf(lines(), "category %u %s\n", number, name);
}
int push(nvtx::Domain d, const nvtx::EventAttributes* e) {
  const bool is_ours = reinterpret_cast<char*>(d) == &domain && e->version == 3 && e->size == sizeof *e;
  std::fprintf(lines(), "push %u %s%s\n", e->category, e->message, is_ours && e->message_type == 1 ? "" : " BAD");
  return 0;
}
int pop(nvtx::Domain) {
  std::fprintf(lines(), "pop\n");
  std::fflush(lines());
  return 0;
}

}  // namespace

extern "C" int InitializeInjectionNvtx2(nvtx::FindTable find) {
  const auto& version = *static_cast<const nvtx::VersionTable*>(find(nvtx::table_version));
  version.set_tool_version(1);
  std::fprintf(lines(), "version %u, %s\n", version.version, find(2) ? "a table too many" : "no other table");
  const auto& callbacks = *static_cast<const nvtx::CallbackTable*>(find(nvtx::table_callbacks));
  nvtx::AnyFunction** functions = nullptr;
  unsigned bytes = 0;
  for (const int module : {2, 3, 4, 6})
    if (callbacks.functions_of(module, &functions, &bytes)) return 0;
  if (!callbacks.functions_of(nvtx::module_core, &functions, &bytes)) return 0;
  if (!callbacks.functions_of(nvtx::module_core2, &functions, &bytes)) return 0;
  const std::size_t count = bytes / sizeof *functions;
  if (count != nvtx::functions + 1 || functions[0] || functions[count - 1]) return 0;
  *functions[nvtx::domain_create] = reinterpret_cast<nvtx::AnyFunction>(create);
  *functions[nvtx::domain_name_category] = reinterpret_cast<nvtx::AnyFunction>(name_category);
  *functions[nvtx::domain_range_push_ex] = reinterpret_cast<nvtx::AnyFunction>(push);
  *functions[nvtx::domain_range_pop] = reinterpret_cast<nvtx::AnyFunction>(pop);
  return 1;
}
