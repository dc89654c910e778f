// Writes at computed places, by a GPU's threads.
#pragma once
#include <cstdint>
#include <string>

#include <sinter/jit/scatter.hpp>

namespace sinter::inline v1::jit::cuda {

/// Whether a GPU adds to elements of this dtype while others do.
bool adds_in_place(DType dtype) noexcept;

/// As jit::write_at. Places that are none are skipped, and `fault` is reported. Returns at once.
void write_at(const runtime::TensorImpl& x, const runtime::TensorImpl& places, const runtime::TensorImpl& values,
              Write how, const std::string& fault);

}  // namespace sinter::inline v1::jit::cuda
