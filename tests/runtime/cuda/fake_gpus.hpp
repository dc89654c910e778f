// Two GPUs of a fake driver, whose streams defer work until something waits for it.
#pragma once
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>

#include <runtime/fake_driver/fake_cublas.hpp>
#include <runtime/fake_driver/fake_cuda.hpp>

#include "setup.hpp"

namespace sinter::testing {

/// Loads the fake before anything looks for a driver.
inline fake_cuda::Control& fake() {
  static fake_cuda::Control& control = []() -> fake_cuda::Control& {
    unsetenv("SINTER_VIRTUAL_GPUS");
    setenv("SINTER_CUDA_DRIVER", SINTER_FAKE_CUDA, 1);
    void* library = dlopen(SINTER_FAKE_CUDA, RTLD_LAZY);
    if (!library) throw std::runtime_error(dlerror());
    return *reinterpret_cast<fake_cuda::Control* (*)()>(dlsym(library, "fake_cuda_control"))();
  }();
  return control;
}

/// The fake cuBLASLt in its initial state, except for living objects.
inline fake_cublas::Control& fake_blas() {
  fake();
  static fake_cublas::Control& control = *reinterpret_cast<fake_cublas::Control* (*)()>(
      dlsym(dlopen(SINTER_FAKE_CUDA, RTLD_LAZY), "fake_cublas_control"))();
  setenv("SINTER_CUBLAS", SINTER_FAKE_CUDA, 1);
  return control;
}

/// The fake in its initial state, with an NVRTC that compiles nothing, so that expressions evaluate without a toolkit.
inline fake_cuda::Control& fake_for_expressions() {
  fake_cuda::Control fresh;
  std::copy_n(fake().used, 8, fresh.used);  // expressions use GPUs that keep their memory between tests
  fresh.any_binary = true;
  fake() = fresh;
  setenv("SINTER_NVRTC", SINTER_FAKE_CUDA, 1);
  test::keep_kernels_in_memory();  // its binaries are not real
  return fake();
}

/// The driver calls made by `work`, except those that query the thread's context.
template <class F>
std::map<std::string, int> calls_of(F work) {
  fake().calls.clear();
  work();
  std::map<std::string, int> calls = fake().calls;
  calls.erase("cuCtxGetCurrent");
  calls.erase("cuCtxSetCurrent");
  return calls;
}

}  // namespace sinter::testing
