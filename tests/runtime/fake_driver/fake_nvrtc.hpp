// An NVRTC that compiles nothing, which tests open in place of the real one.
#pragma once

namespace fake_nvrtc {

struct Control {
  int meet = 0;  // so many threads are told together that an option is unknown
};

}  // namespace fake_nvrtc

extern "C" fake_nvrtc::Control* fake_nvrtc_control();
