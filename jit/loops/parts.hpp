// The partial result of a stage over part of a row, and how two of them are combined.
#pragma once
#include "operands.hpp"

namespace sinter::inline v1::jit::loops {

/// The values of a part, of one lane or of a lane for each of a thread's rows.
using Part = std::vector<Value>;

/// The layout of a stage's parts: for each reduction its value and, where it gives a position, that; then for each
/// online sum of exponentials their sum about the lead, and for each one of squares the four numbers of moments: the
/// sum of squared distances from the mean, the mean, its compensation, the number of elements.
class Parts {
 public:
  struct Field {
    Operand reduction;
    Op op;
    DType dtype;
    bool has_position;
    std::size_t at;

    bool is_float_sum() const noexcept { return op == Op::sum && category(dtype) == Category::Float; }
  };
  struct Online {
    OnlineSum sum;
    DType dtype;
    std::size_t at;
    std::size_t lead;  // where the value is that its pivot comes from

    bool is_square() const noexcept { return sum.kind == OnlineSum::Kind::Squares; }
  };

  Parts(const Frame& frame, Builder& b, int stage);

  std::span<const Field> fields() const noexcept { return fields_; }
  std::span<const Online> online() const noexcept { return online_; }
  /// Of a part: of each value.
  std::span<const DType> dtypes() const noexcept { return dtypes_; }
  /// The values of a part that are of reductions: those before online sums.
  std::size_t field_values() const noexcept { return field_values_; }
  bool has_float_sum() const noexcept;
  /// A name for a value of a part, as a hint to the printer.
  std::string name(std::size_t value) const;

  Part identity() const;
  /// Commutative up to rounding. Parts of the fields alone give such a part.
  Part combine(const Part& a, const Part& b) const;
  /// Reduces a vector to one lane by repeatedly combining its low half with its high half.
  Part combine_lanes(Part a) const;
  Part select(Value condition, const Part& a, const Part& b) const;
  /// The results of the stage, of a part of a whole row, by node.
  void results(const Part& whole, std::vector<Value>& values) const;

 private:
  void combine_field(const Field& f, const Part& a, const Part& b, Part& out) const;
  void combine_online(const Online& o, const Part& a, const Part& b, Part& out) const;

  Builder& b_;
  std::vector<Field> fields_;
  std::vector<Online> online_;
  std::vector<DType> dtypes_;
  std::size_t field_values_ = 0;
};

/// Bits of the reduction's identity; for min and max, of the extreme value.
std::uint64_t identity_bits(Op reduction, DType dtype) noexcept;

}  // namespace sinter::inline v1::jit::loops
