#include "fake_cuda.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <utility>

#include <runtime/cuda/driver.hpp>

namespace sinter::inline v1::runtime::driver {

struct Context {
  int device = 0;
  int retained = 0;
};
struct Stream {
  Context* context;
  std::deque<std::function<void()>> queue;
  std::uint64_t issued = 0, done = 0;
};
struct Event {
  Stream* stream = nullptr;
  std::uint64_t position = 0;
};
struct Module {
  std::string text;
  int pending = 0;  // launches that are not done
};
struct UserObject {
  std::function<void()> destroy;
  unsigned references;
};
struct Kernel {
  Module* module = nullptr;
  std::string name;
  int static_shared = 0;
  int max_shared = 48 * 1024 - static_shared;  // that a launch may ask for
};

}  // namespace sinter::inline v1::runtime::driver

namespace {

using namespace sinter::runtime::driver;

constexpr CUresult invalid_value = 1, deinitialized_context = 201, invalid_device = 101, invalid_image = 200,
                   invalid_handle = 400, not_found = 500, capture_unsupported = 900, capture_isolation = 905;

struct Block {
  std::size_t size;
  int device;
};

struct State {
  std::vector<void*> memory;  // all that was ever given: what a capture keeps for ever is no leak
  std::recursive_mutex mutex;
  fake_cuda::Control control;
  pid_t process = 0;  // that started the driver, and alone can use it
  CUresult sticky = 0;
  Context contexts[8];
  std::map<CUdeviceptr, Block> blocks;
  std::set<Stream*> streams;
  std::vector<std::unique_ptr<Stream>> gone;
  std::map<std::pair<Module*, std::string>, Kernel> kernels;
};
State& state() {
  static State& s = *new State;
  return s;
}
thread_local std::vector<Context*> current;

/// Counts a call and gives the failure that a test asked for.
CUresult enter(const char* name, bool needs_context = false) {
  State& s = state();
  fake_cuda::Control& c = s.control;
  ++c.calls[name];
  if (c.fail_call == name && c.fail_after-- <= 0) {
    if (c.fail_once) c.fail_call.clear();
    return c.fail_result;
  }
  if (s.process != getpid() && std::strcmp(name, "cuInit") != 0) return error_not_initialized;
  if (s.sticky) return s.sticky;
  return needs_context && current.empty() ? deinitialized_context : success;
}

#define ENTER(...)                           \
  const std::lock_guard lock(state().mutex); \
  if (const CUresult entered = enter(__func__ __VA_OPT__(, ) __VA_ARGS__)) return entered

CUresult on_stream(Stream* stream) {
  if (!state().streams.contains(stream)) return invalid_handle;
  return current.back() == stream->context ? success : deinitialized_context;
}

bool inside(CUdeviceptr address, std::size_t bytes, int device) {
  auto after = state().blocks.upper_bound(address);
  if (after == state().blocks.begin()) return false;
  const auto& [start, block] = *--after;
  return block.device == device && address + bytes <= start + block.size;
}

void issue(Stream* stream, std::function<void()> work) {
  stream->queue.push_back(std::move(work));
  ++stream->issued;
}

thread_local int capture_mode = 0;
/// As in a capture that lets no thread do what is unsafe in any.
bool may_not_ask() { return !state().control.capturing.empty() && capture_mode != capture_mode_relaxed; }
bool captures(Stream* stream) { return state().control.capturing.contains(stream); }

void run_to(Stream* stream, std::uint64_t position) {
  if (captures(stream)) return;
  while (stream->done < position && !stream->queue.empty()) {
    const std::function<void()> work = std::move(stream->queue.front());
    stream->queue.pop_front();
    ++stream->done;
    try {
      work();
    } catch (const fake_cuda::Stuck&) {
      stream->queue.push_front(work);
      --stream->done;
      return;
    }
  }
}
/// Within other work, which is stuck where this is.
void run_first(Stream* stream, std::uint64_t position) {
  run_to(stream, position);
  if (!captures(stream) && stream->done < position) throw fake_cuda::Stuck();
}
/// The program waits.
void wait_for(Stream* stream, std::uint64_t position) {
  run_to(stream, position);
  if (!captures(stream) && stream->done < position) ++state().control.hangs;
}
void asked(Stream* stream) {
  if (state().control.goes_on) run_to(stream, stream->issued);
}

CUresult take(CUdeviceptr* address, std::size_t bytes) {
  State& s = state();
  const int device = current.back()->device;
  if (s.control.used[device] + bytes > s.control.total) return error_out_of_memory;
  void* memory = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
  std::memset(memory, 0xFF, bytes);
  *address = reinterpret_cast<CUdeviceptr>(memory);
  s.control.used[device] += bytes;
  ++s.control.blocks;
  s.blocks[*address] = {bytes, device};
  s.memory.push_back(memory);
  return success;
}

/// Ends the use of a block at once; gives what really frees it.
std::function<void()> give_back(CUdeviceptr address) {
  const auto found = state().blocks.find(address);
  if (found == state().blocks.end()) return nullptr;
  const Block block = found->second;
  state().blocks.erase(found);
  return [address, block] {
    state().control.used[block.device] -= block.size;
    --state().control.blocks;
    std::free(reinterpret_cast<void*>(address));
  };
}

void* host(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

void run_kernel(const fake_cuda::Launch& launch) {
  if (const auto& run = state().control.run) run(launch);
  if (launch.kernel == "fake_fault") state().sticky = error_illegal_address;
  if (launch.kernel != "fake_add_one") return;
  auto* out = static_cast<float*>(host(launch.words[0]));
  const auto* in = static_cast<const float*>(host(launch.words[1]));
  for (std::uint64_t i = 0; i < launch.words[2]; ++i) out[i] = in[i] + 1;
}

}  // namespace

int fake_cuda::on_stream(void* stream, std::function<void()> work) {
  const std::lock_guard lock(state().mutex);
  auto* const of = static_cast<Stream*>(stream);
  if (const CUresult wrong = ::on_stream(of)) return wrong;
  issue(of, std::move(work));
  return success;
}

std::function<void()> fake_cuda::all_until_now(void* stream) {
  const std::lock_guard lock(state().mutex);
  auto* const of = static_cast<Stream*>(stream);
  return [of, position = of->issued] { run_first(of, position); };
}

extern "C" {

fake_cuda::Control* fake_cuda_control() { return &state().control; }

CUresult cuInit(unsigned) {
  ENTER();
  state().process = getpid();
  return success;
}
CUresult cuDriverGetVersion(int* version) {
  *version = state().control.version;
  return success;
}
CUresult cuGetErrorName(CUresult result, const char** name) {
  *name = result == error_out_of_memory     ? "CUDA_ERROR_OUT_OF_MEMORY"
          : result == invalid_value         ? "CUDA_ERROR_INVALID_VALUE"
          : result == error_illegal_address ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                                            : nullptr;
  return *name ? success : invalid_value;
}
CUresult cuGetErrorString(CUresult result, const char** text) {
  *text = result == invalid_value ? "invalid argument" : nullptr;
  return *text ? success : invalid_value;
}
CUresult cuDeviceGetCount(int* count) {
  ENTER();
  *count = state().control.devices;
  return success;
}
CUresult cuDeviceGet(CUdevice* device, int index) {
  ENTER();
  *device = index;
  return index < state().control.devices ? success : invalid_device;
}
CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  ENTER();
  std::snprintf(name, static_cast<std::size_t>(length), "Fake GPU %d", device);
  return success;
}
CUresult cuDeviceGetAttribute(int* value, int which, CUdevice) {
  ENTER();
  const fake_cuda::Control& c = state().control;
  switch (which) {
    case attribute_clock: *value = 1'980'000; return success;  // an H200's
    case attribute_multiprocessors: *value = 132; return success;
    case attribute_memory_clock: *value = 3'201'000; return success;  // an H200's
    case attribute_memory_bus_width: *value = 6144; return success;
    case attribute_capability_major: *value = c.capability / 10; return success;
    case attribute_capability_minor: *value = c.capability % 10; return success;
    case attribute_shared_per_block: *value = state().control.shared_per_block; return success;
    case attribute_memory_pools: *value = c.memory_pools; return success;
    default: return invalid_value;
  }
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  ENTER();
  *context = &state().contexts[device];
  (*context)->device = device;
  ++(*context)->retained;
  ++state().control.objects;
  return success;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
  ENTER();
  --state().control.objects;
  return success;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  ENTER();
  *context = current.empty() ? nullptr : current.back();
  return success;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  ENTER();
  if (!current.empty()) current.pop_back();
  if (context) current.push_back(context);
  return success;
}
CUresult cuCtxPushCurrent_v2(CUcontext context) {
  ENTER();
  current.push_back(context);
  return success;
}
CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  ENTER(true);
  *context = current.back();
  current.pop_back();
  return success;
}
CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  ENTER(true);
  if (flags != stream_non_blocking) return invalid_value;
  state().streams.insert(*stream = new Stream{current.back(), {}});
  ++state().control.objects;
  return success;
}
CUresult cuStreamDestroy_v2(CUstream stream) {
  ENTER();
  if (!state().streams.erase(stream)) return invalid_handle;
  run_to(stream, stream->issued);
  --state().control.objects;
  state().gone.emplace_back(stream);  // events remember it
  return success;
}
CUresult cuStreamQuery(CUstream stream) {
  ENTER(true);
  if (const CUresult result = on_stream(stream)) return result;
  if (captures(stream) || may_not_ask()) return capture_unsupported;
  asked(stream);
  return stream->done < stream->issued ? error_not_ready : state().sticky;
}
CUresult cuStreamIsCapturing(CUstream stream, int* status) {
  ENTER(true);
  if (const CUresult result = on_stream(stream)) return result;
  *status = captures(stream);
  return success;
}
CUresult cuStreamGetCaptureInfo_v2(CUstream stream, int* status, std::uint64_t* id, CUgraph* graph,
                                   const CUgraphNode** nodes, std::size_t* count) {
  ENTER(true);
  if (const CUresult result = on_stream(stream)) return result;
  *status = captures(stream);
  if (!*status) return success;
  static std::uint64_t last = 0;
  std::shared_ptr<fake_cuda::Graph>& known = state().control.graphs[stream];
  if (!known) known = std::make_shared<fake_cuda::Graph>(++last);
  *id = known->id;
  *graph = reinterpret_cast<CUgraph>(known.get());
  *nodes = nullptr, *count = 0;
  return success;
}
CUresult cuUserObjectCreate(CUuserObject* object, void* data, CUhostFn destroy, unsigned references, unsigned flags) {
  ENTER();
  if (flags != user_object_no_destructor_sync) return invalid_value;
  *object = new UserObject{[=] { destroy(data); }, references};
  return success;
}
CUresult cuUserObjectRelease(CUuserObject object, unsigned count) {
  ENTER();
  object->references -= count;
  if (object->references == 0) object->destroy(), delete object;
  return success;
}
CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count, unsigned flags) {
  ENTER();
  if (flags != graph_user_object_move || count != 1) return invalid_value;
  reinterpret_cast<fake_cuda::Graph*>(graph)->at_end.push_back([object] {
    if (--object->references == 0) object->destroy(), delete object;
  });
  return success;
}
CUresult cuStreamSynchronize(CUstream stream) {
  ENTER(true);
  if (const CUresult result = on_stream(stream)) return result;
  if (captures(stream)) return capture_unsupported;
  wait_for(stream, stream->issued);
  return state().sticky;
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  ENTER(true);
  if (const CUresult result = on_stream(stream)) return result;
  if (!event->stream || flags) return invalid_handle;
  if (captures(stream) != captures(event->stream)) return capture_isolation;
  issue(stream, [from = event->stream, position = event->position] { run_first(from, position); });
  return success;
}
CUresult cuEventCreate(CUevent* event, unsigned flags) {
  ENTER(true);
  *event = new Event;
  ++state().control.objects;
  return flags == event_disable_timing || flags == event_default ? success : invalid_value;
}
CUresult cuEventDestroy_v2(CUevent event) {
  ENTER();
  delete event;
  --state().control.objects;
  return success;
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  const auto record = [&, call = __func__]() -> CUresult {
    const std::lock_guard lock(state().mutex);
    if (const CUresult entered = enter(call, true)) return entered;
    if (const CUresult result = on_stream(stream)) return result;
    *event = {stream, stream->issued};
    return success;
  };
  const CUresult result = record();
  if (const auto next = std::exchange(state().control.after_record, nullptr)) next();
  return result;
}
CUresult cuEventSynchronize(CUevent event) {
  ENTER();
  if (event->stream) wait_for(event->stream, event->position);
  return state().sticky;
}
CUresult cuThreadExchangeStreamCaptureMode(int* mode) {
  ENTER();
  std::swap(*mode, capture_mode);
  return success;
}
CUresult cuEventQuery(CUevent event) {
  ENTER();
  if (may_not_ask()) return capture_unsupported;
  if (event->stream) asked(event->stream);
  return event->stream && event->stream->done < event->position ? error_not_ready : state().sticky;
}
CUresult cuEventElapsedTime(float* ms, CUevent begin, CUevent end) {
  ENTER();
  *ms = static_cast<float>(end->position - begin->position);
  return success;
}
CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  ENTER(true);
  *total = state().control.total;
  *free = *total - state().control.used[current.back()->device];
  return success;
}
CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  ENTER(true);
  return take(address, bytes);
}
CUresult cuMemFree_v2(CUdeviceptr address) {
  ENTER(true);
  for (Stream* stream : state().streams) run_to(stream, stream->issued);  // as the real one waits for the device
  const std::function<void()> free = give_back(address);
  if (free) free();
  return free ? success : invalid_value;
}
CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  ENTER(true);
  if (const CUresult result = on_stream(stream)) return result;
  if (captures(stream)) return capture_unsupported;
  return take(address, bytes);
}
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  ENTER(true);
  if (const CUresult result = on_stream(stream)) return result;
  std::function<void()> free = give_back(address);
  if (!free) return invalid_value;
  issue(stream, std::move(free));
  return success;
}
CUresult cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
  ENTER(true);
  *memory = std::malloc(bytes);
  state().memory.push_back(*memory);
  ++state().control.objects;
  return success;
}
CUresult cuMemFreeHost(void* memory) {
  ENTER(true);
  std::free(memory);
  --state().control.objects;
  return success;
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  ENTER(true);
  if (const CUresult result = on_stream(stream)) return result;
  if (!inside(to, bytes, stream->context->device)) return invalid_value;
  issue(stream, [=] { std::memcpy(host(to), from, bytes); });
  return success;
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  ENTER(true);
  if (const CUresult result = on_stream(stream)) return result;
  if (!inside(from, bytes, stream->context->device)) return invalid_value;
  issue(stream, [=] { std::memcpy(to, host(from), bytes); });
  if (state().control.goes_on) wait_for(stream, stream->issued);  // to memory that is not pinned
  return success;
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  ENTER(true);
  if (const CUresult result = on_stream(stream)) return result;
  const int device = stream->context->device;
  if (!inside(to, bytes, device) || !inside(from, bytes, device)) return invalid_value;
  if (to < from + bytes && from < to + bytes) return invalid_value;  // undefined with a real one
  issue(stream, [=] { std::memcpy(host(to), host(from), bytes); });
  return success;
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                           std::size_t bytes, CUstream stream) {
  ENTER(true);
  if (const CUresult result = on_stream(stream)) return result;
  if (!inside(to, bytes, to_context->device) || !inside(from, bytes, from_context->device)) return invalid_value;
  issue(stream, [=] { std::memmove(host(to), host(from), bytes); });
  return success;
}
CUresult cuDeviceCanAccessPeer(int* can, CUdevice, CUdevice) {
  ENTER();
  *can = state().control.peers;
  return success;
}
CUresult cuCtxEnablePeerAccess(CUcontext, unsigned flags) {
  ENTER(true);
  return flags || !state().control.peers ? invalid_value : success;
}
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice) {
  ENTER();
  *pool = nullptr;
  return success;
}
CUresult cuMemPoolSetAccess(CUmemoryPool, const MemoryAccess* access, std::size_t count) {
  ENTER();
  const bool known = count == 1 && access->location_type == location_device && access->flags == access_read_write;
  return known ? success : invalid_value;
}
/// A binary is "FAKE" and the names of its kernels.
CUresult cuModuleLoadDataEx(CUmodule* module, const void* data, unsigned count, int* options, void** values) {
  ENTER(true);
  if (!state().control.capturing.empty()) return capture_unsupported;
  const std::string text = static_cast<const char*>(data);
  if (!text.starts_with("FAKE ") && !state().control.any_binary) {
    if (count == 2 && options[0] == jit_error_log && options[1] == jit_error_log_size)
      std::snprintf(static_cast<char*>(values[0]), reinterpret_cast<std::size_t>(values[1]), "this is no binary");
    return invalid_image;
  }
  *module = new Module{text};
  ++state().control.objects;
  return success;
}
CUresult cuModuleUnload(CUmodule module) {
  ENTER(true);
  if (may_not_ask()) return capture_unsupported;
  if (module->pending > 0) return ++state().control.busy_unloads, error_not_ready;
  std::erase_if(state().kernels, [&](const auto& k) { return k.first.first == module; });
  delete module;
  --state().control.objects;
  return success;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  ENTER(true);
  std::istringstream words(module->text);
  for (std::string word; words >> word;)
    if (word == name || state().control.any_binary) {
      *function = &(state().kernels[{module, name}] = Kernel{module, name, state().control.static_shared});
      return success;
    }
  return not_found;
}
CUresult cuFuncGetAttribute(int* value, int which, CUfunction function) {
  ENTER(true);
  *value = function->static_shared;
  return which == function_static_shared ? success : invalid_value;
}
CUresult cuFuncSetAttribute(CUfunction function, int which, int value) {
  ENTER(true);
  if (which != function_max_dynamic_shared || function->static_shared + value > state().control.shared_per_block)
    return invalid_value;
  function->max_shared = value;
  return success;
}
CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, CUstream stream, void** parameters, void** extra) {
  ENTER(true);
  if (const CUresult result = on_stream(stream)) return result;
  if (parameters || extra[0] != launch_buffer || extra[2] != launch_buffer_size || extra[4] != launch_end)
    return invalid_value;
  if (!gx || !bx || bx > 1024 || static_cast<int>(shared) > function->max_shared) return invalid_value;
  const std::size_t bytes = *static_cast<const std::size_t*>(extra[3]);
  fake_cuda::Launch launch{function->name, {gx, gy, gz}, {bx, by, bz}, shared, std::vector<std::uint64_t>(bytes / 8)};
  if (bytes) std::memcpy(launch.words.data(), extra[1], bytes);
  state().control.launches.push_back(launch);
  ++function->module->pending;
  issue(stream, [launch, module = function->module] {
    --module->pending;
    run_kernel(launch);
  });
  return success;
}

}  // extern "C"
