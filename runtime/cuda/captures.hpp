// What CUDA graphs need for as long as they can be launched: kernels, and memory that library calls work in.
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

/// Of one graph and those that are made of it, by copying or instantiating.
class Capture {
 public:
  /// Memory of the pool.
  struct Workspace {
    void* data;
    std::size_t bytes;
    StreamImpl* stream;  // that works in it, one piece of work after the other
  };

  void keep(std::shared_ptr<void> kernel);
  /// One of at least so many bytes that the stream works in; null where there is none.
  void* workspace(std::size_t bytes, const StreamImpl& stream);
  void add(const Workspace& workspace);

  /// For when the graphs are gone.
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

  /// Of the graph that is being captured from a stream; null where none is. The context must be current. Throws
  /// CudaError.
  std::shared_ptr<Capture> of(driver::CUstream stream);
  /// Those whose graphs are gone since the last call.
  std::vector<std::shared_ptr<Capture>> take_ended() noexcept;
  /// All, where no graph is launched any more.
  std::vector<std::shared_ptr<Capture>> take_all() noexcept;

 private:
  struct Known {
    std::mutex mutex;
    std::map<std::uint64_t, std::shared_ptr<Capture>> by_id;
    std::vector<std::uint64_t> ended;  // has room for all of them
  };
  struct Owner {  // the graph's
    std::shared_ptr<Known> known;
    std::uint64_t id;
  };
  static void ended(void* owner) noexcept;
  std::shared_ptr<Capture> add(driver::CUgraph graph, std::uint64_t id);

  const CudaContext& context_;
  const std::shared_ptr<Known> known_ = std::make_shared<Known>();
};

}  // namespace sinter::inline v1::runtime
