// Compiling in the background.
#pragma once
#include <future>
#include <span>

#include <sinter/jit/lazy.hpp>

namespace sinter::inline v1::jit {

/// Mode::Prepare in the background, on several threads: plans now, and compiles all kernels while the caller continues.
/// Throws what planning throws; the future throws the first error of compilation.
std::future<void> prepare_async(const Bound& tree, Device device = {});
std::future<void> prepare_async(std::span<const LazyRef> values);

}  // namespace sinter::inline v1::jit
