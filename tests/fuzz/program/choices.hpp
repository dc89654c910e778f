// The decisions of a random program, read from bytes: the same bytes are the same program.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <span>

namespace sinter::fuzz {

class Choices {
 public:
  explicit Choices(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  bool empty() const noexcept { return at_ >= bytes_.size(); }
  /// From 0 to n - 1; 0 when the bytes are used up.
  int below(int n) noexcept { return empty() || n <= 1 ? 0 : bytes_[at_++] % n; }
  int between(int first, int last) noexcept { return first + below(last - first + 1); }
  bool often(int percent) noexcept { return below(100) >= 100 - percent; }
  template <class T>
  T pick(std::initializer_list<T> of) noexcept {
    return of.begin()[below(static_cast<int>(of.size()))];
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

}  // namespace sinter::fuzz
