// The words that a kernel receives.
#pragma once
#include <boost/container/small_vector.hpp>
#include <cstdint>

#include "class_key.hpp"

namespace sinter::inline v1::jit {

/// Parameter words; those of ordinary kernels are kept inline.
using Words = boost::container::small_vector<std::uint64_t, 64>;

/// Appends the words of a nest for a class that holds it: pointers, count, extents and dividers, strides (the order is
/// stated at KernelClass). Returns the number of threads that have work.
std::int64_t nest_words(Words& words, const KernelClass& c, const LoopNest& nest);

/// A scalar's value in the dtype that the kernel uses it in, zero-extended; converts as kernels do.
std::uint64_t scalar_word(Scalar value, Category arrives_as, DType dtype) noexcept;

}  // namespace sinter::inline v1::jit
