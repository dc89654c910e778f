// A function of a library that was opened at run time.
#pragma once
#include <dlfcn.h>

namespace sinter::inline v1::runtime {

/// Whether the library has it.
template <class F>
bool find_symbol(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace sinter::inline v1::runtime
