// Shared code of the virtual GPU tests: arrays on a device, and one-line kernels.
#pragma once
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <memory>
#include <runtime/virtual/virtual_gpu.hpp>
#include <sinter/runtime/error.hpp>
#include <string>
#include <type_traits>
#include <vector>

namespace sinter::test {

using runtime::GpuBackend;
using runtime::KernelHandle;
using runtime::KernelSource;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool is_sanitized = true;
#elif defined(__has_feature)
inline constexpr bool is_sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool is_sanitized = false;
#endif

inline GpuBackend& virtual_gpu(int index) {
  static const std::unique_ptr<GpuBackend> gpus[] = {runtime::make_virtual_gpu(0), runtime::make_virtual_gpu(1)};
  return *gpus[index];
}

/// Device memory that is freed with the object.
template <class T>
class Array {
 public:
  explicit Array(std::size_t n, int gpu = 0)
      : n_(n), gpu_(gpu), data_(static_cast<T*>(virtual_gpu(gpu).allocate(n * sizeof(T)))) {}
  explicit Array(const std::vector<T>& values, int gpu = 0) : Array(values.size(), gpu) { set(values); }
  ~Array() { virtual_gpu(gpu_).deallocate(data_, n_ * sizeof(T)); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  T* data() const { return data_; }
  void set(const std::vector<T>& values) { virtual_gpu(gpu_).upload(data_, values.data(), n_ * sizeof(T)); }
  std::vector<T> get() const {
    std::vector<T> values(n_);
    virtual_gpu(gpu_).download(values.data(), data_, n_ * sizeof(T));
    return values;
  }

 private:
  std::size_t n_;
  int gpu_;
  T* data_;
};

/// A kernel with parameters `p`, whose fields are written as in a struct. Line 3 is the body's first.
inline KernelSource kernel_source(const std::string& name, const std::string& fields, const std::string& body,
                                  const std::string& before = "", const std::string& attributes = "") {
  return {name, fmt::format("struct {0}_params {{ {1} }}; {3}\nextern \"C\" __global__ void {4} {0}(const "
                            "__grid_constant__ {0}_params p) {{\n{2}\n}}\n",
                            name, fields, body, before, attributes)};
}

inline std::uint64_t word(std::uint64_t v) { return v; }
inline std::uint64_t word(long long v) { return static_cast<std::uint64_t>(v); }
inline std::uint64_t word(int v) { return static_cast<std::uint64_t>(static_cast<std::uint32_t>(v)); }
inline std::uint64_t word(float v) { return std::bit_cast<std::uint32_t>(v); }
template <class T>
std::uint64_t word(T* v) {
  return reinterpret_cast<std::uint64_t>(v);
}
template <class T>
std::uint64_t word(const Array<T>& v) {
  return word(v.data());
}
template <class T>
inline constexpr bool is_pointer_argument = std::is_pointer_v<T>;
template <class T>
inline constexpr bool is_pointer_argument<Array<T>> = true;

struct Geometry {
  unsigned grid, block, shared = 0;
};

/// Launches with the arguments as parameters; leading arrays and pointers count as pointers.
template <class... A>
void launch(GpuBackend& gpu, const KernelHandle& function, Geometry g, const A&... arguments) {
  const std::vector<std::uint64_t> words{word(arguments)...};
  const bool is_pointer[] = {is_pointer_argument<A>..., false};
  unsigned pointers = 0;
  while (is_pointer[pointers]) ++pointers;
  gpu.launch({.kernel = function.handle(),
              .grid = g.grid,
              .block = g.block,
              .shared = g.shared,
              .words = words,
              .pointers = pointers});
}

/// A kernel compiled once and loaded on both devices.
class TestKernel {
 public:
  explicit TestKernel(const KernelSource& source) {
    const std::string binary = virtual_gpu(0).compile(source);
    for (int i : {0, 1}) function_[i] = virtual_gpu(i).load(binary, source.name);
  }
  template <class... A>
  void operator()(Geometry g, const A&... arguments) const {
    launch(virtual_gpu(0), function_[0], g, arguments...);
  }
  const KernelHandle& on(int gpu) const { return function_[gpu]; }

 private:
  KernelHandle function_[2];
};

/// The message of the CudaError that `f` throws; "no error" if it throws none.
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const CudaError& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace sinter::test
