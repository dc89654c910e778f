// Parameters whose elements lie in one array, so that one kernel updates all of them.
#pragma once
#include <vector>

#include <sinter/dsl/array.hpp>

namespace sinter::inline v1::optim {

/// Tensors that are updated together: as one flat tensor if they lie one behind the other in an array, a single one as
/// it is. Gaps between them, up to a multiple of 64 bytes, are zeros.
class FlatParameters {
 public:
  explicit FlatParameters(AnyTensor single);
  /// Moves the tensors, each of which must be is_relocatable(), into a new array unless they lie in one already:
  /// handles and lazy expressions refer to them as before. No other thread may use them meanwhile.
  explicit FlatParameters(std::vector<AnyTensor> members);
  /// Whether no view, foreign owner or known address would stay behind if the tensor moved.
  static bool is_relocatable(const AnyTensor& tensor);

  std::size_t size() const noexcept { return members_.size(); }
  const AnyTensor& flat() const noexcept { return flat_; }
  const AnyTensor& member(std::size_t k) const noexcept { return members_[k]; }
  /// The part of a tensor like flat() that belongs to member k, in its shape.
  AnyTensor part(const AnyTensor& like_flat, std::size_t k) const;
  /// Whether the members still lie in flat(): they do not once another optimizer has relocated one of them.
  bool is_intact() const;
  /// Records that flat() was written to.
  void touch_members() const;

 private:
  bool reuse_array();
  void relocate();

  std::vector<AnyTensor> members_;
  std::vector<std::int64_t> offsets_;  // in elements
  AnyTensor flat_;
};

}  // namespace sinter::inline v1::optim
