#include "kernel.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <sinter/runtime/error.hpp>
#include <string_view>

#include "../fork.hpp"
#include "kernel_compiler.hpp"
#include "worker.hpp"

namespace sinter::inline v1::runtime::vgpu {
namespace {

/// Makes the C library's symbols global: kernels use them without linking to the library. Throws CudaError.
void open_mathematics() {
  static constinit std::atomic<bool> opened{false};
  if (opened) return;
  const NoFork no_fork;  // a child cannot use the loader if another thread was in it
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

std::shared_ptr<Kernel> load_kernel(const std::string& binary, const std::string& name) {
  if (static_shared_bytes(binary) < 0)
    throw BinaryRefused(fmt::format("Cannot load kernel {}: its {} bytes are not a shared object for this machine.",
                                    name, binary.size()));
  open_mathematics();
  auto kernel = std::make_shared<Kernel>(binary, name);
  const auto* info = static_cast<const sinter_virtual::KernelInfo*>(kernel->object.find("sinter_virtual_kernel"));
  if (!info || name != info->name) {
    const std::string holds = info ? info->name : "no kernel";
    throw BinaryRefused(fmt::format("Cannot load kernel {}: the binary holds {}.", name, holds));
  }
  kernel->info = *info;
  kernel->has_barriers = kernel->object.find("sinter_virtual_barrier") || kernel->object.find("sinter_virtual_warp");
  connect(*kernel);
  return kernel;
}

}  // namespace sinter::inline v1::runtime::vgpu
