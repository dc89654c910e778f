// Any DLPack structure over memory that is there: it becomes a tensor of these elements, or is refused with a Sinter
// error. The deleter runs once after the tensor is gone, and never where the structure was refused.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <sinter/sinter.hpp>
#include "program/choices.hpp"

using namespace sinter;

namespace {

void check(bool right) {
  if (!right) std::abort();
}

/// No GPU, whatever this machine has: their memory is not looked at.
const bool no_gpu = setenv("SINTER_CUDA_DRIVER", "/nonexistent", 1) == 0;

/// What the elements lie in. Small strides and offsets stay within it, whatever the shape; large ones reach further
/// than memory.
constexpr std::int64_t half_bytes = 1 << 16;
std::array<std::byte, 2 * half_bytes>& memory() {
  alignas(16) static std::array<std::byte, 2 * half_bytes> bytes = [] {
    std::array<std::byte, 2 * half_bytes> numbered;
    for (std::size_t i = 0; i < numbered.size(); ++i) numbered[i] = static_cast<std::byte>(i * 7 % 251);
    return numbered;
  }();
  return bytes;
}

struct Producer {
  std::vector<std::int64_t> shape, strides;
  dlpack::Tensor tensor{};
  int deleted = 0;

  explicit Producer(fuzz::Choices& choices) {
    const int axes = choices.pick({2, 1, 0, 3, 4, 8});
    for (int i = 0; i < axes; ++i) {
      const std::int64_t extent =
          choices.pick<std::int64_t>({2, 3, 1, 4, 0, 5, -1, INT64_MAX, INT64_MIN, std::int64_t{1} << 62});
      shape.push_back(axes > 4 && extent > 2 && extent < 6 ? 2 : extent);
      strides.push_back(
          choices.pick<std::int64_t>({1, 2, 3, 0, -1, -5, 7, 40, INT64_MAX, INT64_MIN, -(std::int64_t{1} << 61)}));
    }
    tensor.data = memory().data() + half_bytes + choices.pick({0, 0, 0, 1, 2, 3, 4, 8});
    tensor.device.device_type = static_cast<dlpack::DeviceType>(choices.often(85) ? 1 : choices.below(256) - 2);
    tensor.device.device_id = choices.pick({0, 0, 0, 1, -1, INT32_MAX});
    tensor.ndim = choices.often(95) ? axes : choices.pick({-1, 9, INT32_MAX, INT32_MIN});
    tensor.dtype.code = static_cast<dlpack::TypeCode>(choices.often(90) ? choices.below(7) : choices.below(256));
    tensor.dtype.bits =
        static_cast<std::uint8_t>(choices.often(90) ? choices.pick({32, 8, 16, 64, 128}) : choices.below(256));
    if (tensor.dtype.bits == 8)  // 2^62 bytes are believed
      for (std::int64_t& extent : shape) extent = std::min<std::int64_t>(extent, axes > 4 ? 2 : 5);
    tensor.dtype.lanes = static_cast<std::uint16_t>(choices.often(95) ? 1 : choices.below(256));
    tensor.byte_offset =
        choices.often(80) ? 0 : choices.pick<std::uint64_t>({1, 4, 16, 100, UINT64_MAX, UINT64_MAX - 15});
    tensor.shape = choices.often(96) ? shape.data() : nullptr;
    tensor.strides = choices.often(60) ? strides.data() : nullptr;
    if (choices.often(4)) tensor.data = nullptr;
  }

  /// The byte of the element at a place, in row-major order.
  const std::byte* element(std::int64_t number, std::size_t size) const {
    std::int64_t place = 0, step = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
      const std::int64_t at = number % shape[i];
      number /= shape[i];
      place += at * (tensor.strides && shape[i] != 1 ? strides[i] : step);
      step *= shape[i];
    }
    return static_cast<const std::byte*>(tensor.data) + tensor.byte_offset + place * static_cast<std::int64_t>(size);
  }
};

/// The tensor has the producer's elements.
void compare(const AnyTensor& x, const Producer& from) {
  check(x.shape() == Shape(std::span(from.shape)));
  const std::size_t size = size_of(x.dtype());
  check(size * 8 == from.tensor.dtype.bits);
  const AnyTensor here = x.contiguous();
  if (x.dtype() == DType::Bool) return;  // any byte but 0 is true, and copying says so
  for (std::int64_t i = 0; i < x.numel(); ++i)
    check(std::memcmp(here.impl().data + static_cast<std::size_t>(i) * size, from.element(i, size), size) == 0);
}

template <class M>
void import(fuzz::Choices& choices, Producer& from) {
  M managed{};
  managed.dl_tensor = from.tensor;
  managed.manager_ctx = &from;
  managed.deleter = [](M* m) { ++static_cast<Producer*>(m->manager_ctx)->deleted; };
  if constexpr (requires { managed.version; }) {
    managed.version = {choices.often(92) ? 1u : static_cast<std::uint32_t>(choices.below(256)), 1};
    managed.flags = static_cast<std::uint64_t>(choices.often(70) ? 0 : choices.below(256));
  }
  if (choices.often(5)) managed.deleter = nullptr;
  DLPackImport options;
  options.copy = choices.pick<std::optional<bool>>({std::nullopt, true, false});
  const bool as_float = choices.often(10);
  bool taken = false;
  try {
    AnyTensor x = as_float ? AnyTensor(from_dlpack<float>(&managed, options)) : from_dlpack(&managed, options);
    taken = true;
    compare(x, from);
    const AnyTensor sum(x.sum());
    check(from.deleted <= 1);
  } catch (const Error&) {
    check(!taken);
  }
  check(from.deleted == (taken && managed.deleter));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Choices choices({data, size});
  Producer from(choices);
  if (choices.often(50))
    import <dlpack::ManagedTensorVersioned>(choices, from);
  else
    import <dlpack::ManagedTensor>(choices, from);
  return 0;
}
