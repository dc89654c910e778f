// The words that a kernel receives.
#pragma once
#include <boost/container/small_vector.hpp>
#include <cstdint>

#include "class_key.hpp"

namespace sinter::inline v1::jit {

/// Parameter words; those of ordinary kernels are kept inline.
using Words = boost::container::small_vector<std::uint64_t, 160>;

/// How many words a nest takes in a class.
std::size_t nest_word_count(const KernelClass& c) noexcept;

/// Writes the words of a nest for a class that holds it: pointers, count, extents and dividers, strides (the order is
/// stated at KernelClass). Returns the end.
std::uint64_t* write_nest(std::uint64_t* words, const KernelClass& c, const LoopNest& nest) noexcept;

/// Threads that have work.
inline std::int64_t thread_count(const KernelClass& c, const LoopNest& nest) noexcept {
  return nest.numel >= c.lanes ? nest.numel / c.lanes : nest.numel;
}

/// A scalar's value in the dtype that the kernel uses it in, zero-extended; converts as kernels do.
std::uint64_t scalar_word(Scalar value, Category arrives_as, DType dtype) noexcept;

}  // namespace sinter::inline v1::jit
