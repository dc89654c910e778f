// Kernels for embedding: C source of expressions, for programs that do not use Sinter.
#pragma once
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <sinter/dsl/array.hpp>
#include <sinter/dsl/lazy.hpp>
#include <sinter/jit/export.hpp>

namespace sinter::inline v1 {

namespace detail {

/// Makes the extents that types fix numbers of the kernel's signature, unless the options name them. `leaves` are the
/// tree's, as it mentions them; `types` are their extents.
void fix_extents(jit::Export& kernel, std::span<runtime::TensorImpl* const> leaves, std::span<const StaticShape> types);

}  // namespace detail

/// An expression as a kernel of a library. Its tensors become parameters: their extents are only examples, except
/// that an extent of 1 stays 1, and their elements are not read. Extents in a tensor's type are fixed: the kernel is
/// compiled for them. Throws nothing itself.
template <expression E>
jit::Export exported(E&& e, ExportOptions options = {}) {
  auto&& lifted = lift(std::forward<E>(e));
  jit::Export out{jit::Recorded(description(lifted)), std::move(options)};
  for (runtime::TensorImpl* leaf : out.expression.leaves)
    out.expression.held.push_back(runtime::TensorRef::share(leaf));
  using Lifted = std::remove_cvref_t<decltype(lifted)>;
  if constexpr (requires { typename Lifted::tree; }) {
    if constexpr (detail::has_extents<typename Lifted::tree>) {
      detail::StaticShape types[Lifted::leaf_count];
      detail::add_leaves(types, static_cast<typename Lifted::tree*>(nullptr));
      detail::fix_extents(out, lifted.value.leaves, types);
    }
  }
  return out;
}

/// Several expressions as one kernel with an output for each: shared parts are read and computed once. Throws
/// DeviceError if they are on different devices.
template <expression... E>
jit::Export exported_together(ExportOptions options, E&&... e) {
  const jit::LazyRef values[] = {jit::lazy(jit::Recorded(description(lift(std::forward<E>(e)))))...};
  return {jit::Recorded(std::span(values)), std::move(options)};
}

/// Exports expressions as one library: `export_kernels({exported(e, {.name = "e"}), ...}, {.name = "kernels"})`. Throws
/// Error for invalid C names and for what cannot be exported (matrix products), CompileError, and DeviceError if NVRTC
/// is missing or does not know an architecture.
inline Exported export_kernels(const std::vector<jit::Export>& kernels, const LibraryOptions& library = {}) {
  return jit::export_library(kernels, library);
}

/// Exports one expression as a library of the same name. Throws what export_kernels throws.
template <expression E>
Exported export_kernel(E&& e, ExportOptions options = {}, LibraryOptions library = {}) {
  library.name = options.name;
  return jit::export_library({exported(std::forward<E>(e), std::move(options))}, library);
}

}  // namespace sinter::inline v1
