// A strided array on a device, without its C++ element type: what jit/ reads and writes.
#pragma once
#include <sinter/runtime/buffer.hpp>
#include <sinter/runtime/dtype.hpp>
#include <sinter/runtime/shape.hpp>

namespace sinter::inline v1::runtime {

struct TensorImpl : Counted<TensorImpl> {
  DType dtype = DType::Float32;
  bool contiguous = true;  // row-major without gaps
  std::int8_t split = -1;  // on a mesh, unless every position has all: the axis in pieces, from the first one
  Device device;
  std::byte* data = nullptr;  // first element; null when there is no memory, as in an index tensor
  std::int64_t first = 0;     // of an index tensor: the value of its first element; on a mesh: which it is of all
  std::int64_t numel = 1;
  Shape shape;
  Shape strides;  // in elements; any sign, 0 where expanded
  Ref<Buffer> buffer;

  int rank() const noexcept { return shape.rank(); }
  static void destroy(TensorImpl* impl) noexcept;
};

using TensorRef = Ref<TensorImpl>;

/// Uninitialised, contiguous. Throws ShapeError, OutOfMemory, DeviceError.
TensorRef empty(const Shape& shape, DType dtype, Device device);

/// The same on the CPU, in page-locked memory. Throws ShapeError, OutOfMemory, DeviceError.
TensorRef empty_pinned(const Shape& shape, DType dtype);

/// Contiguous, over memory that is there already, which `owner` keeps: nothing is copied. Throws ShapeError, and Error
/// where `data` is not aligned for the dtype.
TensorRef over_memory(const Shape& shape, DType dtype, std::byte* data, std::shared_ptr<const void> owner,
                      Device device = Device());
/// Whether elements lie in row-major order without gaps. An extent of 1 makes its stride meaningless.
bool is_contiguous(const Shape& shape, const Shape& strides) noexcept;
/// Whether elements of the dtype may lie there.
bool is_aligned(const std::byte* data, DType dtype) noexcept;

/// What a view makes of the axis in pieces of a tensor on a mesh, where it is not named: it has none of it any more, or
/// strides tell. Of one row they do not.
inline constexpr int taken_away = -1, by_strides = -2;

/// Another view of the same memory, `offset` elements further on. Sets `contiguous` from shape and strides. `split`
/// says which of its axes is the one in pieces.
TensorRef view(const TensorImpl& of, const Shape& shape, const Shape& strides, std::int64_t offset = 0,
               int split = by_strides);

/// A tensor without memory whose element i is its row-major position i (int64), which kernels compute. A view of it
/// has the positions that the elements had.
TensorRef index_tensor(const Shape& shape, Device device);
/// A number of a float dtype without memory, which changes nothing where it is added: kernels have it for the constant
/// -0. It takes the place of a tensor that is absent.
TensorRef absent_addend(DType dtype, Device device);
/// Whether it is one of these.
inline bool is_index(const TensorImpl& t) noexcept { return t.data == nullptr && t.numel > 0 && !t.buffer; }

/// The bytes [first, second) that a tensor's elements lie in; empty when it has no elements or no memory.
std::pair<const std::byte*, const std::byte*> byte_range(const TensorImpl& t) noexcept;

/// "float32 (2, 3) on cuda:0", for messages.
std::string describe(const TensorImpl& t);

}  // namespace sinter::inline v1::runtime
