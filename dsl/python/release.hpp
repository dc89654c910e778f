// What other threads let go of while Python objects belong to it.
#pragma once

namespace sinter::python {

/// Calls release(object) under the GIL: now where this thread has it, else soon, in the main thread. Never waits for
/// the GIL: who lets a tensor go may hold a lock that a thread with the GIL waits for.
void release_with_gil(void* object, void (*release)(void*)) noexcept;

}  // namespace sinter::python
