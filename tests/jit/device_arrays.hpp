// Arrays of any layout on any device, with their values known on the host.
#pragma once
#include <cstring>
#include <numeric>

#include <runtime/gpus.hpp>
#include <sinter/runtime/backend.hpp>
#include <sinter/runtime/tensor_impl.hpp>
#include "interpreter.hpp"

namespace sinter::testing {

using runtime::TensorImpl;
using runtime::TensorRef;

/// The devices that executor tests run on: the CPU and a GPU. Test parameters are made from them, also in processes of
/// other files, so a virtual one is named without checking that it exists.
inline std::vector<Device> test_devices() {
  std::vector<Device> devices{Device()};
  if (test::virtual_gpus || cuda_is_available()) devices.push_back(Device(0));
  return devices;
}

inline bool has_gpu() { return test_devices().size() > 1; }

/// The bytes of the whole buffer that contains an array.
inline std::vector<std::byte> bytes_of_buffer(const TensorImpl& t) {
  std::vector<std::byte> bytes(t.buffer->bytes());
  if (bytes.empty()) return bytes;
  if (t.device.is_cpu())
    std::memcpy(bytes.data(), t.buffer->data(), bytes.size());
  else
    runtime::backend(t.device).download(bytes.data(), t.buffer->data(), bytes.size());
  return bytes;
}

/// Offset, in elements, of element `i` of `shape` in an array that broadcasts to it.
inline std::int64_t offset_of(const TensorImpl& t, const Shape& shape, std::int64_t i) {
  std::int64_t offset = 0;
  for (int axis = shape.ndim() - 1; axis >= 0; --axis) {
    const std::int64_t c = i % shape[axis];
    i /= shape[axis];
    const int own = t.ndim() - (shape.ndim() - axis);
    if (own >= 0 && t.shape[own] != 1) offset += c * t.strides[own];
  }
  return offset;
}

/// The elements of an array, broadcast to `shape`, in row-major order. Index tensors hold their positions.
inline std::vector<std::uint64_t> values_over(const TensorImpl& t, const Shape& shape) {
  std::vector<std::uint64_t> values(static_cast<std::size_t>(shape.numel()));
  const std::vector<std::byte> bytes = t.buffer ? bytes_of_buffer(t) : std::vector<std::byte>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t offset = offset_of(t, shape, static_cast<std::int64_t>(i));
    if (!t.buffer)
      values[i] = static_cast<std::uint64_t>(offset);
    else
      std::memcpy(&values[i],
                  bytes.data() + (t.data - t.buffer->data()) + offset * static_cast<std::int64_t>(size_of(t.dtype)),
                  size_of(t.dtype));
  }
  return values;
}
/// Runs `f`, which may cause integer division by zero and positions out of range: reported at once on the CPU, at the
/// next synchronization on a GPU. These count as 0.
template <class F>
void despite_faults(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    const std::string_view said = e.what();
    if (!said.starts_with("ZeroDivisionError") && !said.starts_with("IndexError")) throw;
  }
}

inline std::vector<std::uint64_t> values_of(const TensorImpl& t) { return values_over(t, t.shape); }

/// Fills the whole buffer of a new array with values that tend to cause errors.
inline void fill(TensorImpl& t, std::mt19937_64& random) {
  const std::size_t size = size_of(t.dtype), count = t.buffer->bytes() / size;
  std::vector<std::byte> bytes(count * size);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = special_bits(t.dtype, random);
    std::memcpy(bytes.data() + i * size, &bits, size);
  }
  if (bytes.empty()) return;
  if (t.device.is_cpu())
    std::memcpy(t.buffer->data(), bytes.data(), bytes.size());
  else
    runtime::backend(t.device).upload(t.buffer->data(), bytes.data(), bytes.size());
}

/// A contiguous array of the given values.
inline TensorRef device_array(DType dtype, const Shape& shape, Device device,
                              const std::vector<std::uint64_t>& values) {
  TensorRef t = runtime::empty(shape, dtype, device);
  const std::size_t size = size_of(dtype);
  std::vector<std::byte> bytes(values.size() * size);
  for (std::size_t i = 0; i < values.size(); ++i) std::memcpy(bytes.data() + i * size, &values[i], size);
  if (bytes.empty()) return t;
  if (device.is_cpu())
    std::memcpy(t->data, bytes.data(), bytes.size());
  else
    runtime::backend(device).upload(t->data, bytes.data(), bytes.size());
  return t;
}

enum class Layout { Contiguous, Any };

/// A filled array. With Layout::Any a random view: misaligned, with steps, reversed, its dims in any order.
inline TensorRef random_array(DType dtype, const Shape& shape, Device device, Layout layout, std::mt19937_64& random) {
  if (layout == Layout::Contiguous || random() % 3 == 0) {
    TensorRef t = runtime::empty(shape, dtype, device);
    fill(*t, random);
    return t;
  }
  std::vector<int> order(static_cast<std::size_t>(shape.ndim()));
  std::iota(order.begin(), order.end(), 0);
  if (random() % 2) std::ranges::shuffle(order, random);
  Shape strides = shape;
  std::int64_t step = 1, offset = static_cast<std::int64_t>(random() % 4);
  for (std::size_t i = order.size(); i-- > 0;) {
    const int axis = order[i];
    const std::int64_t every = random() % 3 == 0 ? 1 + static_cast<std::int64_t>(random() % 3) : 1;
    const bool backwards = random() % 5 == 0;
    strides[axis] = (backwards ? -step : step) * every;
    if (backwards && shape[axis] > 0) offset += (shape[axis] - 1) * step * every;
    step *= shape[axis] * every + static_cast<std::int64_t>(random() % 4 == 0);
  }
  TensorRef base = runtime::empty(Shape{std::max<std::int64_t>(step, 1) + 4}, dtype, device);
  fill(*base, random);
  return runtime::view(*base, shape, strides, shape.numel() == 0 ? 0 : offset);
}

/// Extents that kernels treat differently.
inline Shape random_shape(std::mt19937_64& random, std::int64_t max_numel = 4000) {
  constexpr std::int64_t extents[] = {1, 1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 32, 33, 64, 100, 255, 256, 257, 1023, 1024};
  Shape shape;
  for (std::uint64_t ndim = random() % 5; ndim > 0; --ndim) {
    const std::int64_t extent = random() % 40 == 0 ? 0 : extents[random() % std::size(extents)];
    if (shape.numel() * extent <= max_numel) shape.push_back(extent);
  }
  return shape;
}

/// A shape that broadcasts to `shape`.
inline Shape broadcastable(const Shape& shape, std::mt19937_64& random) {
  Shape s;
  const int dropped = random() % 3 == 0 && shape.ndim() > 0
                          ? static_cast<int>(random() % static_cast<std::uint64_t>(shape.ndim() + 1))
                          : 0;
  for (int axis = dropped; axis < shape.ndim(); ++axis) s.push_back(random() % 4 == 0 ? 1 : shape[axis]);
  return s;
}

}  // namespace sinter::testing
