// One object per thread, for code that may run while the thread ends.
#pragma once
#include <mutex>
#include <utility>
#include <vector>

#include <sinter/runtime/interference_size.hpp>

#include "fork.hpp"

namespace sinter::inline v1::runtime {

/// Keeps objects that were created while their thread ended.
template <class T>
void keep_for_good(T* object) {
  static constinit std::mutex mutex;
  static constinit NoDestructor<std::vector<T*>> kept;
  const ForkSafeLock lock(mutex, std::nothrow);
  kept.get().push_back(object);
}

/// This thread's T, destroyed with the thread. Destructors that run later get a new one, which is never destroyed.
template <class T>
T& per_thread() {
  struct alignas(interference_size) Apart {  // its thread writes it often
    T object;
  };
  static constinit thread_local Apart* mine = nullptr;
  static constinit thread_local bool is_ending = false;
  if (!mine) [[unlikely]] {
    struct Owner {
      Apart** place;
      bool* ending;
      ~Owner() {
        delete std::exchange(*place, nullptr);
        *ending = true;
      }
    };
    mine = new Apart;
    if (is_ending)
      keep_for_good(mine);
    else
      thread_local const Owner owner{&mine, &is_ending};
  }
  return mine->object;
}

}  // namespace sinter::inline v1::runtime
