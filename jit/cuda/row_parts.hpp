// What a kernel that reduces knows of a part of a row, as structs and functions of its text.
#pragma once
#include <string>
#include <vector>

#include "../plan/row_passes.hpp"

namespace sinter::inline v1::jit::cuda {

/// Writes for each stage s `PartS`, which `add` combines and `across` fetches from another lane; sums of floats add up
/// with less error by `add_long` and `finalize`. Where the stage has online sums, what a thread knows during a pass is
/// an `OnlineS`: by `PivotS`, parts of the reductions that ask for no other, it finds pivots, about which elements add
/// to `CenteredS`; `whole` makes a part of it.
class RowParts {
 public:
  /// A reduction in a part, or in its PivotS.
  struct Field {
    Operand reduction;
    DType dtype;
    bool position;
    std::string name;
  };
  struct OnlineField {
    OnlineSum sum;
    DType dtype;
    std::string name;
    std::string lead;  // the name of the field that its pivot comes from

    bool is_square() const noexcept { return sum.kind == OnlineSum::Kind::Squares; }
    std::string pivot() const { return name + "_pivot"; }
    /// The sum, of a part of a whole row: an expression.
    std::string result(std::string_view part) const;
  };

  RowParts(const RowPasses& passes, std::string_view index);

  std::vector<Field> fields(int stage) const;
  std::vector<OnlineField> online_fields(int stage) const;
  bool gives_position(int stage) const noexcept;
  bool has_float_sum(int stage) const noexcept;
  std::string text(int stage) const;

 private:
  const RowPass& pass(int stage) const { return passes_.passes[static_cast<std::size_t>(stage)]; }
  bool has_squares(int stage) const noexcept;
  /// Of the fields that are no online sums.
  std::string members(int stage) const;
  std::string identity_values(int stage) const;
  std::string additions(const std::string& type, int stage) const;
  std::string add_lines(const Field& f) const;
  std::string from_lane(int stage) const;
  std::string plain_part(int stage) const;
  std::string pivot_part(int stage) const;
  std::string centered_part(int stage) const;
  std::string online(int stage) const;
  std::string advance(int stage) const;
  std::string whole(int stage) const;
  std::string online_part(int stage) const;

  const RowPasses& passes_;
  const Graph& graph_;
  const std::string_view index_;
};

}  // namespace sinter::inline v1::jit::cuda
