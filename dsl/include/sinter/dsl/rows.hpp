// The positions of a tensor's first axis as a C++ range: for (auto row : x).
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

namespace sinter::inline v1::detail {

/// Dereferencing gives the view x[i], so a loop may write to its rows.
template <class Self>
class RowIterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using iterator_concept = std::random_access_iterator_tag;
  using value_type = Self;
  using difference_type = std::ptrdiff_t;
  using reference = Self;
  using pointer = void;

  RowIterator() = default;
  RowIterator(Self x, std::int64_t position) : x_(std::move(x)), position_(position) {}

  Self operator*() const { return x_[position_]; }
  Self operator[](difference_type n) const { return x_[position_ + n]; }
  RowIterator& operator++() { return *this += 1; }
  RowIterator& operator--() { return *this += -1; }
  RowIterator operator++(int) { return RowIterator(x_, position_++); }
  RowIterator operator--(int) { return RowIterator(x_, position_--); }
  RowIterator& operator+=(difference_type n) {
    position_ += n;
    return *this;
  }
  RowIterator& operator-=(difference_type n) { return *this += -n; }
  /// A copy of the row: algorithms of std::ranges keep it while they overwrite the row itself.
  friend Self iter_move(const RowIterator& i) { return (*i).clone(); }
  friend void iter_swap(const RowIterator& a, const RowIterator& b) {
    const Self row = iter_move(a);
    *a = *b;
    *b = row;
  }
  friend RowIterator operator+(RowIterator i, difference_type n) { return i += n; }
  friend RowIterator operator+(difference_type n, RowIterator i) { return i += n; }
  friend RowIterator operator-(RowIterator i, difference_type n) { return i -= n; }
  friend difference_type operator-(const RowIterator& a, const RowIterator& b) { return a.position_ - b.position_; }
  friend bool operator==(const RowIterator& a, const RowIterator& b) { return a.position_ == b.position_; }
  friend auto operator<=>(const RowIterator& a, const RowIterator& b) { return a.position_ <=> b.position_; }

 private:
  Self x_;
  std::int64_t position_ = 0;
};

}  // namespace sinter::inline v1::detail
