#include "shared_object.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>

#include <sinter/runtime/backend.hpp>
#include "file_descriptor.hpp"
#include "fork.hpp"
#include "process.hpp"
#include "write.hpp"

namespace sinter::inline v1::runtime {
namespace {

/// A path to an open file that no other call returns: the loader treats equal paths as one object, and descriptors are
/// reused.
std::string unique_path(int fd) {
  static std::atomic<unsigned> serial{0};
  std::string path = "/proc/self/fd";
  for (unsigned n = ++serial; n; n >>= 1) path += n & 1 ? "/." : "/";
  return fmt::format("{}/{}", path, fd);
}

}  // namespace

SharedObject::SharedObject(const std::string& binary, const std::string& name) {
  const FileDescriptor file(::memfd_create(name.substr(0, 200).c_str(), MFD_CLOEXEC));
  if (!file) throw CudaError(fmt::format("Cannot load kernel {}: memfd_create: {}.", name, std::strerror(errno)));
  const int unwritten = write_all(file.get(), binary);
  const std::string path = unique_path(file.get());
  const NoFork no_fork;  // a child cannot use the loader if another thread was in it
  errno = 0;
  handle_ = unwritten == 0 ? ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  const int error = errno;
  if (handle_) return;
  const std::string problem =
      fmt::format("Cannot load kernel {}: {}.", name,
                  unwritten ? "its file in memory cannot be written: " + write_problem(unwritten) : ::dlerror());
  if (unwritten || is_resource_shortage(error)) throw CudaError(problem);
  throw BinaryRefused(problem);
}

SharedObject::~SharedObject() {
  const NoFork no_fork(std::nothrow);
  ::dlclose(handle_);
}

void* SharedObject::find(const char* symbol) const noexcept { return ::dlsym(handle_, symbol); }

}  // namespace sinter::inline v1::runtime
