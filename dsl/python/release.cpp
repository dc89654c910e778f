#include "release.hpp"

#include <unistd.h>

#include <cxxabi.h>
#include <dlfcn.h>

#include <mutex>
#include <utility>
#include <vector>

#include "object.hpp"

namespace sinter::python {
namespace {

struct Waiting {
  void* object;
  void (*release)(void*);
};
struct Queue {
  std::mutex mutex;
  std::vector<Waiting> waiting;
};
/// Never destroyed: threads may outlive the interpreter.
Queue& queue() {
  static Queue& q = *new Queue;
  return q;
}

/// PyGILState_Check, which is not a function of the stable ABI. Where it is not found, the GIL counts as not held.
bool holds_gil() {
  static const auto check = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "PyGILState_Check"));
  return check && check();
}

int release_waiting(void*) {
  std::vector<Waiting> taken;
  {
    const std::lock_guard lock(queue().mutex);
    taken.swap(queue().waiting);
  }
  for (const Waiting& w : taken) w.release(w.object);
  return 0;
}

}  // namespace

void release_with_gil(void* object, void (*release)(void*)) noexcept {
  if (!Py_IsInitialized()) return;  // the process is ending
  if (holds_gil()) return release(object);
  try {
    const std::lock_guard lock(queue().mutex);
    queue().waiting.push_back({object, release});
  } catch (...) {
    return;  // no memory to queue it: it is leaked
  }
  // If Python's own queue is full, the call that filled it, or the next one, releases this too.
  Py_AddPendingCall(release_waiting, nullptr);
}

void take_gil(PyThreadState* state) {
  try {
    PyEval_RestoreThread(state);
  } catch (abi::__forced_unwind&) {
    for (;;) pause();
  }
}

}  // namespace sinter::python
