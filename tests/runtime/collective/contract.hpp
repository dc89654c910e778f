// The contract of every communicator, as a test that each one runs: seeded random calls, compared with sums of one
// number at a time.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <sinter/runtime/communicator.hpp>
#include <sinter/runtime/stream.hpp>
#include <sinter/runtime/transfer.hpp>

namespace sinter::testing {

using runtime::Communicator;
using runtime::ReduceOp;
using runtime::TensorRef;

inline constexpr ReduceOp combines[] = {ReduceOp::Sum, ReduceOp::Product, ReduceOp::Maximum, ReduceOp::Minimum};

/// Element i of rank p's array in call number `call`: small integers, so that any order gives the same result.
inline std::int64_t number(std::uint64_t call, int p, std::int64_t i, ReduceOp how, DType dtype) {
  std::uint64_t h = call * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(p) * 0xBF58476D1CE4E5B9u +
                    static_cast<std::uint64_t>(i) * 0x94D049BB133111EBu;
  h ^= h >> 29, h *= 0xBF58476D1CE4E5B9u, h ^= h >> 32;
  if (dtype == DType::Bool) return h % 2;
  if (how == ReduceOp::Product) return h % 5 == 0 ? 2 : 1;
  const std::int64_t n = static_cast<std::int64_t>(h % 15);
  return is_unsigned(dtype) ? n : n - 7;
}

inline std::int64_t combined(ReduceOp how, DType dtype, std::int64_t a, std::int64_t b) {
  if (dtype == DType::Bool) return how == ReduceOp::Sum || how == ReduceOp::Maximum ? a | b : a & b;
  switch (how) {
    case ReduceOp::Sum: return a + b;
    case ReduceOp::Product: return a * b;
    case ReduceOp::Maximum: return std::max(a, b);
    default: return std::min(a, b);
  }
}

/// Complex numbers have an imaginary part.
template <class T>
T element(std::int64_t n) {
  if constexpr (is_complex(dtype_of<T>))
    return T(static_cast<typename T::value_type>(n), static_cast<typename T::value_type>(-2 * n));
  else if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>)
    return T(static_cast<float>(n));
  else
    return static_cast<T>(n);
}

inline std::vector<std::byte> bytes_of(DType dtype, const std::vector<std::int64_t>& numbers) {
  std::vector<std::byte> bytes(numbers.size() * size_of(dtype));
  visit(dtype, [&]<class T>(std::type_identity<T>) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const T value = element<T>(numbers[i]);
      std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
    }
  });
  return bytes;
}

inline std::vector<std::byte> bytes_of(const TensorRef& array) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(array->numel) * size_of(array->dtype));
  runtime::download(bytes.data(), {array->buffer.get(), array->data}, bytes.size());
  return bytes;
}

inline TensorRef filled(Device device, DType dtype, const std::vector<std::byte>& bytes) {
  const auto n = static_cast<std::int64_t>(bytes.size() / size_of(dtype));
  TensorRef array = runtime::empty(Shape{n}, dtype, device);
  runtime::upload({array->buffer.get(), array->data}, bytes.data(), bytes.size());
  return array;
}

template <class T>
TensorRef array(Device device, const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return filled(device, dtype_of<T>, bytes);
}

/// The first n GPUs.
inline std::vector<Device> gpus(int n) {
  std::vector<Device> all;
  for (int i = 0; i < n; ++i) all.emplace_back(i);
  return all;
}

/// Calls of a communicator, the same in every process with the same seed.
class Contract {
 public:
  /// `devices`: those of this process's ranks.
  Contract(Communicator& communicator, std::vector<Device> devices, unsigned seed)
      : communicator_(communicator), devices_(std::move(devices)), random_(seed) {
    ::testing::Test::RecordProperty("seed", static_cast<int>(seed));
    for (const Device d : devices_)
      if (d.is_cuda() && std::ranges::find(streams_, d, [](const Stream& s) { return s.device(); }) == streams_.end())
        for (int i = 0; i < 2; ++i) streams_.emplace_back(d);
    EXPECT_EQ(communicator.local_size(), static_cast<int>(devices_.size()));
  }

  void run(int calls) {
    for (int i = 0; i < calls && !::testing::Test::HasFailure(); ++i) {
      ++call_;
      dtype_ = static_cast<DType>(random_() % dtype_count);
      how_ = is_complex(dtype_) ? ReduceOp::Sum : combines[random_() % 4];
      const unsigned kind = random_() % 6;
      SCOPED_TRACE("call " + std::to_string(i) + " kind " + std::to_string(kind) + " " + std::string(name(dtype_)));
      if (kind == 0) all_reduce();
      if (kind == 1) all_gather();
      if (kind == 2) reduce_scatter();
      if (kind == 3) broadcast();
      if (kind == 4) send();
      if (kind == 5) communicator_.barrier();
    }
  }

 private:
  using Numbers = std::vector<std::int64_t>;

  std::int64_t length() { return random_() % 8 == 0 ? 0 : static_cast<std::int64_t>(random_() % 300); }
  int rank() { return static_cast<int>(random_() % static_cast<unsigned>(communicator_.size())); }
  bool is_local(int p) const {
    return p >= communicator_.first_local_rank() && p < communicator_.first_local_rank() + communicator_.local_size();
  }
  Device device(int p) const { return devices_[static_cast<std::size_t>(p - communicator_.first_local_rank())]; }

  Numbers numbers(int p, std::int64_t n) const {
    Numbers all(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) all[static_cast<std::size_t>(i)] = number(call_, p, i, how_, dtype_);
    return all;
  }
  Numbers combination(std::int64_t n) const {
    Numbers all = numbers(0, n);
    for (int p = 1; p < communicator_.size(); ++p) {
      const Numbers other = numbers(p, n);
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = combined(how_, dtype_, all[i], other[i]);
    }
    return all;
  }

  /// Runs work on streams that differ from call to call, without waiting in between.
  template <class F>
  auto on_some_stream(F f) {
    std::vector<std::unique_ptr<StreamGuard>> guards;
    const unsigned which = local_random_() % 3;
    if (which < 2)
      for (std::size_t i = which; i < streams_.size(); i += 2)
        guards.push_back(std::make_unique<StreamGuard>(streams_[i]));
    struct InReverse {
      std::vector<std::unique_ptr<StreamGuard>>& all;
      ~InReverse() {
        while (!all.empty()) all.pop_back();
      }
    } in_reverse{guards};
    return f();
  }
  TensorRef array(int p, const Numbers& values) {
    return on_some_stream([&] { return filled(device(p), dtype_, bytes_of(dtype_, values)); });
  }
  std::vector<TensorRef> arrays(std::int64_t n) {
    std::vector<TensorRef> all;
    for (int p = communicator_.first_local_rank(); is_local(p); ++p) all.push_back(array(p, numbers(p, n)));
    return all;
  }
  void expect(const TensorRef& array, const Numbers& values, int p) {
    EXPECT_TRUE(on_some_stream([&] { return bytes_of(array); }) == bytes_of(dtype_, values)) << "at rank " << p;
  }
  static Numbers shard(const Numbers& all, const std::vector<std::int64_t>& counts, int p) {
    const auto first = std::accumulate(counts.begin(), counts.begin() + p, std::int64_t{0});
    return {all.begin() + first, all.begin() + first + counts[static_cast<std::size_t>(p)]};
  }
  std::vector<std::int64_t> lengths() {
    std::vector<std::int64_t> all(static_cast<std::size_t>(communicator_.size()));
    const std::int64_t equal = length();
    const bool uneven = random_() % 3 != 0;
    for (std::int64_t& n : all) n = uneven ? length() : equal;
    return all;
  }

  void all_reduce() {
    const std::int64_t n = length();
    const std::vector<TensorRef> mine = arrays(n);
    std::vector<std::uint64_t> versions;
    for (const TensorRef& a : mine) versions.push_back(a->buffer->version());
    on_some_stream([&] { communicator_.all_reduce(mine, how_); });
    for (std::size_t i = 0; i < mine.size(); ++i) {
      expect(mine[i], combination(n), communicator_.first_local_rank() + static_cast<int>(i));
      if (n > 0 && communicator_.size() > 1) {
        EXPECT_NE(mine[i]->buffer->version(), versions[i]);
      }
    }
  }
  void all_gather() {
    const std::vector<std::int64_t> counts = lengths();
    std::vector<TensorRef> from, to;
    Numbers all;
    for (int p = 0; p < communicator_.size(); ++p) {
      const Numbers own = numbers(p, counts[static_cast<std::size_t>(p)]);
      all.insert(all.end(), own.begin(), own.end());
      if (is_local(p)) from.push_back(array(p, own));
    }
    for (int p = communicator_.first_local_rank(); is_local(p); ++p) to.push_back(array(p, Numbers(all.size(), 1)));
    on_some_stream([&] { communicator_.all_gather(from, to, counts); });
    for (std::size_t i = 0; i < to.size(); ++i)
      expect(to[i], all, communicator_.first_local_rank() + static_cast<int>(i));
  }
  void reduce_scatter() {
    const std::vector<std::int64_t> counts = lengths();
    const std::int64_t n = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    const std::vector<TensorRef> from = arrays(n);
    std::vector<TensorRef> to;
    for (int p = communicator_.first_local_rank(); is_local(p); ++p)
      to.push_back(array(p, Numbers(static_cast<std::size_t>(counts[static_cast<std::size_t>(p)]), 1)));
    on_some_stream([&] { communicator_.reduce_scatter(from, to, counts, how_); });
    for (std::size_t i = 0; i < to.size(); ++i) {
      const int p = communicator_.first_local_rank() + static_cast<int>(i);
      expect(to[i], shard(combination(n), counts, p), p);
      expect(from[i], numbers(p, n), p);
    }
  }
  void broadcast() {
    const std::int64_t n = length();
    const int root = rank();
    const std::vector<TensorRef> mine = arrays(n);
    on_some_stream([&] { communicator_.broadcast(mine, root); });
    for (std::size_t i = 0; i < mine.size(); ++i)
      expect(mine[i], numbers(root, n), communicator_.first_local_rank() + static_cast<int>(i));
  }
  void send() {
    const std::int64_t n = length();
    const int from = rank(), to = rank();
    if (!is_local(from) && !is_local(to)) return;
    const TensorRef source = is_local(from) ? array(from, numbers(from, n)) : TensorRef();
    const TensorRef target = is_local(to) ? array(to, numbers(to, n)) : TensorRef();
    on_some_stream([&] { communicator_.send(source, from, target, to); });
    if (target) expect(target, numbers(from, n), to);
  }

  Communicator& communicator_;
  std::vector<Device> devices_;
  std::vector<Stream> streams_;
  std::mt19937 random_, local_random_{7};
  std::uint64_t call_ = 0;
  DType dtype_ = DType::Float32;
  ReduceOp how_ = ReduceOp::Sum;
};

}  // namespace sinter::testing
