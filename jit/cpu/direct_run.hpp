// A run without tiles, of a program that is one loop over arrays which it reads and writes in place: nothing is bound
// but the addresses of its operands, so that short runs cost little, and many rows are one call. Transposed inputs are
// packed into panels of some rows.
#pragma once
#include <boost/container/small_vector.hpp>

#include "worker.hpp"

namespace sinter::inline v1::jit::cpu {

class DirectRun {
 public:
  static bool is_possible(const Steps& steps, const LoopNest& nest, const TileLayout& layout) noexcept;
  explicit DirectRun(const Job& job);
  /// Computes the tiles [first, last), as Worker::run.
  void run(std::int64_t first, std::int64_t last) noexcept;

 private:
  /// A transposed input: its position among the operands, and the elements from row to row of its panel.
  struct Panel {
    std::size_t position;
    std::int64_t pitch;
  };

  void make_panels();
  void run_panel(std::int64_t first_row, std::int64_t first, std::int64_t n) noexcept;
  void move_to(std::int64_t row, std::int64_t first) noexcept;
  void run_rows(std::int64_t row, std::int64_t rows, std::int64_t first, std::int64_t n) noexcept;
  void call(std::int64_t rows, std::int64_t n) noexcept;

  const Job& job_;
  const Step& step_;
  const bool streams_;
  const std::int64_t* const ahead_;
  void* at_[chain_operands];            // each operand in the first row
  std::int64_t steps_[chain_operands];  // bytes, from row to row
  boost::container::small_vector<Panel, 2> panels_;
};

}  // namespace sinter::inline v1::jit::cpu
