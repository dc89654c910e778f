// Direct access from one GPU to the memory of others.
#pragma once
#include <mutex>
#include <set>

#include "context.hpp"

namespace sinter::inline v1::runtime {

/// Optional: without it, the driver sends copies between GPUs through the host. Thread-safe.
class Peers {
 public:
  explicit Peers(const CudaContext& context) : context_(context), d_(context.driver()) {}

  /// The first call enables this GPU's access to the other's memory, if supported. The context must be current.
  void reach(const CudaContext& other);

 private:
  void open(const CudaContext& other) const noexcept;

  const CudaContext& context_;
  const driver::Driver& d_;
  std::mutex mutex_;
  std::set<int> asked_;
};

}  // namespace sinter::inline v1::runtime
