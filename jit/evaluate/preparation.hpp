// Compiling a compiled graph's kernels in the background.
#pragma once
#include <future>
#include <memory>

#include "../run/runner.hpp"

namespace sinter::inline v1::jit {

/// Plans now, and compiles in the background what running `call` would need; its kernels live as long as this work.
/// Throws what run() throws, Error if no thread can be started; the future throws the first error of compilation.
std::future<void> start_preparing(const std::shared_ptr<const CompiledGraph>& compiled, Call call);

}  // namespace sinter::inline v1::jit
