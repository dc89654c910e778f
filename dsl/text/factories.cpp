// Factories: zeros, ones_like, arange. Each evaluates.
#include <sinter/dsl/factory.hpp>

#include "value.hpp"

namespace sinter::inline v1::detail {
namespace {

using Kind = TextValue::Kind;

Number number_of(const TextValue& v) {
  return with_operand(v, []<class N>(const N& n) -> Number {
    if constexpr (expression<N>)
      return Number(0);  // which number() rejects
    else
      return Number(n);
  });
}

/// A number; the dtype that it gives a tensor unless another is requested.
const TextValue& number(const Arguments& a, std::size_t i) {
  if (!a[i] || a[i]->kind != Kind::Number) a.wrong(i, "a number");
  return *a[i];
}
DType dtype_of_number(Category category) {
  constexpr DType dtypes[] = {DType::Bool, DType::Int64, DType::Float32, DType::Complex64};
  return dtypes[static_cast<int>(category)];
}

TextValue filled(const Shape& shape, DType dtype, Device device, Number value) {
  return value_of(AnyTensor(full(shape, dtype, device, value)));
}

TextValue empty_tensor(const Arguments& a) {
  return value_of(AnyTensor(runtime::empty(a.shape(0), a.dtype(1, DType::Float32), a.device(2))));
}
TextValue zero_tensor(const Arguments& a) { return filled(a.shape(0), a.dtype(1, DType::Float32), a.device(2), false); }
TextValue one_tensor(const Arguments& a) { return filled(a.shape(0), a.dtype(1, DType::Float32), a.device(2), true); }
TextValue full_tensor(const Arguments& a) {
  const TextValue& value = number(a, 1);
  return filled(a.shape(0), a.dtype(2, dtype_of_number(value.number.category)), a.device(3), number_of(value));
}

/// Properties of the tensor or expression that a tensor is to be like; nothing is evaluated.
struct Like {
  Shape shape;
  DType dtype;
  Device device;

  Like(const Arguments& a, std::size_t dtype_at)
      : shape(a.tensor(0).shape),
        dtype(a.dtype(dtype_at, a.tensor(0).node->dtype())),
        device(a.device(dtype_at + 1, a.tensor(0).node->device())) {}
};
TextValue empty_like_tensor(const Arguments& a) {
  const Like like(a, 1);
  return value_of(AnyTensor(runtime::empty(like.shape, like.dtype, like.device)));
}
TextValue zero_like_tensor(const Arguments& a) {
  const Like like(a, 1);
  return filled(like.shape, like.dtype, like.device, false);
}
TextValue one_like_tensor(const Arguments& a) {
  const Like like(a, 1);
  return filled(like.shape, like.dtype, like.device, true);
}
TextValue full_like_tensor(const Arguments& a) {
  const Like like(a, 2);
  return filled(like.shape, like.dtype, like.device, number_of(number(a, 1)));
}

/// start, end, step; with one bound it is the end.
TextValue counted(const Arguments& a) {
  const auto real = [&](std::size_t i) {
    if (number(a, i).number.category == Category::Complex) a.wrong(i, "a real number");
    return a[i]->number;
  };
  const TextNumber one = TextNumber::of(std::int64_t{1}), zero = TextNumber::of(std::int64_t{0});
  const TextNumber start = a[1] ? real(0) : zero, end = real(a[1] ? 1 : 0), step = a[2] ? real(2) : one;
  const Device device = a.device(4);
  if (start.is_integral() && end.is_integral() && step.is_integral())
    return value_of(AnyTensor(arange(start.integer, end.integer, step.integer, a.dtype(3, DType::Int64), device)));
  return value_of(
      AnyTensor(arange(start.value.real(), end.value.real(), step.value.real(), a.dtype(3, DType::Float32), device)));
}

TextValue spaced(const Arguments& a) {
  a.required(0), a.required(1);
  const DType dtype = a.dtype(3, DType::Float32);
  if (category(dtype) != Category::Float) a.wrong(3, "a dtype of floats");
  return value_of(AnyTensor(linspace(a.real(0, 0), a.real(1, 0), a.integer(2), dtype, a.device(4))));
}

TextValue identity(const Arguments& a) {
  const std::int64_t rows = a.integer(0);
  return value_of(AnyTensor(eye(rows, a.integer(1, rows), a.dtype(2, DType::Float32), a.device(3))));
}

}  // namespace

std::span<const TextFunction> factory_functions() {
  constexpr std::string_view tensor = "Tensor";
  static const auto& all = *new std::vector<TextFunction>{
      {"empty", "*size, dtype=None, device=None", "a new tensor with undefined elements", empty_tensor, tensor},
      {"zeros", "*size, dtype=None, device=None", "a new tensor of zeros; float32 unless a dtype is given", zero_tensor,
       tensor},
      {"ones", "*size, dtype=None, device=None", "a new tensor of ones; float32 unless a dtype is given", one_tensor,
       tensor},
      {"full", "size, fill_value, *, dtype=None, device=None", "a new tensor in which every element is one number",
       full_tensor, tensor},
      {"empty_like", "input, *, dtype=None, device=None",
       "a tensor of x's shape, dtype and device with undefined elements", empty_like_tensor, tensor},
      {"zeros_like", "input, *, dtype=None, device=None", "zeros in x's shape, dtype and device", zero_like_tensor,
       tensor},
      {"ones_like", "input, *, dtype=None, device=None", "ones in x's shape, dtype and device", one_like_tensor,
       tensor},
      {"full_like", "input, fill_value, *, dtype=None, device=None", "one number in x's shape, dtype and device",
       full_like_tensor, tensor},
      {"arange", "start, end=None, step=1, *, dtype=None, device=None",
       "start, start + step, ... before end; 0, 1, ... before the only bound. int64 for integers, else float32",
       counted, tensor},
      {"linspace", "start, end, steps, *, dtype=None, device=None",
       "evenly spaced floats from start to end, both included", spaced, tensor},
      {"eye", "n, m=None, *, dtype=None, device=None", "ones on the diagonal of a matrix, zeros elsewhere", identity,
       tensor},
  };
  return all;
}

}  // namespace sinter::inline v1::detail
