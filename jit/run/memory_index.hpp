// Which of many arrays may share memory with one of them, without comparing all pairs.
#pragma once
#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <span>

#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::jit {

/// Arrays by the addresses that they span. Those without memory of their own, such as iota tensors and tensors on a
/// mesh, may share memory with any.
class MemoryIndex {
 public:
  explicit MemoryIndex(std::span<runtime::TensorImpl* const> arrays) {
    for (std::size_t i = 0; i < arrays.size(); ++i)
      if (arrays[i]) add(*arrays[i], i);
    std::ranges::sort(spans_, {}, &Span::first);
    const std::byte* furthest = nullptr;
    for (Span& s : spans_) s.furthest = furthest = std::max(furthest, s.last);
  }

  /// Calls f(i) for every array i that may share memory with `with`, until it returns true. Returns whether it did.
  template <class F>
  bool any_candidate(const runtime::TensorImpl& with, F f) const {
    for (const std::size_t i : elsewhere_)
      if (f(i)) return true;
    const auto [first, last] = runtime::byte_range(with);
    auto s = std::ranges::lower_bound(spans_, last, {}, &Span::first);
    while (s != spans_.begin() && (--s)->furthest > first)
      if (s->last > first && f(s->array)) return true;
    return false;
  }

 private:
  struct Span {
    const std::byte *first, *last;
    std::size_t array;
    const std::byte* furthest = nullptr;  // the end of all spans up to this one
  };

  void add(const runtime::TensorImpl& t, std::size_t i) {
    const auto [first, last] = runtime::byte_range(t);
    if (!t.data)
      elsewhere_.push_back(i);
    else if (first != last)
      spans_.push_back({first, last, i});
  }

  boost::container::small_vector<Span, 16> spans_;
  boost::container::small_vector<std::size_t, 4> elsewhere_;
};

}  // namespace sinter::inline v1::jit
