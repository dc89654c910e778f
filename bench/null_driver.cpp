// A CUDA driver that returns at once without doing anything, to measure Sinter's own cost of a launch: an H100 without
// memory of its own, whose kernels end before they begin.
#include <cstdlib>
#include <cstring>

#include <runtime/cuda/driver.hpp>

using namespace sinter::runtime::driver;

namespace {

int object;  // every handle points here
template <class Handle>
CUresult give(Handle* handle) {
  *handle = reinterpret_cast<Handle>(&object);
  return success;
}
CUresult give_memory(CUdeviceptr* data, std::size_t bytes) {
  *data = reinterpret_cast<CUdeviceptr>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  return success;
}
CUresult give_text(const char** text) {
  *text = "";
  return success;
}
/// 10 * major + minor: an H100's, or that of a GPU which NULL_DRIVER_CAPABILITY names.
int capability() {
  const char* wish = std::getenv("NULL_DRIVER_CAPABILITY");
  return wish ? std::atoi(wish) : 90;
}
void* pointer(CUdeviceptr data) { return reinterpret_cast<void*>(data); }

}  // namespace

extern "C" {

CUresult cuInit(unsigned) { return success; }
CUresult cuDriverGetVersion(int* version) { return *version = 13000, success; }
CUresult cuGetErrorName(CUresult, const char** text) { return give_text(text); }
CUresult cuGetErrorString(CUresult, const char** text) { return give_text(text); }
CUresult cuDeviceGetCount(int* count) { return *count = 1, success; }
CUresult cuDeviceGet(CUdevice* device, int) { return *device = 0, success; }
CUresult cuDeviceGetName(char* text, int length, CUdevice) {
  std::strncpy(text, "Null driver", static_cast<std::size_t>(length));
  return success;
}
CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice) {
  switch (attribute) {
    case attribute_multiprocessors: *value = 132; break;
    case attribute_capability_major: *value = capability() / 10; break;
    case attribute_capability_minor: *value = capability() % 10; break;
    default: *value = 1;
  }
  return success;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) { return give(context); }
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) { return success; }
CUresult cuCtxGetCurrent(CUcontext* context) { return give(context); }
CUresult cuCtxSetCurrent(CUcontext) { return success; }
CUresult cuCtxPushCurrent_v2(CUcontext) { return success; }
CUresult cuCtxPopCurrent_v2(CUcontext*) { return success; }
CUresult cuStreamCreate(CUstream* stream, unsigned) { return give(stream); }
CUresult cuStreamDestroy_v2(CUstream) { return success; }
CUresult cuStreamSynchronize(CUstream) { return success; }
CUresult cuStreamQuery(CUstream) { return success; }
CUresult cuStreamIsCapturing(CUstream, int* status) { return *status = capture_status_none, success; }
CUresult cuStreamGetCaptureInfo_v2(CUstream, int* status, std::uint64_t*, CUgraph*, const CUgraphNode**, std::size_t*) {
  return *status = capture_status_none, success;
}
CUresult cuUserObjectCreate(CUuserObject* object, void*, CUhostFn, unsigned, unsigned) { return give(object); }
CUresult cuUserObjectRelease(CUuserObject, unsigned) { return success; }
CUresult cuGraphRetainUserObject(CUgraph, CUuserObject, unsigned, unsigned) { return success; }
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned) { return success; }
CUresult cuThreadExchangeStreamCaptureMode(int*) { return success; }
CUresult cuEventCreate(CUevent* event, unsigned) { return give(event); }
CUresult cuEventDestroy_v2(CUevent) { return success; }
CUresult cuEventRecord(CUevent, CUstream) { return success; }
CUresult cuEventSynchronize(CUevent) { return success; }
CUresult cuEventQuery(CUevent) { return success; }
CUresult cuEventElapsedTime(float* ms, CUevent, CUevent) { return *ms = 0, success; }
CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return *free = *total = std::size_t(80) << 30, success;
}
CUresult cuMemAlloc_v2(CUdeviceptr* data, std::size_t bytes) { return give_memory(data, bytes); }
CUresult cuMemFree_v2(CUdeviceptr data) { return std::free(pointer(data)), success; }
CUresult cuMemHostAlloc(void** data, std::size_t bytes, unsigned) { return *data = std::malloc(bytes), success; }
CUresult cuMemFreeHost(void* data) { return std::free(data), success; }
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes, CUstream) {
  return std::memcpy(pointer(to), from, bytes), success;
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream) {
  return std::memcpy(to, pointer(from), bytes), success;
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream) {
  return std::memcpy(pointer(to), pointer(from), bytes), success;
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, std::size_t bytes, CUstream) {
  return std::memcpy(pointer(to), pointer(from), bytes), success;
}
CUresult cuDeviceCanAccessPeer(int* can, CUdevice, CUdevice) { return *can = 0, success; }
CUresult cuCtxEnablePeerAccess(CUcontext, unsigned) { return success; }
CUresult cuModuleLoadDataEx(CUmodule* module, const void*, unsigned, int*, void**) { return give(module); }
CUresult cuModuleUnload(CUmodule) { return success; }
CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char*) { return give(function); }
CUresult cuFuncGetAttribute(int* value, int, CUfunction) { return *value = 0, success; }
CUresult cuFuncSetAttribute(CUfunction, int, int) { return success; }
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                        void**, void**) {
  return success;
}
CUresult cuMemAllocAsync(CUdeviceptr* data, std::size_t bytes, CUstream) { return give_memory(data, bytes); }
CUresult cuMemFreeAsync(CUdeviceptr data, CUstream) { return std::free(pointer(data)), success; }

}  // extern "C"
