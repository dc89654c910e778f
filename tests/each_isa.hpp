// Runs tests with the CPU's loops of each instruction set.
#pragma once
#include <jit/cpu/isa.hpp>

namespace sinter::test {

/// Iterates over the processor's instruction sets; restores the chosen one at the end.
class EachIsa {
 public:
  EachIsa() = default;
  ~EachIsa() { jit::cpu::set_isa(before_); }
  EachIsa(const EachIsa&) = delete;

  /// Calls f(isa).
  template <class F>
  void run(F f) const {
    for (int i = 0; i <= static_cast<int>(jit::cpu::best_isa()); ++i) {
      jit::cpu::set_isa(static_cast<jit::cpu::Isa>(i));
      f(static_cast<jit::cpu::Isa>(i));
    }
  }

 private:
  const jit::cpu::Isa before_ = jit::cpu::isa();
};

}  // namespace sinter::test
