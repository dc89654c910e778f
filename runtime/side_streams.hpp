// Streams beside the current ones, for work that overlaps with what they do.
#pragma once
#include <deque>
#include <utility>

#include <sinter/runtime/mesh.hpp>
#include <sinter/runtime/stream_impl.hpp>

namespace sinter::inline v1::runtime {

/// While it lives, the thread that made it issues work for a mesh to streams of its own, which wait only for what that
/// work's buffers depend on. CPUs have none, and a GPU whose current stream captures a graph keeps it.
class SideStreams {
 public:
  /// For this process's devices. Throws CudaError.
  explicit SideStreams(const Mesh& mesh);
  /// Makes the streams that were current before wait for what these have done. Throws CudaError.
  void join();

 private:
  struct SideStream {
    SideStream(StreamRef b, StreamRef own) : before(std::move(b)), current(std::move(own)) {}
    StreamRef before;
    CurrentStream current;
  };
  std::deque<SideStream> streams_;
};

}  // namespace sinter::inline v1::runtime
