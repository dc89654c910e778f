// A reduction by one thread, in lanes that a compiler can compute as vectors.
#pragma once
#include "builder.hpp"

namespace sinter::inline v1::jit::loops {

/// The number of elements that a serial kernel's inner loops compute alike, and of a reduction's partial results.
/// Compilers unroll shorter loops before they make vectors of them.
inline constexpr int serial_lanes = 32;
/// Of a lane: sums of so many float32 are taken in float32, and those of blocks in float64.
inline constexpr int block_elements = 8;

class SerialReduction {
 public:
  /// `dtype` is that of the elements.
  SerialReduction(Builder& b, Op op, DType dtype, int lanes);

  /// Sets a lane, an Index below the number of lanes, to the result of no elements. A single lane is set already.
  void start(Value lane);
  /// `position` is the element's in its row. Positions are only right if each lane takes the elements of a whole row.
  void add(Value element, Value position, Value lane);
  /// The same for one of at most `block_elements` elements of the lane, between start_block() and finish_block().
  void add_in_block(Value element, Value position, Value lane);
  void start_block(Value lane);
  void finish_block(Value lane);
  bool has_blocks() const noexcept { return block_ != none; }
  /// Combines all lanes in the first one.
  void combine_lanes();
  Value result(Value lane) const;
  /// The local whose lanes are the results; none if these are computed from several, or converted.
  Value results() const noexcept;

 private:
  bool is_compensated() const noexcept { return op_ == Op::sum && dtype_ == DType::Float64; }
  Value local(DType dtype, std::uint64_t first, const std::string& name);
  Value at(Value lane) const noexcept { return lanes_ == 1 ? none : lane; }
  void add_compensated(Value element, Value lane);
  void choose(Value element, Value position, Value lane);

  Builder& b_;
  const Op op_;
  const DType dtype_, wide_;  // of the elements, and of what they are combined in
  const int lanes_;
  Value value_ = none, position_ = none, compensation_ = none, block_ = none;  // locals; none if there is none
};

}  // namespace sinter::inline v1::jit::loops
