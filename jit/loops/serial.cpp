#include "serial.hpp"

#include "dead_code.hpp"
#include "serial_columns.hpp"
#include "serial_rows.hpp"
#include "verify.hpp"

namespace sinter::inline v1::jit::loops {

LoopProgram lower_serial(const Kernel& kernel, const KernelTraits& traits, const SymbolicNest& nest) {
  LoopProgram program{.name = kernel.name, .wide = true, .aliased = true, .serial = true, .code = {}};
  Builder b(program);
  if (SerialColumns::suits(kernel, nest))
    SerialColumns(kernel, traits, nest, b).run();
  else
    SerialRows(kernel, traits, nest, b).run();
  eliminate_dead_code(program);
  check(program);
  return program;
}

}  // namespace sinter::inline v1::jit::loops
