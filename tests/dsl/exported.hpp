// Exported kernels as a program without Sinter uses them: compiled by the C compiler, with a fake driver.
#pragma once
#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include <jit/export/library.hpp>
#include <runtime/virtual_driver/virtual_cuda.hpp>
#include <sinter/sinter.hpp>
#include "runtime/gpus.hpp"
#include "scratch.hpp"

namespace sinter::testing {

/// The fake driver, loaded after Sinter has looked for its own driver.
inline const virtual_cuda::Library& driver() {
  static const auto* const opened = [] {
    (void)device_count();
    return new virtual_cuda::Library(SINTER_VIRTUAL_CUDA);
  }();
  return *opened;
}

/// Images for the fake driver: the CUDA source.
inline runtime::KernelReport text_image(const runtime::KernelSource& source, const std::string&) {
  runtime::KernelReport image;
  image.binary = fmt::format("{}{}\n{}", virtual_cuda::magic, source.name, source.text);
  if (image.binary.size() % 8 == 0) image.binary += '\n';  // so that a zero follows in a file of kernels
  return image;
}

/// An image for the driver in use; on a real GPU, its binary.
inline runtime::KernelReport image(const runtime::KernelSource& source, const std::string& architecture) {
  if (test::virtual_gpus) return text_image(source, architecture);
  if (architecture.starts_with("sm_")) return runtime::nvrtc_report(source, architecture);
  runtime::KernelReport ptx;
  ptx.binary = runtime::nvrtc_compile(source, architecture);
  return ptx;
}

inline std::string c_compiler() {
  const char* const named = std::getenv("CC");
  return named ? named : "cc";
}

/// A library of kernels, built with all warnings as errors.
class ExportedLibrary {
 public:
  explicit ExportedLibrary(const std::vector<jit::Export>& kernels, LibraryOptions options = {.architectures = {90}},
                           const std::string& optimization = "-O0")
      : library(jit::exporting::make_library(kernels, options, image)), files(jit::exporting::write_library(library)) {
    files.write(folder.path().string());
    const std::string base = folder.file(options.name);
    const std::string command =
        fmt::format("{0} -std=c99 {2} -Wall -Wextra -pedantic -Werror -shared -fPIC -o {1}.so {1}.c -lm -ldl 2>&1",
                    c_compiler(), base, optimization);
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    handle_ = dlopen((base + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle_) ADD_FAILURE() << dlerror();
  }
  /// One kernel, as a library of its own.
  explicit ExportedLibrary(const jit::Export& kernel)
      : ExportedLibrary(std::vector{kernel}, {.name = kernel.options.name, .architectures = {90}}) {}
  ExportedLibrary(const ExportedLibrary&) = delete;
  ExportedLibrary& operator=(const ExportedLibrary&) = delete;

  /// A function of the type F.
  template <class F>
  F* get(const std::string& name) const {
    void* const found = dlsym(handle_, name.c_str());
    EXPECT_NE(found, nullptr) << name;
    return reinterpret_cast<F*>(found);
  }

  ScratchFolder folder;
  const jit::exporting::Library library;
  const Exported files;

 private:
  void* handle_ = nullptr;
};

/// What exported functions return.
enum Code {
  ok,
  null_pointer,
  bad_size,
  misaligned,
  overlaps,
  bad_number,
  empty_reduction,
  division_by_zero,
  bad_workspace,
  out_of_memory,
  no_driver,
  old_driver,
  no_context,
  wrong_architecture,
  index_out_of_range,
  after_fork,
  bad_tensor,
  wrong_device,
  file_unreadable,
  file_mismatch,
  file_not_open,
  driver_error = 1000
};

inline const Device gpu0("cuda:0");

/// std::vector<bool> has no addressable elements.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

template <class T>
std::vector<Stored<T>> values(const Tensor<T>& t) {
  const Tensor<T> host = t.to(Device("cpu")).contiguous();
  return {host.data(), host.data() + host.numel()};
}

/// Bit for bit, NaN included.
template <class T>
::testing::AssertionResult same_bits(const Tensor<T>& a, const Tensor<T>& b) {
  const std::vector<Stored<T>> x = values(a), y = values(b);
  if (x.size() != y.size()) return ::testing::AssertionFailure() << x.size() << " and " << y.size() << " elements";
  for (std::size_t i = 0; i < x.size(); ++i)
    if (std::memcmp(&x[i], &y[i], sizeof(T)) != 0)
      return ::testing::AssertionFailure()
             << "element " << i << ": " << ::testing::PrintToString(x[i]) << " and " << ::testing::PrintToString(y[i]);
  return ::testing::AssertionSuccess();
}

/// Resets the fake driver.
class ExportedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    driver().use_context(0);
    driver().fail(nullptr, 0);
    driver().set_architecture(9, 0);
    driver().set_shared_memory(227 << 10);
  }
};

}  // namespace sinter::testing
