// Any arguments of exported kernels' C functions: a code, never a crash, and with OK the right elements. Sizes either
// match the memory that is there, or are such as no memory has: that arrays are as large as sizes say is believed.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include <fuzzed.h>
#include <sinter/dsl/dlpack_abi.hpp>
#include "program/choices.hpp"

namespace dlpack = sinter::dlpack;
using sinter::fuzz::Choices;

namespace {

void check(bool right) {
  if (!right) std::abort();
}

constexpr std::int64_t largest = 33;  // of the sizes that memory is there for
std::int64_t any_size(Choices& choices) {
  if (choices.often(90)) return choices.pick<std::int64_t>({3, 1, 2, 0, 7, 8, 16, 17, largest});
  return choices.pick<std::int64_t>({-1, INT64_MIN, INT64_MAX, std::int64_t{1} << 61, std::int64_t{1} << 62});
}
bool has_memory(std::initializer_list<std::int64_t> sizes) {
  return std::ranges::all_of(sizes, [](std::int64_t n) { return n >= 0 && n <= largest; });
}

/// Memory of exactly these elements, aligned or not, or none.
template <class T>
class Array {
 public:
  Array(Choices& choices, std::int64_t count)
      : is_aligned(!choices.often(5)), count_(std::clamp<std::int64_t>(count, 0, largest * largest)) {
    const std::size_t before = is_aligned ? 0 : 1;
    memory_ = static_cast<char*>(std::malloc(bytes() + before + 1 - (bytes() > 0)));
    at = reinterpret_cast<T*>(memory_ + before);
    for (std::int64_t i = 0; i < count_; ++i) {
      const T value = static_cast<T>(choices.below(9) - 2);
      std::memcpy(reinterpret_cast<char*>(at) + i * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
    }
    if (choices.often(5)) at = nullptr;
  }
  Array(const Array&) = delete;
  ~Array() { std::free(memory_); }

  bool is_there() const { return at && is_aligned; }
  std::vector<T> elements() const { return {at, at + count_}; }

  T* at;
  const bool is_aligned;

 private:
  std::size_t bytes() const { return static_cast<std::size_t>(count_) * sizeof(T); }
  std::int64_t count_;
  char* memory_;
};

/// Nothing runs where an argument is wrong.
void check_code(int code, bool must_be_wrong) {
  check(code >= FUZZED_OK && code <= FUZZED_WRONG_DEVICE && fuzzed_error_text(code));
  check(!must_be_wrong || code != FUZZED_OK);
}

void fused(Choices& choices) {
  const std::int64_t n = any_size(choices), shift = choices.pick<std::int64_t>({2, 0, -5, INT64_MAX, INT64_MIN});
  const Array<float> out(choices, n), x(choices, n), y(choices, n);
  float* const to = choices.often(5) ? x.at : out.at;
  const int code = fused_cpu(to, x.at, y.at, n, shift);
  const bool are_there = (to == x.at || out.is_there()) && x.is_there() && y.is_there();
  check_code(code, !has_memory({n}) || (n > 0 && (!are_there || to == x.at)));
  if (code != FUZZED_OK || n == 0) return;
  for (std::int64_t i = 0; i < n; ++i) {
    const double exact = (double(x.at[i]) + double(shift)) * double(y.at[i]) - double(x.at[i]);
    check(std::abs(double(to[i]) - exact) <= 1e-5 * std::abs(exact) + 1e-5);
  }
}

void rows(Choices& choices) {
  const std::int64_t n = any_size(choices), m = any_size(choices);
  const bool is_there = has_memory({n, m});
  const Array<float> out(choices, is_there ? n * m : 0), x(choices, 1);
  static std::array<float, 4 * 40 * largest> wide;
  std::array<std::int64_t, 2> strides;
  for (std::int64_t& s : strides) s = choices.pick<std::int64_t>({1, 2, 0, -1, largest, 40, -40, INT64_MAX, INT64_MIN});
  const bool strided = choices.often(60);
  const Array<float> dense(choices, is_there ? n * m : 0);
  const float* const w = strided ? wide.data() + wide.size() / 2 : dense.at;
  const int code = rows_cpu(out.at, w, strided ? strides.data() : nullptr, x.at, n, m);
  const auto far = [&](std::size_t i, std::int64_t extent) {
    return extent > 1 && (strides[i] == INT64_MAX || strides[i] == INT64_MIN);
  };
  check_code(code, is_there ? n * m > 0 && (!out.is_there() || !x.is_there() || !w || (!strided && !dense.is_aligned) ||
                                            (strided && (far(0, n) || far(1, m))))
                            : n != 0 && m != 0);
  if (code != FUZZED_OK || !is_there) return;
  for (std::int64_t row = 0; row < n && m > 0; ++row) {
    double sum = 0;
    for (std::int64_t i = 0; i < m; ++i) sum += double(out.at[row * m + i]);
    check(std::abs(sum - 1) < 1e-4);
  }
}

void divided(Choices& choices) {
  const std::int64_t n = any_size(choices);
  const Array<float> out(choices, n);
  const Array<std::int32_t> i(choices, n), j(choices, n);
  float* const to = choices.often(20) ? reinterpret_cast<float*>(i.at) : out.at;
  const std::vector<std::int32_t> before =
      i.is_there() && n > 0 && n <= largest ? i.elements() : std::vector<std::int32_t>();
  const int code = divided_cpu(to, i.at, j.at, n);
  check_code(code, !has_memory({n}) || (n > 0 && (!to || !i.is_there() || !j.is_there())));
  if (code != FUZZED_OK || n == 0) return;
  for (std::int64_t k = 0; k < n; ++k) {
    const double a = before[static_cast<std::size_t>(k)], b = j.at[k];
    check(b != 0 && std::abs(double(to[k]) - (a / b + std::floor(a / b))) < 1e-5 * (1 + std::abs(a / b)));
  }
}

void looked_up(Choices& choices) {
  const std::int64_t n = any_size(choices), m = any_size(choices), k = any_size(choices);
  const bool is_there = has_memory({n, m, k});
  const Array<float> out(choices, is_there ? k * m : 0), w(choices, is_there ? n * m : 0);
  const Array<std::int64_t> ids(choices, is_there ? k : 0);
  const int code = looked_up_cpu(out.at, w.at, ids.at, n, m, k);
  check_code(code, is_there && k * m > 0 && (!out.is_there() || !ids.is_there() || (n > 0 && !w.is_there())));
  if (code != FUZZED_OK || !is_there) return;
  for (std::int64_t row = 0; row < k && m > 0; ++row) {
    std::int64_t id = ids.at[row];
    if (id < 0) id += n;
    check(id >= 0 && id < n && std::memcmp(out.at + row * m, w.at + id * m, static_cast<std::size_t>(m) * 4) == 0);
  }
}

/// A tensor over memory that small shapes, strides and offsets stay within; one thing about it may be wrong.
struct AnyTensor {
  std::vector<std::int64_t> shape, strides;
  std::vector<char> memory = std::vector<char>(std::size_t{1} << 15, '\1');
  dlpack::Tensor tensor{};
  bool is_null;

  AnyTensor(Choices& choices, std::vector<std::int64_t> extents, dlpack::DataType dtype)
      : shape(std::move(extents)), is_null(choices.often(3)) {
    std::int64_t step = 1;
    for (std::size_t i = shape.size(); i-- > 0; step *= shape[i]) strides.insert(strides.begin(), step);
    tensor = {memory.data() + memory.size() / 2,
              {dlpack::DeviceType::Cpu, 0},
              static_cast<std::int32_t>(shape.size()),
              dtype,
              nullptr,
              nullptr,
              0};
    const std::size_t axis = static_cast<std::size_t>(choices.below(static_cast<int>(shape.size())));
    const int wrong = choices.below(16);
    if (wrong == 0) shape[axis] = any_size(choices);
    if (wrong == 1) strides[axis] = choices.pick<std::int64_t>({2, 0, -1, 40, INT64_MAX, INT64_MIN});
    if (wrong == 2) tensor.ndim = choices.pick({0, -1, 1, 9, INT32_MAX, INT32_MIN});
    if (wrong == 3) tensor.dtype.bits = static_cast<std::uint8_t>(choices.below(256));
    if (wrong == 4) tensor.dtype.code = static_cast<dlpack::TypeCode>(choices.below(256));
    if (wrong == 5) tensor.dtype.lanes = static_cast<std::uint16_t>(choices.below(256));
    if (wrong == 6) tensor.device.device_type = static_cast<dlpack::DeviceType>(choices.below(20));
    if (wrong == 7) tensor.byte_offset = choices.pick<std::uint64_t>({4, 8, 1, UINT64_MAX, UINT64_MAX - 7});
    if (wrong == 8) tensor.data = nullptr;
    tensor.shape = wrong == 9 ? nullptr : shape.data();
    tensor.strides = choices.often(50) ? strides.data() : nullptr;
    // An axis more is one that there is memory for.
    while (shape.size() < 12) shape.push_back(2), strides.push_back(1);
    tensor.shape = tensor.shape ? shape.data() : nullptr;
    tensor.strides = tensor.strides ? strides.data() : nullptr;
  }
  const void* at() const { return is_null ? nullptr : &tensor; }
};

void with_dlpack(Choices& choices) {
  constexpr dlpack::DataType f32{dlpack::TypeCode::Float, 32, 1}, i32{dlpack::TypeCode::Int, 32, 1},
      i64{dlpack::TypeCode::Int, 64, 1};
  const std::int64_t n = choices.below(17), m = choices.below(17);
  int code = 0;
  switch (choices.below(4)) {
    case 0: {
      const AnyTensor out(choices, {n}, f32), x(choices, {n}, f32), y(choices, {n}, f32);
      code = fused_cpu_dlpack(out.at(), x.at(), y.at(), choices.below(3));
      break;
    }
    case 1: {
      const AnyTensor out(choices, {n, m}, f32), w(choices, {n, m}, f32), x(choices, {1}, f32);
      code = rows_cpu_dlpack(out.at(), w.at(), x.at());
      break;
    }
    case 2: {
      const AnyTensor out(choices, {n}, f32), i(choices, {n}, i32), j(choices, {n}, i32);
      code = divided_cpu_dlpack(out.at(), i.at(), j.at());
      break;
    }
    default: {
      const AnyTensor out(choices, {n, m}, f32), w(choices, {m, m}, f32), ids(choices, {n, 1}, i64);
      code = looked_up_cpu_dlpack(out.at(), w.at(), ids.at());
    }
  }
  check_code(code, false);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices({data, size});
  switch (choices.below(6)) {
    case 0: fused(choices); break;
    case 1: rows(choices); break;
    case 2: divided(choices); break;
    case 3: looked_up(choices); break;
    default: with_dlpack(choices);
  }
  return 0;
}
