// Printing, to the character as PyTorch prints.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1 {

/// How tensors are printed, by PyTorch's names. A member without a value stands for "as it is".
struct PrintOptions {
  std::optional<int> precision = {};           // digits after the point of floats: 0 to 1074; 4 at start
  std::optional<std::int64_t> threshold = {};  // tensors of more elements are summarised; 1000 at start
  std::optional<int> edgeitems = {};           // elements shown at each end of a summarised axis; 3 at start
  std::optional<int> linewidth = {};           // characters in a line; 80 at start
  std::optional<bool> sci_mode = {};           // scientific notation; without a value each tensor's elements decide
};

/// Changes what has a value, for all threads; sci_mode is set in any case, as by torch.set_printoptions. Returns what
/// was in force before, so that set_printoptions(before) restores it. Throws Error when a number is out of its range.
PrintOptions set_printoptions(const PrintOptions& changes);

/// The options in force.
PrintOptions printoptions();

/// As to_string() and name() have them: "(2, 3)", "cuda:0", "float32".
std::ostream& operator<<(std::ostream& out, const Shape& shape);
std::ostream& operator<<(std::ostream& out, const Device& device);
std::ostream& operator<<(std::ostream& out, DType dtype);

namespace detail {

/// The text that PyTorch gives for these elements, but for the dtype's name: dtype=float64. Waits for the device; of a
/// summarised tensor only the elements that are shown are copied. Throws CudaError, OutOfMemory.
std::string to_string(const runtime::TensorImpl& t);

}  // namespace detail
}  // namespace sinter::inline v1
