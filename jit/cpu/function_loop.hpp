// A device function on the CPU: a loop that the host's compiler makes.
#pragma once
#include <cstdint>
#include <memory>

#include "loop_table.hpp"

namespace sinter::inline v1::jit {
struct DeviceFunction;
}

namespace sinter::inline v1::jit::cpu {

/// out[i] = f(in[0][i], in[1][i], ...) as a Loop, for one form of the operands. Copies share it.
class FunctionLoop {
 public:
  /// `form`: bit k is set if operand k is uniform.
  FunctionLoop(const DeviceFunction& function, std::uint8_t form);

  /// Compiles it or finds it in the cache, once; from any thread. Throws CompileError for a function that the compiler
  /// rejects, DeviceError without a compiler, and Error if the process may not compile.
  void make_ready() const;
  /// Only after make_ready().
  Loop loop() const noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace sinter::inline v1::jit::cpu
