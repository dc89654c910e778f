// An NCCL among the GPUs of one process, on the fake driver's streams: a call is done when all positions' streams have
// come to it.
#pragma once
#include <map>
#include <string>

namespace fake_nccl {

/// What a test sets and reads, while no other thread calls the library.
struct Control {
  std::string fail_call;  // this call gives fail_result
  int fail_result = 0;
  int async_error = 0;  // what every communicator reports
  bool hangs = false;   // calls do not end, as where a peer has died, before they are aborted
  std::string last_error;
  int communicators = 0;  // that live
  int aborted = 0;
  int misuses = 0;  // groups whose calls do not fit, with what is wrong on stderr
  std::map<std::string, int> calls;
};

}  // namespace fake_nccl

extern "C" fake_nccl::Control* fake_nccl_control();
