// Scatter, by a GPU's threads.
#pragma once
#include <cstdint>
#include <string>

#include <sinter/jit/scatter.hpp>

namespace sinter::inline v1::jit::cuda {

/// Whether a GPU has atomic additions of this dtype.
bool adds_in_place(DType dtype) noexcept;

/// Like jit::write_at. Invalid places are skipped and `fault` is reported. Asynchronous.
void write_at(const runtime::TensorImpl& x, const runtime::TensorImpl& places, const runtime::TensorImpl& values,
              Write how, const std::string& fault);

}  // namespace sinter::inline v1::jit::cuda
