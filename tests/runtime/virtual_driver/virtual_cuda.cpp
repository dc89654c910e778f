// A CUDA driver whose GPUs are Sinter's virtual ones: for programs that were made to need nothing of Sinter. Opened
// before them, it is the libcuda.so.1 that they find. Its images are CUDA texts; kernels are done when a launch
// returns.
#include "virtual_cuda.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <runtime/virtual/kernel.hpp>
#include <sinter/runtime/backend.hpp>

namespace {

namespace runtime = sinter::runtime;

struct Context {
  int device = -1, id = 0;
};

struct Module {
  std::string name, text;
  int device;
  bool is_loaded = true;
};

struct KernelHandle {
  runtime::KernelHandle function;
  Module* module;
  unsigned pointers, words;
};

struct State {
  std::mutex mutex;
  std::deque<Context> contexts;
  std::deque<Module> modules;
  std::deque<KernelHandle> functions;
  std::string failing, last_source;
  int unloaded = 0;
  int result = 0, major = 9, minor = 0, shared = 227 << 10, launches = 0;
  unsigned last_shared = 0;
};
State& state() {
  static auto& made = *new State;
  return made;
}
thread_local Context* current = nullptr;

constexpr int invalid_value = 1, invalid_handle = 400, no_binary = 209, not_found = 500, launch_failed = 719;

int failure(const char* function) {
  const std::lock_guard lock(state().mutex);
  return state().failing == function ? state().result : 0;
}
#define ENTER() \
  if (const int entered = failure(__func__)) return entered

/// How many members of the kernel's parameters are pointers: they come first.
unsigned count_pointers(const Module& m) {
  const std::size_t begin = m.text.find("struct " + m.name + "_params {");
  std::string_view members = std::string_view(m.text).substr(m.text.find('\n', begin) + 1);
  unsigned count = 0;
  for (;; ++count) {
    const std::string_view line = members.substr(0, members.find('\n'));
    if (line.find("* ") == std::string_view::npos) return count;
    members.remove_prefix(line.size() + 1);
  }
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED void virtual_cuda_use_context(int device, int id) {
  const std::lock_guard lock(state().mutex);
  current = nullptr;
  if (device < 0) return;
  for (Context& c : state().contexts)
    if (c.device == device) current = &c;
  if (!current) current = &state().contexts.emplace_back(Context{device});
  current->id = id;
}
EXPORTED void virtual_cuda_fail(const char* function, int result) {
  const std::lock_guard lock(state().mutex);
  state().failing = function ? function : "", state().result = result;
}
EXPORTED void virtual_cuda_set_architecture(int major, int minor) { state().major = major, state().minor = minor; }
EXPORTED void virtual_cuda_set_shared_memory(int bytes) { state().shared = bytes; }
EXPORTED int virtual_cuda_modules_loaded() { return static_cast<int>(state().modules.size()); }
EXPORTED int virtual_cuda_modules_unloaded() { return state().unloaded; }
EXPORTED int virtual_cuda_launches() { return state().launches; }
EXPORTED const char* virtual_cuda_last_source() { return state().last_source.c_str(); }
EXPORTED unsigned virtual_cuda_last_shared() { return state().last_shared; }

EXPORTED int cuInit(unsigned) {
  ENTER();
  return 0;
}
EXPORTED int cuGetErrorString(int, const char** text) {
  *text = "as the stand-in was told";
  return 0;
}
EXPORTED int cuCtxGetCurrent(void** context) {
  ENTER();
  *context = current;
  return 0;
}
EXPORTED int cuCtxGetId(void* context, unsigned long long* id) {
  *id = 1 + static_cast<unsigned long long>(static_cast<Context*>(context)->id);
  return 0;
}
EXPORTED int cuCtxGetDevice(int* device) {
  *device = current->device;
  return 0;
}
EXPORTED int cuDeviceGetAttribute(int* value, int attribute, int device) {
  ENTER();
  switch (attribute) {
    case 75: return *value = state().major, 0;
    case 76: return *value = state().minor, 0;
    case 16: return *value = runtime::gpu(device).multiprocessors(), 0;
    case 97: return *value = state().shared, 0;
    default: return invalid_value;
  }
}
EXPORTED int cuModuleLoadData(void** module, const void* image) {
  ENTER();
  const std::string_view text(static_cast<const char*>(image));
  if (!text.starts_with(virtual_cuda::magic)) return no_binary;
  const std::size_t begin = std::strlen(virtual_cuda::magic), end = text.find('\n');
  const std::lock_guard lock(state().mutex);
  *module = &state().modules.emplace_back(
      Module{std::string(text.substr(begin, end - begin)), std::string(text.substr(end + 1)), current->device});
  return 0;
}
EXPORTED int cuModuleUnload(void* module) {
  ENTER();
  const std::lock_guard lock(state().mutex);
  auto& m = *static_cast<Module*>(module);
  if (!m.is_loaded || m.device != current->device) return invalid_handle;
  m.is_loaded = false;
  ++state().unloaded;
  return 0;
}
EXPORTED int cuModuleGetFunction(void** function, void* module, const char* name) {
  ENTER();
  auto& m = *static_cast<Module*>(module);
  if (m.name != name) return not_found;
  runtime::GpuBackend& gpu = runtime::gpu(m.device);
  const runtime::KernelHandle loaded = gpu.load(gpu.compile({m.name, m.text}), m.name);
  const auto& kernel = *static_cast<const runtime::vgpu::Kernel*>(loaded.handle());
  const std::lock_guard lock(state().mutex);
  *function =
      &state().functions.emplace_back(KernelHandle{loaded, &m, count_pointers(m), kernel.info.parameter_bytes / 8});
  return 0;
}
EXPORTED int cuFuncGetAttribute(int* value, int, void*) {
  *value = 0;
  return 0;
}
EXPORTED int cuFuncSetAttribute(void*, int, int) { return 0; }
EXPORTED int cuLaunchKernel(void* function, unsigned grid, unsigned, unsigned, unsigned block, unsigned, unsigned,
                            unsigned shared, void*, void** parameters, void**) {
  ENTER();
  const auto& f = *static_cast<const KernelHandle*>(function);
  if (!f.module->is_loaded) return invalid_handle;
  {
    const std::lock_guard lock(state().mutex);
    ++state().launches;
    state().last_source = f.module->text;
    state().last_shared = shared;
  }
  try {
    runtime::gpu(f.module->device)
        .launch({.kernel = f.function.handle(),
                 .grid = grid,
                 .block = block,
                 .shared = shared,
                 .words = {static_cast<const std::uint64_t*>(parameters[0]), f.words},
                 .pointers = f.pointers});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return launch_failed;
  }
  return 0;
}
