#include "source.hpp"

#include "../loops/lower.hpp"
#include "dialect.hpp"

namespace sinter::inline v1::jit::cuda {

std::string source(const Kernel& kernel, const KernelTraits& traits, const KernelClass& c) {
  return print(loops::lower(kernel, traits, c));
}

}  // namespace sinter::inline v1::jit::cuda
