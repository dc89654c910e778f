// A CUDA driver on host memory, which the tests open in place of the real one. Work on a stream is put off until
// something waits for it, so that a buffer that is reused too early is seen every time.
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

/// A graph that a stream captured, as others keep it; its end is that of all that was made of it.
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

/// What a test sets and reads, while no other thread calls the driver.
struct Control {
  int version = 12080;
  int devices = 2;
  int capability = 90;
  bool memory_pools = true;
  bool peers = true;                          // GPUs reach each other's memory
  std::size_t total = std::size_t(64) << 20;  // bytes of each device
  int static_shared = 0;                      // bytes of __shared__ variables of kernels loaded from now on
  int shared_per_block = 227 * 1024;          // bytes
  std::string fail_call;                      // this call gives fail_result, once fail_after calls of it have passed
  int fail_result = 0;
  int fail_after = 0;
  bool fail_once = true;
  bool any_binary = false;    // modules hold every kernel that is asked for
  bool goes_on = false;       // while it is asked what is done, and where a copy waits, as a GPU does by itself
  int hangs = 0;              // waits that would never end
  std::set<void*> capturing;  // streams that capture a graph: their work is kept and never done
  // What the driver was asked about while a stream captured it. Who takes a graph out ends its capture.
  std::map<void*, std::shared_ptr<Graph>> graphs;
  int busy_unloads = 0;      // modules that were unloaded while work or a capture needed them: refused
  std::size_t used[8] = {};  // bytes of each device
  int blocks = 0;            // allocations that live
  int objects = 0;           // streams, events, modules and contexts that live
  std::map<std::string, int> calls;
  std::vector<Launch> launches;
  std::function<void(const Launch&)> run;  // does what a kernel would, when its turn comes
  std::function<void()> after_record;      // called once, when an event was recorded: as another thread would call then
};

/// Thrown by work of another library that cannot be done yet.
struct Stuck {};

/// Work of another library on one of the driver's streams. Gives a CUresult.
int on_stream(void* stream, std::function<void()> work);
/// Does all that the stream was given so far, when it is called.
std::function<void()> all_until_now(void* stream);

}  // namespace fake_cuda

extern "C" fake_cuda::Control* fake_cuda_control();
