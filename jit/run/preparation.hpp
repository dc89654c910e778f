// Compiling a recipe's kernels in the background.
#pragma once
#include <future>
#include <memory>

#include "runner.hpp"

namespace sinter::inline v1::jit {

/// Plans now, and compiles in the background what running `call` would need; its kernels live while the work does.
/// Throws what run() throws, Error when no thread can be started; the future throws the first error of compiling.
std::future<void> start_preparing(const std::shared_ptr<const Recipe>& recipe, Call call);

}  // namespace sinter::inline v1::jit
