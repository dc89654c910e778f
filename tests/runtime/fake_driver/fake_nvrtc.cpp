// An NVRTC that is old: it refuses an option that newer ones know. Its version is in its file's name, else 12.4.
#include "fake_nvrtc.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <thread>

#include <runtime/cuda/nvrtc_library.hpp>

namespace sinter::inline v1::runtime {

struct NvrtcProgram {
  bool is_probe;
};

}  // namespace sinter::inline v1::runtime

namespace {

using namespace sinter::runtime;

std::atomic<int> waiting{0};

/// Returns in all threads at once.
void meet() {
  const int others = fake_nvrtc_control()->meet;
  if (++waiting <= others)
    while (waiting < others) std::this_thread::yield();
}

}  // namespace

extern "C" {

fake_nvrtc::Control* fake_nvrtc_control() {
  static fake_nvrtc::Control control;
  return &control;
}

nvrtcResult nvrtcVersion(int* major, int* minor) {
  Dl_info self{};
  const char* number =
      dladdr(reinterpret_cast<void*>(&nvrtcVersion), &self) ? std::strstr(self.dli_fname, ".so.") : nullptr;
  if (!number || std::sscanf(number, ".so.%d.%d", major, minor) != 2) *major = 12, *minor = 4;
  return nvrtc_success;
}
const char* nvrtcGetErrorString(nvrtcResult result) {
  return result == nvrtc_invalid_option ? "NVRTC_ERROR_INVALID_OPTION" : "unknown";
}
nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char*, int, const char* const*,
                               const char* const*) {
  *program = new NvrtcProgram{*source == 0};
  return nvrtc_success;
}
nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  delete *program;
  *program = nullptr;
  return nvrtc_success;
}
nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* options) {
  for (int i = 0; i < count; ++i)
    if (std::string_view(options[i]) == "--no-cache") {
      if (!program->is_probe) meet();
      return nvrtc_invalid_option;
    }
  return nvrtc_success;
}
nvrtcResult nvrtcGetPTXSize(nvrtcProgram, std::size_t* bytes) {
  *bytes = 4;
  return nvrtc_success;
}
nvrtcResult nvrtcGetPTX(nvrtcProgram, char* text) {
  std::memcpy(text, "ptx", 4);
  return nvrtc_success;
}
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, std::size_t* bytes) { return nvrtcGetPTXSize(program, bytes); }
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* bytes) { return nvrtcGetPTX(program, bytes); }
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram, std::size_t* bytes) {
  *bytes = 0;
  return nvrtc_success;
}
nvrtcResult nvrtcGetProgramLog(nvrtcProgram, char*) { return nvrtc_success; }

}  // extern "C"
