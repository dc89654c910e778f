// Resources that CUDA graphs need while they can be launched: kernels, and workspaces of library calls.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include <sinter/runtime/stream_impl.hpp>
#include "context.hpp"

namespace sinter::inline v1::runtime {

/// Resources of one graph and of those made from it by copying or instantiating.
class Capture {
 public:
  /// Memory from the pool.
  struct Workspace {
    void* data;
    std::size_t bytes;
    StreamImpl* stream;  // the stream that uses it, one call after another
  };

  void keep(std::shared_ptr<void> kernel);
  /// A workspace of at least this many bytes that the stream uses; null if there is none.
  void* workspace(std::size_t bytes, const StreamImpl& stream);
  void add(const Workspace& workspace);

  /// To be freed when the graphs are destroyed.
  const std::vector<Workspace>& workspaces() const noexcept { return workspaces_; }

 private:
  std::mutex mutex_;
  std::set<std::shared_ptr<void>> kernels_;
  std::vector<Workspace> workspaces_;
};

/// The graphs that streams of one device capture, or have captured and may launch. Thread-safe.
class Captures {
 public:
  explicit Captures(const CudaContext& context) noexcept : context_(context) {}

  /// The resources of the graph being captured from a stream; null if there is none. The context must be current.
  /// Throws CudaError.
  std::shared_ptr<Capture> of(driver::CUstream stream);
  /// Returns those whose graphs were destroyed since the last call, and forgets them.
  std::vector<std::shared_ptr<Capture>> take_ended() noexcept;
  /// Returns all, and forgets them; no graph may be launched any more.
  std::vector<std::shared_ptr<Capture>> take_all() noexcept;

 private:
  struct CaptureTable {
    std::mutex mutex;
    std::map<std::uint64_t, std::shared_ptr<Capture>> by_id;
    std::vector<std::uint64_t> ended;  // with capacity for all of them
  };
  struct Owner {  // owned by the graph
    std::shared_ptr<CaptureTable> known;
    std::uint64_t id;
  };
  static void ended(void* owner) noexcept;
  std::shared_ptr<Capture> add(driver::CUgraph graph, std::uint64_t id);

  const CudaContext& context_;
  const std::shared_ptr<CaptureTable> known_ = std::make_shared<CaptureTable>();
};

}  // namespace sinter::inline v1::runtime
