// A run without tiles, of a program that is one loop over arrays which it reads and writes in place: nothing is bound
// but the addresses of its operands, so that short runs cost little, and many rows are one call.
#pragma once
#include "worker.hpp"

namespace sinter::inline v1::jit::cpu {

class DirectRun {
 public:
  static bool is_possible(const Job& job) noexcept;
  explicit DirectRun(const Job& job) noexcept;
  /// Computes the tiles [first, last), as Worker::run.
  void run(std::int64_t first, std::int64_t last) noexcept;

 private:
  void run_rows(std::int64_t row, std::int64_t rows, std::int64_t first, std::int64_t n) noexcept;
  void call(std::int64_t rows, std::int64_t n) noexcept;

  const Job& job_;
  const Step& step_;
  void* at_[chain_operands];            // each operand in the first row
  std::int64_t steps_[chain_operands];  // bytes, from row to row
};

}  // namespace sinter::inline v1::jit::cpu
