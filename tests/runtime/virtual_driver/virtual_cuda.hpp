// A test's interface to the driver in virtual_cuda.cpp, which it loads as libcuda.so.1.
#pragma once
#include <dlfcn.h>

#include <stdexcept>
#include <string>

namespace virtual_cuda {

/// The first line of a valid image; the kernel's CUDA source follows.
inline constexpr char magic[] = "// virtual image of kernel ";

/// The fake driver's functions besides those of the driver.
class Library {
  template <class F, class... A>
  auto call(const char* name, A... a) const {
    void* const found = dlsym(handle_, name);
    if (!found) throw std::runtime_error(name);
    return reinterpret_cast<F*>(found)(a...);
  }

 public:
  explicit Library(const char* path) : handle_(dlopen(path, RTLD_NOW | RTLD_GLOBAL)) {
    if (!handle_) throw std::runtime_error(dlerror());
  }

  /// Makes the `id`th context of a GPU the calling thread's current one. -1: none.
  void use_context(int device, int id = 0) const { call<void(int, int)>("virtual_cuda_use_context", device, id); }
  /// From now on this function returns `result`; null: none fails.
  void fail(const char* function, int result) const {
    call<void(const char*, int)>("virtual_cuda_fail", function, result);
  }
  void set_architecture(int major, int minor) const {
    call<void(int, int)>("virtual_cuda_set_architecture", major, minor);
  }
  void set_shared_memory(int bytes) const { call<void(int)>("virtual_cuda_set_shared_memory", bytes); }
  int modules_loaded() const { return call<int()>("virtual_cuda_modules_loaded"); }
  int modules_unloaded() const { return call<int()>("virtual_cuda_modules_unloaded"); }
  int launches() const { return call<int()>("virtual_cuda_launches"); }
  /// The last launch: its entry, blocks and threads.
  const char* last_source() const { return call<const char*()>("virtual_cuda_last_source"); }
  unsigned last_shared() const { return call<unsigned()>("virtual_cuda_last_shared"); }

 private:
  void* handle_;
};

}  // namespace virtual_cuda
