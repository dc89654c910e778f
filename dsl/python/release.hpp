// Releasing Python objects that other threads no longer need.
#pragma once

namespace sinter::python {

/// Calls release(object) with the GIL: now if this thread holds it, else soon, in the main thread. Never waits for the
/// GIL: the caller may hold a lock that a thread with the GIL waits for.
void release_with_gil(void* object, void (*release)(void*)) noexcept;

}  // namespace sinter::python
