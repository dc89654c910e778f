#include "cpu_scatter.hpp"

#include <type_traits>

#include <runtime/bools.hpp>
#include <sinter/runtime/float_environment.hpp>

namespace sinter::inline v1::jit::cpu {
namespace {

std::int64_t position(std::int64_t index, std::int64_t extent) noexcept { return index < 0 ? index + extent : index; }

/// The iteration space: rows along the last dim.
struct ScatterRows {
  const Shape& over;
  const Shape& own;
  std::span<const Index> indices;
  const Shape& value_strides;

  int last() const noexcept { return over.ndim() - 1; }

  /// Calls f(place, value) for one row, whose first position has these coordinates.
  template <class F>
  void row(const std::int64_t* at, F f) const {
    const std::int64_t n = over[last()];
    std::int64_t place = offset(own, at), value = offset(value_strides, at);
    const std::int64_t step = own[last()], value_step = value_strides[last()];
    std::int64_t varying = 0;  // indices that vary along the row; the others are added here
    for (const Index& i : indices)
      if (i.strides[last()] == 0)
        place += position(i.data[offset(i.strides, at)], i.extent) * i.stride;
      else
        ++varying;
    if (varying == 0 && step == 1 && value_step == 1) {  // vectorizable
      for (std::int64_t j = 0; j < n; ++j) f(place + j, value + j);
    } else if (varying == 0) {
      for (std::int64_t j = 0; j < n; ++j) f(place + j * step, value + j * value_step);
    } else if (varying == 1 && indices.size() == 1) {
      const Index& i = indices[0];
      const std::int64_t* index = i.data + offset(i.strides, at);
      const std::int64_t index_step = i.strides[last()];
      for (std::int64_t j = 0; j < n; ++j)
        f(place + j * step + position(index[j * index_step], i.extent) * i.stride, value + j * value_step);
    } else {
      for (std::int64_t j = 0; j < n; ++j) f(place + j * step + sum_of_varying(at, j), value + j * value_step);
    }
  }

 private:
  static std::int64_t offset(const Shape& strides, const std::int64_t* at) {
    std::int64_t sum = 0;
    for (int d = 0; d + 1 < strides.ndim(); ++d) sum += strides[d] * at[d];
    return sum;
  }
  std::int64_t sum_of_varying(const std::int64_t* at, std::int64_t j) const {
    std::int64_t sum = 0;
    for (const Index& i : indices)
      if (const std::int64_t step = i.strides[last()]; step != 0)
        sum += position(i.data[offset(i.strides, at) + j * step], i.extent) * i.stride;
    return sum;
  }
};

template <class F>
void for_each(const ScatterRows& rows, F f) {
  std::int64_t at[max_ndim] = {};
  for (std::int64_t left = rows.over.numel() / rows.over[rows.last()]; left > 0; --left) {
    rows.row(at, f);
    for (int d = rows.last() - 1; d >= 0; at[d--] = 0)
      if (++at[d] < rows.over[d]) break;
  }
}

template <class T>
T sum(T a, T b) noexcept {
  if constexpr (std::is_same_v<T, bool>)
    return a || b;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else if constexpr (std::is_floating_point_v<T> || category(dtype_of<T>) == Category::Complex)
    return a + b;
  else
    return T(static_cast<float>(a) + static_cast<float>(b));
}

}  // namespace

void scatter(std::byte* to, DType dtype, const Shape& over, const Shape& own, std::span<const Index> indices,
             const Values& values, Write how) {
  const runtime::DefaultFloatEnvironment floats;
  const ScatterRows rows{over, own, indices, values.strides};
  visit(dtype, [&]<class T>(std::type_identity<T>) {
    T* const x = reinterpret_cast<T*>(to);
    const T* const from = reinterpret_cast<const T*>(values.data);
    if (how == Write::Add)
      for_each(rows, [=](std::int64_t place, std::int64_t value) {
        x[place] = sum(runtime::element_at(x + place), runtime::element_at(from + value));
      });
    else
      for_each(rows, [=](std::int64_t place, std::int64_t value) { x[place] = runtime::element_at(from + value); });
  });
}

}  // namespace sinter::inline v1::jit::cpu
