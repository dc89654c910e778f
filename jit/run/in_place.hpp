// Which outputs of a plan may be written in the place of tensors that it reads.
#pragma once
#include <cstdint>

#include <sinter/runtime/tensor_impl.hpp>
#include "../plan/overlap.hpp"
#include "compiled_graph.hpp"
#include "memory_index.hpp"

namespace sinter::inline v1::jit {

/// Whether a kernel may write an output to a leaf's memory, element for element: it reads each element before it writes
/// it. In a product, only the addend is read so.
bool writes_in_place(const Kernel& kernel, std::size_t output, const runtime::TensorImpl& to, Leaves leaves);

/// How writing an output to the array `to` affects what its kernel and later ones read. None: not at all, as with
/// memory that only earlier kernels read. Same: it takes the place of leaves that its kernel reads element for element,
/// last. Some: elements would be overwritten before they are read, so the output needs another array. `index` is of
/// `leaves`.
Overlap overlap_with_reads(const runtime::TensorImpl& to, std::uint32_t output, const CompiledGraph& compiled,
                           const ExecutablePlan& plan, Leaves leaves, const MemoryIndex& index);

}  // namespace sinter::inline v1::jit
