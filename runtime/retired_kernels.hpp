// Kernels that are no longer launched, kept until no work can be running them.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include <sinter/runtime/backend.hpp>
#include "streams.hpp"

namespace sinter::inline v1::runtime {

/// The retired kernels of one device, whose streams order its work. Thread-safe.
class RetiredKernels : public std::enable_shared_from_this<RetiredKernels> {
 public:
  explicit RetiredKernels(Streams& streams) noexcept : streams_(streams) {}

  /// The result of a device's load(). `kernel`, whose destructor unloads it, is released when the last copy of the
  /// function is destroyed and the streams' work until then is done.
  KernelHandle share(std::shared_ptr<void> kernel);
  /// Also for other owners of kernels, such as a graph's Capture.
  void add(std::shared_ptr<void> kernel) noexcept;
  /// Releases those whose work is done.
  void unload_done() noexcept;
  /// Releases all. The device must be idle and is destroyed after this: kernels added later are leaked.
  void close() noexcept;

 private:
  using StreamUses = std::vector<EventRef>;
  struct Retired {
    std::shared_ptr<void> kernel;
    std::shared_ptr<StreamUses> uses;  // null: not known yet
  };
  void find_uses();
  bool is_done(Retired& retired);

  Streams& streams_;
  std::mutex mutex_;
  std::vector<Retired> retired_;
  bool closed_ = false;
};

}  // namespace sinter::inline v1::runtime
