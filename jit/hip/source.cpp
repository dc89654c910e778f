#include "source.hpp"

#include "../dialects/printer.hpp"
#include "../loops/lower.hpp"
#include "dialect.hpp"

namespace sinter::inline v1::jit::hip {

std::string source(const Kernel& kernel, const KernelTraits& traits, const KernelClass& c) {
  return dialects::print(loops::lower(kernel, traits, c), HipDialect());
}

}  // namespace sinter::inline v1::jit::hip
