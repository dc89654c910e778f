#include "plain.hpp"

#include <cstring>

namespace sinter::fuzz {
namespace {

std::size_t part_size(DType dtype) { return size_of(is_complex(dtype) ? real_of(dtype) : dtype); }

}  // namespace

Plain plain(const AnyTensor& x) {
  const AnyTensor here = x.cpu().contiguous();
  Plain p{x.dtype(), x.shape(), std::vector<Cell>(static_cast<std::size_t>(x.numel()), Cell{})};
  const std::size_t part = part_size(p.dtype), parts = size_of(p.dtype) / part;
  const std::byte* from = here.impl().data;
  for (Cell& cell : p.cells)
    for (std::size_t i = 0; i < parts; ++i, from += part) std::memcpy(&cell[i], from, part);
  if (p.dtype == DType::Bool)
    for (Cell& cell : p.cells) cell[0] = cell[0] != 0;
  return p;
}

AnyTensor tensor_of(const Plain& x) {
  const AnyTensor t(runtime::empty(x.shape, x.dtype, Device()));
  const std::size_t part = part_size(x.dtype), parts = size_of(x.dtype) / part;
  std::byte* to = t.impl().data;
  for (const Cell& cell : x.cells)
    for (std::size_t i = 0; i < parts; ++i, to += part) std::memcpy(to, &cell[i], part);
  return t;
}

void for_each_position(const Shape& shape, const std::function<void(const Position&)>& f) {
  if (shape.numel() == 0) return;
  Position at(shape.size(), 0);
  for (;;) {
    f(at);
    int axis = shape.ndim() - 1;
    for (; axis >= 0; --axis) {
      std::int64_t& i = at[static_cast<std::size_t>(axis)];
      if (++i < shape[axis]) break;
      i = 0;
    }
    if (axis < 0) return;
  }
}

std::size_t number_of(const Shape& shape, const Position& position) {
  std::int64_t number = 0;
  const std::size_t skipped = position.size() - shape.size();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t extent = shape[static_cast<int>(i)];
    number = number * extent + (extent == 1 ? 0 : position[skipped + i]);
  }
  return static_cast<std::size_t>(number);
}

Plain moved(const Plain& x, const Shape& shape, const std::function<Position(const Position&)>& from) {
  Plain out{x.dtype, shape, {}};
  for_each_position(shape, [&](const Position& at) { out.cells.push_back(x.cells[number_of(x.shape, from(at))]); });
  return out;
}

std::array<long double, 2> numbers(DType dtype, const Cell& cell) {
  const DType part = is_complex(dtype) ? real_of(dtype) : dtype;
  const auto number = [&](Bits bits) {
    return test::visit_real(
        part, [&]<class T>(std::type_identity<T>) { return static_cast<long double>(test::shown(test::as<T>(bits))); });
  };
  return {number(cell[0]), is_complex(dtype) ? number(cell[1]) : 0};
}

Cell cell_of(DType dtype, long double value) {
  return test::visit_real(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (test::is_16_bit_float<T>)
      return Cell{test::narrow_float<T>(static_cast<float>(value)), 0};
    else
      return Cell{test::to_bits(test::convert_value<T>(value)), 0};
  });
}

Plain converted(const Plain& x, DType to) {
  Plain out{to, x.shape, {}};
  const DType from = is_complex(x.dtype) ? real_of(x.dtype) : x.dtype;
  const DType part = is_complex(to) ? real_of(to) : to;
  for (const Cell& cell : x.cells) {
    Cell made{test::convert_bits(cell[0], from, part), 0};
    if (is_complex(to) && is_complex(x.dtype)) made[1] = test::convert_bits(cell[1], from, part);
    if (to == DType::Bool && is_complex(x.dtype)) made[0] |= test::convert_bits(cell[1], from, DType::Bool);
    out.cells.push_back(made);
  }
  return out;
}

}  // namespace sinter::fuzz
