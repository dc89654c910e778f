#include "peers.hpp"

namespace sinter::inline v1::runtime {

void Peers::reach(const CudaContext& other) {
  const std::lock_guard lock(mutex_);
  if (asked_.insert(other.index()).second) open(other);
}

// What fails here costs speed and nothing else: the copy that follows reports a device that is lost.
void Peers::open(const CudaContext& other) const noexcept {
  int can = 0;
  if (d_.cuDeviceCanAccessPeer(&can, context_.device(), other.device()) != driver::success || !can) return;
  d_.cuCtxEnablePeerAccess(other.handle(), 0);  // another library may have done it already
  // Memory of the driver's pool is opened by itself.
  driver::CUmemoryPool pool = nullptr;
  if (!d_.cuDeviceGetDefaultMemPool || !d_.cuMemPoolSetAccess) return;
  if (d_.cuDeviceGetDefaultMemPool(&pool, other.device()) != driver::success) return;
  const driver::MemoryAccess access{driver::location_device, context_.device(), driver::access_read_write};
  d_.cuMemPoolSetAccess(pool, &access, 1);
}

}  // namespace sinter::inline v1::runtime
