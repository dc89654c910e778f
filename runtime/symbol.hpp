// Functions of libraries loaded at run time.
#pragma once
#include <dlfcn.h>

namespace sinter::inline v1::runtime {

/// Returns whether the library has the function.
template <class F>
bool find_symbol(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace sinter::inline v1::runtime
