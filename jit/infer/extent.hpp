// Extents and strides that need not be known: numbers, symbols, and products of them.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace sinter::inline v1::jit {

/// A number times symbols, whose ids the owner of a table of symbols gives out. Two extents are equal
/// if they are for all values of the symbols.
class Extent {
 public:
  Extent(std::int64_t number = 0) : factor_(number) {}
  static Extent symbol(int id) {
    Extent e(1);
    e.symbols_.push_back(id);
    return e;
  }

  bool is_number() const noexcept { return symbols_.empty(); }
  /// What the symbols are multiplied by; the extent itself where there are none.
  std::int64_t factor() const noexcept { return factor_; }
  /// Sorted; a symbol may occur several times.
  std::span<const int> symbols() const noexcept { return symbols_; }

  Extent& operator*=(const Extent& other);
  friend Extent operator*(Extent a, const Extent& b) { return a *= b; }
  friend bool operator==(const Extent& a, const Extent& b) noexcept {
    return a.factor_ == b.factor_ && a.symbols_ == b.symbols_;
  }

 private:
  std::int64_t factor_;
  std::vector<int> symbols_;
};

/// Whether a stride is known to be farther than another, in either direction.
inline bool is_farther(std::int64_t a, std::int64_t b) noexcept { return (a < 0 ? -a : a) > (b < 0 ? -b : b); }
inline bool is_farther(const Extent& a, const Extent& b) noexcept {
  return a.is_number() && b.is_number() && is_farther(a.factor(), b.factor());
}

/// Extents or strides of a tensor, outermost first.
class SymbolicShape : public std::vector<Extent> {
 public:
  using std::vector<Extent>::vector;

  int ndim() const noexcept { return static_cast<int>(size()); }
  Extent numel() const;
};

/// Row-major strides in elements.
SymbolicShape contiguous_strides(const SymbolicShape& shape);

}  // namespace sinter::inline v1::jit
