// Tensors from nested lists of numbers.
#include <fmt/format.h>

#include <limits>

#include <sinter/dsl/value.hpp>
#include <sinter/jit/evaluate.hpp>
#include <sinter/runtime/error.hpp>
#include "convert.hpp"

namespace sinter::python {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view function) : function_(function) {}
  void read(nb::handle data) {
    read(data, 0);
    if (numbers_.empty()) highest_ = Category::Float;
  }
  DType natural() const { return default_dtype(highest_); }

  /// On the CPU, in the widest dtype of the category.
  TensorRef tensor() const {
    constexpr DType widest[] = {DType::Bool, DType::Int64, DType::Float64, DType::Complex128};
    const TensorRef t = runtime::empty(shape_, widest[static_cast<int>(highest_)], Device());
    switch (highest_) {
      case Category::Bool: fill<bool>(*t); break;
      case Category::Int: fill<std::int64_t>(*t); break;
      case Category::Float: fill<double>(*t); break;
      case Category::Complex: fill<std::complex<double>>(*t); break;
    }
    return t;
  }
  /// Throws Error for an integer that an integer dtype cannot hold.
  void check_fit(DType dtype) const {
    if (highest_ > Category::Int || category(dtype) != Category::Int || dtype == DType::Int64) return;
    const int bits = 8 * static_cast<int>(size_of(dtype));
    const std::int64_t least = is_unsigned(dtype) ? 0 : -(std::int64_t{1} << (bits - 1));
    const std::int64_t largest =
        bits == 64 ? std::numeric_limits<std::int64_t>::max() : least + (std::int64_t{1} << bits) - 1;
    for (const TextNumber& n : numbers_)
      if (n.integer < least || n.integer > largest) detail::throw_does_not_fit(n.integer, dtype);
  }

 private:
  void read(nb::handle data, int depth) {
    if (!is_list(data)) return read_number(data, depth);
    const nb::tuple items(data);
    const auto length = static_cast<std::int64_t>(items.size());
    if (ndim_ >= 0 && depth >= ndim_) throw_ragged(depth);
    if (depth == shape_.ndim()) {
      if (depth == max_ndim)
        throw ShapeError(fmt::format("{}: the lists are nested deeper than {} levels", function_, max_ndim));
      shape_.push_back(length);
    } else if (shape_[depth] != length) {
      throw ShapeError(fmt::format("{}: the lists differ in length, {} and {}, at level {}: a tensor is rectangular",
                                   function_, shape_[depth], length, depth));
    }
    if (length == 0 && ndim_ < 0) ndim_ = depth + 1;
    for (const nb::handle item : items) read(item, depth + 1);
  }
  void read_number(nb::handle data, int depth) {
    const auto number = number_from(function_, data);
    if (!number)
      throw_type_error(fmt::format("{} takes numbers, lists of them, arrays and tensors, but got {}{}", function_,
                                   describe(data), depth > 0 ? " in a list" : ""));
    if (ndim_ < 0) ndim_ = depth;
    if (depth != ndim_) throw_ragged(depth);
    highest_ = std::max(highest_, number->category);
    numbers_.push_back(*number);
  }
  [[noreturn]] void throw_ragged(int depth) const {
    throw ShapeError(
        fmt::format("{}: numbers and lists are mixed at level {}: a tensor is rectangular", function_, depth));
  }
  template <class T>
  void fill(TensorImpl& t) const {
    T* to = reinterpret_cast<T*>(t.data);
    for (const TextNumber& n : numbers_) {
      if constexpr (std::is_same_v<T, std::complex<double>>)
        *to++ = n.value;
      else if constexpr (std::is_same_v<T, double>)
        *to++ = n.value.real();
      else
        *to++ = static_cast<T>(n.integer);
    }
  }

  std::string_view function_;
  Shape shape_;
  int ndim_ = -1;  // nesting depth of the first number
  Category highest_ = Category::Bool;
  std::vector<TextNumber> numbers_;
};

}  // namespace

TensorRef tensor_of_numbers(std::string_view function, nb::handle data, std::optional<DType> dtype, Device device) {
  Reader reader(function);
  reader.read(data);
  const DType wanted = dtype.value_or(reader.natural());
  if (is_complex(reader.natural()) && !is_complex(wanted))
    throw DTypeError(fmt::format("{}: complex numbers cannot be converted to {}", function, name(wanted)));
  reader.check_fit(wanted);
  const TensorRef wide = reader.tensor();
  return without_gil([&] { return jit::to(*wide, wanted, device); });
}

}  // namespace sinter::python
