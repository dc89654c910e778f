// When the CPU's loops are compiled.
#pragma once
#include <sinter/jit/cpu_jit.hpp>

namespace sinter::test {

/// Sets it as long as this object exists.
class When {
 public:
  explicit When(CpuJit when) : before_(cpu_jit()) { set_cpu_jit(when); }
  ~When() { set_cpu_jit(before_); }
  When(const When&) = delete;

 private:
  CpuJit before_;
};

}  // namespace sinter::test
