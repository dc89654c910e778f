// Trace spans of library calls, which are not kernels of a graph.
#pragma once
#include <runtime/trace/span.hpp>
#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::jit {

/// A trace span for a call on `elements` elements, until the end of the scope.
inline runtime::TraceSpan library_span(std::string_view call, std::int64_t elements) noexcept {
  return runtime::TraceSpan(runtime::TraceCategory::Library, call, {{"elements", elements}});
}

}  // namespace sinter::inline v1::jit
