// A fake CUDA driver on host memory, which tests load instead of the real one. Work on a stream is deferred until
// something waits for it, so that reusing a buffer too early is always detected.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace fake_cuda {

struct Launch {
  std::string kernel;
  unsigned grid[3];
  unsigned block[3];
  unsigned shared;
  std::vector<std::uint64_t> words;
};

/// A graph captured by a stream. It ends when everything made from it has ended.
struct Graph {
  explicit Graph(std::uint64_t n) : id(n) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() {
    for (const auto& end : at_end) end();
  }
  std::uint64_t id;
  std::vector<std::function<void()>> at_end;
};

/// State that a test sets and reads while no other thread calls the driver.
struct Control {
  int version = 12080;
  int devices = 2;
  int capability = 90;
  bool memory_pools = true;
  bool peers = true;                          // GPUs can access each other's memory
  std::size_t total = std::size_t(64) << 20;  // bytes of each device
  int static_shared = 0;                      // bytes of __shared__ variables in kernels loaded from now on
  int shared_per_block = 227 * 1024;          // bytes
  std::string fail_call;                      // this call returns fail_result after fail_after successful calls
  int fail_result = 0;
  int fail_after = 0;
  bool fail_once = true;
  bool any_binary = false;    // modules contain every kernel that is requested
  bool goes_on = false;       // queries and waiting copies make progress, as on a real GPU
  int hangs = 0;              // number of waits that would never end
  std::set<void*> capturing;  // streams that capture a graph: their work is kept and never done
  // Graphs that the driver was queried for during a capture. Removing a graph ends its capture.
  std::map<void*, std::shared_ptr<Graph>> graphs;
  int busy_unloads = 0;      // modules unloaded while work or a capture needed them: refused
  std::size_t used[8] = {};  // bytes of each device
  int blocks = 0;            // living allocations
  int objects = 0;           // living streams, events, modules and contexts
  std::map<std::string, int> calls;
  std::vector<Launch> launches;
  std::function<void(const Launch&)> run;  // does a kernel's work when its turn comes
  std::function<void()> after_record;      // called once after an event is recorded, in place of another thread
};

/// Thrown by another library's work that cannot be done yet.
struct Stuck {};

/// Adds another library's work to a stream. Returns a CUresult.
int on_stream(void* stream, std::function<void()> work);
/// A function that does all work issued to the stream so far.
std::function<void()> all_until_now(void* stream);

}  // namespace fake_cuda

extern "C" fake_cuda::Control* fake_cuda_control();
