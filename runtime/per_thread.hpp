// One object for each thread, for code that may run while the thread ends.
#pragma once
#include <utility>

namespace sinter::inline v1::runtime {

/// This thread's T. It goes with the thread; destructors that run later still get one, which then stays for good.
template <class T>
T& per_thread() {
  static constinit thread_local T* mine = nullptr;
  if (!mine) [[unlikely]] {
    struct Owner {
      T** place;
      ~Owner() { delete std::exchange(*place, nullptr); }
    };
    mine = new T;
    thread_local const Owner owner{&mine};  // made once: not again after it is destroyed
  }
  return *mine;
}

}  // namespace sinter::inline v1::runtime
