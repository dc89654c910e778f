#include "peers.hpp"

namespace sinter::inline v1::runtime {

void Peers::reach(const CudaContext& other) {
  const std::lock_guard lock(mutex_);
  if (asked_.insert(other.index()).second) open(other);
}

// A failure here only costs speed: a lost device is reported by the copy that follows.
void Peers::open(const CudaContext& other) const noexcept {
  int can = 0;
  if (d_.cuDeviceCanAccessPeer(&can, context_.device(), other.device()) != driver::success || !can) return;
  d_.cuCtxEnablePeerAccess(other.handle(), 0);  // another library may have enabled it already
  // The driver's memory pool needs its own permission.
  driver::CUmemoryPool pool = nullptr;
  if (!d_.cuDeviceGetDefaultMemPool || !d_.cuMemPoolSetAccess) return;
  if (d_.cuDeviceGetDefaultMemPool(&pool, other.device()) != driver::success) return;
  const driver::MemoryAccess access{driver::location_device, context_.device(), driver::access_read_write};
  d_.cuMemPoolSetAccess(pool, &access, 1);
}

}  // namespace sinter::inline v1::runtime
