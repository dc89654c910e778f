#include "kernel.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <sinter/runtime/error.hpp>
#include <string_view>

#include "../file_descriptor.hpp"
#include "../fork.hpp"
#include "../process.hpp"
#include "../write.hpp"
#include "files.hpp"
#include "host_compiler.hpp"
#include "worker.hpp"

namespace sinter::inline v1::runtime::vgpu {
namespace {

/// A path to an open file that no other call returns: the loader treats equal paths as one object, and descriptors are
/// reused.
std::string unique_path(int fd) {
  static std::atomic<unsigned> serial{0};
  std::string path = "/proc/self/fd";
  for (unsigned n = ++serial; n; n >>= 1) path += n & 1 ? "/." : "/";
  return fmt::format("{}/{}", path, fd);
}

void* open_object(const std::string& binary, const std::string& name) {
  const FileDescriptor file(::memfd_create(name.substr(0, 200).c_str(), MFD_CLOEXEC));
  if (!file) throw CudaError(fmt::format("Cannot load kernel {}: memfd_create: {}.", name, std::strerror(errno)));
  const int unwritten = write_all(file.get(), binary);
  const std::string path = unique_path(file.get());
  errno = 0;
  void* const handle = unwritten == 0 ? ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  const int error = errno;
  if (handle) return handle;
  const std::string problem =
      fmt::format("Cannot load kernel {} for a virtual GPU: {}.", name,
                  unwritten ? "its file in memory cannot be written: " + write_problem(unwritten) : ::dlerror());
  if (unwritten || is_resource_shortage(error)) throw CudaError(problem);
  throw BinaryRefused(problem);
}

/// Makes the C library's symbols global: kernels use them without linking to the library. Throws CudaError.
void open_mathematics() {
  static constinit std::atomic<bool> opened{false};
  if (opened) return;
  if (!::dlopen("libm.so.6", RTLD_NOW | RTLD_GLOBAL))
    throw CudaError(fmt::format("Virtual GPUs cannot open the C library's functions: {}.", ::dlerror()));
  opened = true;
}

/// Passes the kernel the offsets of the runtime's state and of its dynamic shared memory.
void connect(Kernel& kernel) {
  *kernel.info.state_offset = Worker::state_offset();
  const long shared = static_shared_bytes(kernel.binary);
  kernel.static_shared = kernel.static_area = shared > 0 ? static_cast<std::size_t>(shared) : 0;
  if (!kernel.info.dynamic_address) return;
  kernel.static_shared -= dynamic_symbol_bytes;
  *kernel.info.dynamic_offset = Worker::offset_of_dynamic_shared(kernel.info.dynamic_address);
}

}  // namespace

int line_of(const Kernel& kernel, std::uintptr_t instruction) noexcept {
  Dl_info of_instruction{}, of_kernel{};
  if (!::dladdr(reinterpret_cast<void*>(instruction), &of_instruction) ||
      !::dladdr(reinterpret_cast<void*>(kernel.info.run), &of_kernel) ||
      of_instruction.dli_fbase != of_kernel.dli_fbase)
    return 0;
  return line_of(kernel.binary, instruction - reinterpret_cast<std::uintptr_t>(of_kernel.dli_fbase));
}

Kernel::~Kernel() {
  if (!object) return;
  const NoFork no_fork(std::nothrow);  // a child cannot use the loader if another thread was in it
  ::dlclose(object);
}

std::shared_ptr<Kernel> load_kernel(const std::string& binary, const std::string& name) {
  if (static_shared_bytes(binary) < 0)
    throw BinaryRefused(fmt::format("Cannot load kernel {}: its {} bytes are not a shared object for this machine.",
                                    name, binary.size()));
  const NoFork no_fork;  // a child cannot use the loader if another thread was in it
  open_mathematics();
  auto kernel = std::make_shared<Kernel>();
  kernel->name = name;
  kernel->binary = binary;
  void* const handle = kernel->object = open_object(binary, name);
  const auto* info = static_cast<const sinter_virtual::KernelInfo*>(::dlsym(handle, "sinter_virtual_kernel"));
  if (!info || name != info->name) {
    const std::string holds = info ? info->name : "no kernel";
    throw BinaryRefused(fmt::format("Cannot load kernel {}: the binary holds {}.", name, holds));
  }
  kernel->info = *info;
  kernel->has_barriers = ::dlsym(handle, "sinter_virtual_barrier") || ::dlsym(handle, "sinter_virtual_warp");
  connect(*kernel);
  return kernel;
}

}  // namespace sinter::inline v1::runtime::vgpu
