// Kernels for the CPU executor, below evaluation: arrays on guard pages, nests from strides, every instruction set.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <jit/cpu/tile_program.hpp>
#include <sinter/runtime/error.hpp>
#include "each_isa.hpp"
#include "reference.hpp"

namespace sinter::test {

using jit::Graph;
using jit::LoopNest;
using jit::Operand;
using jit::cpu::Isa;
using jit::cpu::TileProgram;

/// Fixed unless SINTER_TEST_SEED is set: bounds of rounding errors are measured, not proved.
inline std::uint32_t seed_of_tests() {
  const char* named = std::getenv("SINTER_TEST_SEED");
  return named ? static_cast<std::uint32_t>(std::strtoul(named, nullptr, 10)) : 2026;
}

inline constexpr DType all_dtypes[] = {DType::Bool, DType::Int32, DType::Int64, DType::Float32, DType::Float64};
/// Memory that ends (or starts) at an inaccessible page.
class GuardedBytes {
 public:
  GuardedBytes(std::size_t bytes, bool guard_start = false) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t inside = (bytes + page - 1) / page * page;
    size_ = inside + 2 * page;
    all_ = static_cast<std::byte*>(mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (all_ == MAP_FAILED) throw std::bad_alloc();
    if (inside > 0 && mprotect(all_ + page, inside, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    data_ = guard_start ? all_ + page : all_ + page + inside - bytes;
  }
  GuardedBytes(GuardedBytes&& o) noexcept
      : all_(std::exchange(o.all_, nullptr)), size_(o.size_), data_(std::exchange(o.data_, nullptr)) {}
  GuardedBytes& operator=(GuardedBytes&& o) noexcept {
    std::swap(all_, o.all_);
    std::swap(size_, o.size_);
    std::swap(data_, o.data_);
    return *this;
  }
  ~GuardedBytes() {
    if (all_ != nullptr) munmap(all_, size_);
  }
  std::byte* data() const { return data_; }

 private:
  std::byte* all_;
  std::size_t size_;
  std::byte* data_;
};

inline Bits read(DType dtype, const std::byte* p) {
  Bits bits = 0;
  std::memcpy(&bits, p, size_of(dtype));
  return bits;
}
inline void write(DType dtype, std::byte* p, Bits bits) { std::memcpy(p, &bits, size_of(dtype)); }

/// An array in a nest: where its elements are, and their values.
struct Array {
  DType dtype;
  std::vector<std::int64_t> strides;    // for each dim of the nest; empty for an index
  std::int64_t lowest = 0, extent = 0;  // of the offsets of its elements
  GuardedBytes memory{0};
  bool index = false;
  std::int64_t first_position = 0;  // for an index

  std::byte* first() const { return memory.data() - lowest * static_cast<std::int64_t>(size_of(dtype)); }
};

inline Array make_array(DType dtype, const std::vector<std::int64_t>& extents, std::vector<std::int64_t> strides,
                        bool guard_start = false) {
  Array a{dtype, std::move(strides), 0, 1};
  std::int64_t highest = 0;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const std::int64_t reach = (extents[d] - 1) * a.strides[d];
    (reach < 0 ? a.lowest : highest) += reach;
  }
  a.extent = highest - a.lowest + 1;
  for (const std::int64_t e : extents)
    if (e == 0) a.extent = 0, a.lowest = 0;
  a.memory = GuardedBytes(static_cast<std::size_t>(a.extent) * size_of(dtype), guard_start);
  return a;
}
inline Array make_iota(std::vector<std::int64_t> strides, std::int64_t first = 0) {
  Array a{DType::Int64, std::move(strides)};
  a.index = true;
  a.first_position = first;
  return a;
}

inline std::vector<std::int64_t> row_major(const std::vector<std::int64_t>& extents) {
  std::vector<std::int64_t> strides(extents.size(), 1);
  for (std::size_t d = extents.size(); d-- > 1;) strides[d - 1] = strides[d] * extents[d];
  return strides;
}

/// Offset in elements of the nest's element i.
inline std::int64_t offset_of(const Array& a, const std::vector<std::int64_t>& extents, std::int64_t i) {
  std::int64_t offset = 0;
  for (std::size_t d = extents.size(); d-- > 0;) {
    offset += i % extents[d] * a.strides[d];
    i /= extents[d];
  }
  return offset;
}
inline Bits element(const Array& a, const std::vector<std::int64_t>& extents, std::int64_t i) {
  const std::int64_t offset = offset_of(a, extents, i);
  if (a.index) return static_cast<Bits>(a.first_position + offset);
  return read(a.dtype, a.first() + offset * static_cast<std::int64_t>(size_of(a.dtype)));
}

/// A nest of outputs, then leaves. Adjacent dims are merged as in evaluation.
inline LoopNest make_nest(const std::vector<std::int64_t>& extents, const std::vector<const Array*>& operands,
                          int outputs) {
  LoopNest nest;
  nest.outputs = outputs;
  nest.numel = 1;
  for (const std::int64_t e : extents) nest.numel *= e;
  std::vector<std::size_t> starts;  // the last dim of each merged one
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] == 1 && extents.size() > 1) continue;
    bool merges = !starts.empty();
    for (const Array* a : operands) merges = merges && a->strides[starts.back()] == a->strides[d] * extents[d];
    if (merges)
      starts.back() = d;
    else
      starts.push_back(d);
  }
  if (starts.empty()) starts.push_back(extents.size() - 1);
  nest.ndim = static_cast<int>(starts.size());
  for (int r = 0; r < nest.ndim; ++r) {
    nest.extents[r] = 1;
    const std::size_t begin = r == 0 ? 0 : starts[static_cast<std::size_t>(r) - 1] + 1;
    for (std::size_t d = begin; d <= starts[static_cast<std::size_t>(r)]; ++d) nest.extents[r] *= extents[d];
  }
  for (const Array* a : operands) {
    jit::NestOperand o;
    o.data = a->index ? nullptr : a->first();
    o.first = a->first_position;
    for (int r = 0; r < nest.ndim; ++r) o.strides[r] = a->strides[starts[static_cast<std::size_t>(r)]];
    nest.operands.push_back(o);
  }
  return nest;
}

/// Numbers of every size, and special ones.
template <class Random>
Bits random_bits(DType dtype, Random& random) {
  const auto pick = [&](auto... v) {
    const std::common_type_t<decltype(v)...> all[] = {v...};
    return all[random() % sizeof...(v)];
  };
  std::uniform_real_distribution<double> unit(-1, 1);
  return sinter::test::visit_real(dtype, [&]<class T>(std::type_identity<T>) -> Bits {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_same_v<T, bool>) {
      return random() & 1;
    } else if constexpr (std::is_integral_v<T>) {
      switch (random() % 4) {
        case 0:
          return to_bits(pick(T(0), T(1), T(-1), T(2), T(-7), Limits::max(), Limits::min(), T(Limits::min() + 1)));
        case 1: return to_bits(static_cast<T>(random()));
        default: return to_bits(static_cast<T>(static_cast<std::int64_t>(random() % 41) - 20));
      }
    } else {
      switch (random() % 8) {
        case 0:
          return to_bits(pick(T(0), -T(0), T(1), T(-1), T(0.5), T(2.5), Limits::infinity(), -Limits::infinity(),
                              Limits::quiet_NaN(), Limits::denorm_min(), Limits::min(), Limits::max(), -Limits::max()));
        case 1: return random() & (sizeof(T) == 8 ? ~Bits{0} : Bits{0xFFFFFFFF});
        case 2: return to_bits(static_cast<T>(unit(random) * 100));
        case 3: return to_bits(static_cast<T>(std::ldexp(unit(random), static_cast<int>(random() % 60) - 30)));
        default: return to_bits(static_cast<T>(unit(random) * 8));
      }
    }
  });
}

template <class Random>
void fill(Array& a, Random& random) {
  for (std::int64_t i = 0; i < a.extent; ++i)
    write(a.dtype, a.memory.data() + i * static_cast<std::int64_t>(size_of(a.dtype)), random_bits(a.dtype, random));
}

}  // namespace sinter::test
