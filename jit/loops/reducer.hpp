// The partial result of a stage: its layout, identity, and how two of them are combined.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "builder.hpp"
#include "lowering_context.hpp"

namespace sinter::inline v1::jit::loops {

/// The values of a partial result: scalars, or vectors of one element for each of a thread's rows.
using Partial = std::vector<Value>;

/// A partial result consists of, for each reduction, its value and, if it gives a position, the position; then, for
/// each online sum of exponentials, the sum relative to the base and, for each one of squares, four moments: the sum of
/// squared deviations from the mean (M2), the mean, its compensation, the number of elements.
class Reducer {
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
    std::size_t base;  // which value is its base

    bool is_square() const noexcept { return sum.kind == OnlineSum::Kind::Squares; }
  };

  Reducer(const LoweringContext& context, Builder& b, int stage);

  std::span<const Field> fields() const noexcept { return fields_; }
  std::span<const Online> online() const noexcept { return online_; }
  /// The dtype of each value.
  std::span<const DType> dtypes() const noexcept { return dtypes_; }
  /// The number of values before those of online sums.
  std::size_t field_values() const noexcept { return field_values_; }
  bool has_float_sum() const noexcept;
  /// A name for a value, as a hint to the printer.
  std::string name(std::size_t value) const;

  Partial identity() const;
  /// Commutative up to rounding. Without online sums if `a` and `b` have none.
  Partial combine(const Partial& a, const Partial& b) const;
  /// Reduces a vector to a scalar by repeatedly combining its low half with its high half.
  Partial reduce_vector(Partial a) const;
  Partial select(Value condition, const Partial& a, const Partial& b) const;
  /// Sets the results of the stage, by node, given the partial result of a whole row.
  void results(const Partial& whole, std::vector<Value>& values) const;

 private:
  void combine_field(const Field& f, const Partial& a, const Partial& b, Partial& out) const;
  void combine_online(const Online& o, const Partial& a, const Partial& b, Partial& out) const;

  Builder& b_;
  std::vector<Field> fields_;
  std::vector<Online> online_;
  std::vector<DType> dtypes_;
  std::size_t field_values_ = 0;
};

/// Bits of the reduction's identity; for min and max, of the extreme value.
std::uint64_t identity_bits(Op reduction, DType dtype) noexcept;

}  // namespace sinter::inline v1::jit::loops
