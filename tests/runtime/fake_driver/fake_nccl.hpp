// A fake NCCL for the GPUs of one process, on the fake driver's streams: a call is done when all ranks' streams
// have reached it.
#pragma once
#include <map>
#include <string>

namespace fake_nccl {

/// State that a test sets and reads while no other thread calls the library.
struct Control {
  std::string fail_call;  // this call returns fail_result
  int fail_result = 0;
  int async_error = 0;  // the error that every communicator reports
  bool hangs = false;   // calls do not end until they are aborted, as if a peer had died
  std::string last_error;
  int communicators = 0;  // living ones
  int aborted = 0;
  int misuses = 0;  // groups of mismatched calls, described on stderr
  std::map<std::string, int> calls;
};

}  // namespace fake_nccl

extern "C" fake_nccl::Control* fake_nccl_control();
