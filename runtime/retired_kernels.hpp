// Kernels that nobody launches any more, kept until no work can be running them.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include <sinter/runtime/backend.hpp>
#include "streams.hpp"

namespace sinter::inline v1::runtime {

/// Those of one device, whose work its streams order. Thread-safe.
class RetiredKernels : public std::enable_shared_from_this<RetiredKernels> {
 public:
  explicit RetiredKernels(Streams& streams) noexcept : streams_(streams) {}

  /// What a device's load() gives: `kernel`, whose destructor unloads it, is let go of when the last copy of the
  /// function is gone and the streams' work until then is done.
  Function share(std::shared_ptr<void> kernel);
  /// Also for what else kept kernels, as a graph's Capture.
  void add(std::shared_ptr<void> kernel) noexcept;
  /// Lets go of those whose work is done by now.
  void unload_done() noexcept;
  /// Lets go of all. The device must be idle, and is gone after this: kernels that come later stay.
  void close() noexcept;

 private:
  using Uses = std::vector<EventRef>;
  struct Retired {
    std::shared_ptr<void> kernel;
    std::shared_ptr<Uses> uses;  // null: not known yet
  };
  void find_uses();
  bool is_done(Retired& retired);

  Streams& streams_;
  std::mutex mutex_;
  std::vector<Retired> retired_;
  bool closed_ = false;
};

}  // namespace sinter::inline v1::runtime
