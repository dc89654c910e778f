// Compiling in the background.
#pragma once
#include <future>
#include <span>

#include <sinter/jit/lazy.hpp>

namespace sinter::inline v1::jit {

/// Mode::Prepare in the background, on several threads: plans now, then compiles all kernels while the caller goes on.
/// Throws now what planning throws; the future throws what compiling throws, the first of it.
std::future<void> prepare_async(const Bound& tree, Device device = {});
std::future<void> prepare_async(std::span<const LazyRef> values);

}  // namespace sinter::inline v1::jit
