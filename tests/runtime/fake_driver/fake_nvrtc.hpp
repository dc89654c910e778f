// A fake NVRTC that compiles nothing, which tests load instead of the real one.
#pragma once

namespace fake_nvrtc {

struct Control {
  int meet = 0;  // this many threads learn at the same time that an option is unknown
};

}  // namespace fake_nvrtc

extern "C" fake_nvrtc::Control* fake_nvrtc_control();
