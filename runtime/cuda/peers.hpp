// Direct access of one GPU to the memory of others.
#pragma once
#include <mutex>
#include <set>

#include "context.hpp"

namespace sinter::inline v1::runtime {

/// Copies between GPUs work without it: then the driver sends them through the host. Thread-safe.
class Peers {
 public:
  explicit Peers(const CudaContext& context) : context_(context), d_(context.driver()) {}

  /// Opens the other's memory to this GPU where the hardware can, on the first call. The context must be current.
  void reach(const CudaContext& other);

 private:
  void open(const CudaContext& other) const noexcept;

  const CudaContext& context_;
  const driver::Driver& d_;
  std::mutex mutex_;
  std::set<int> asked_;
};

}  // namespace sinter::inline v1::runtime
