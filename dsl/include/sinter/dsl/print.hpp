// Printing, identical to PyTorch's to the character.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1 {

/// Print options, with PyTorch's names. A member without a value leaves the option unchanged.
struct PrintOptions {
  std::optional<int> precision = {};           // digits after the decimal point: 0 to 1074; default 4
  std::optional<std::int64_t> threshold = {};  // tensors with more elements are summarized; default 1000
  std::optional<int> edgeitems = {};           // elements shown at each end of a summarized axis; default 3
  std::optional<int> linewidth = {};           // characters per line; default 80
  std::optional<bool> sci_mode = {};           // scientific notation; without a value the tensor's elements decide
};

/// Sets the members that have a value, for all threads; sci_mode is always set, as by torch.set_printoptions. Returns
/// the previous options, so that set_printoptions(before) restores them. Throws Error for a number out of its range.
PrintOptions set_printoptions(const PrintOptions& changes);

/// The current options.
PrintOptions printoptions();

/// In the form of to_string() and name(): "(2, 3)", "cuda:0", "float32".
std::ostream& operator<<(std::ostream& out, const Shape& shape);
std::ostream& operator<<(std::ostream& out, const Device& device);
std::ostream& operator<<(std::ostream& out, DType dtype);

namespace detail {

/// PyTorch's text for these elements, except for the dtype's name: dtype=float64. Waits for the device; for a
/// summarized tensor only the elements shown are copied. Throws CudaError, OutOfMemory.
std::string to_string(const runtime::TensorImpl& t);

}  // namespace detail
}  // namespace sinter::inline v1
