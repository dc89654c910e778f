// The arguments with which operations are measured: all exponents with many fractions, neighbors of roots and of points
// where implementations change, and special values in all combinations.
#pragma once
#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include "../jit/reference.hpp"

namespace sinter::accuracy {

using test::Bits;

enum class Depth { Short, Full };

/// Columns of one length, operand by operand.
using Columns = std::vector<std::vector<Bits>>;

class Arguments {
 public:
  /// Passes tuples of `operands` numbers of a dtype to `use`, at most `chunk` at a time.
  Arguments(DType dtype, std::size_t operands, Depth depth, std::function<void(const Columns&)> use)
      : dtype_(dtype), full_(depth == Depth::Full), use_(std::move(use)), columns_(operands) {}

  void run() {
    if (columns_.size() == 1)
      all_exponents(), neighbours();
    else
      combinations(), random_tuples();
    flush();
  }
  /// Adds a tuple.
  void add(const std::vector<Bits>& tuple) {
    for (std::size_t k = 0; k < columns_.size(); ++k) columns_[k].push_back(quiet(tuple[k]));
    if (columns_[0].size() == chunk) flush();
  }
  void flush() {
    if (!columns_[0].empty()) use_(columns_);
    for (auto& column : columns_) column.clear();
  }

  static constexpr std::size_t chunk = 65536;

 private:
  /// No operation makes promises about signaling NaNs.
  Bits quiet(Bits b) const {
    const Bits infinity = bits(INFINITY), magnitude = b & ((Bits{1} << (8 * size_of(dtype_) - 1)) - 1);
    return magnitude > infinity ? infinity | infinity >> 1 : b;
  }
  bool is_double() const { return dtype_ == DType::Float64; }
  bool is_narrow() const { return size_of(dtype_) == 2; }
  Bits bits(double value) const { return test::convert_bits(test::to_bits(value), DType::Float64, dtype_); }

  void all_exponents() {
    if (is_narrow()) {
      for (Bits b = 0; b < 65536; ++b) add({b});
      return;
    }
    const int fraction = is_double() ? 52 : 23;
    const Bits exponents = is_double() ? 2048 : 256, bias = exponents / 2 - 1;
    for (Bits sign = 0; sign < 2; ++sign)
      for (Bits e = 0; e < exponents; ++e) {
        const bool usual = e > bias - 14 && e < bias + 12;
        const int n = !full_ ? (usual ? 7 : is_double() ? 1 : 4) : is_double() ? (usual ? 14 : 7) : usual ? 16 : 12;
        for (Bits i = 0; i < Bits{1} << n; ++i) {
          const Bits low = random_() & ((Bits{1} << (fraction - n)) - 1);
          add({(sign * exponents + e) << fraction | i << (fraction - n) | low});
        }
      }
  }

  std::vector<double> landmarks() const {
    std::vector<double> all{0.1,
                            0.3,
                            0.625,
                            0.7,
                            0.85,
                            0.9,
                            0.927734375,
                            0.95,
                            0.99,
                            7.75,
                            12.5,
                            18.5,
                            19.5,
                            87.34,
                            88.03,
                            88.72284,
                            89,
                            89.416,
                            103.28,
                            103.97,
                            103.97208,
                            126.5,
                            149.5,
                            709.08,
                            709.7827111495574,
                            709.7827128933841,
                            710.4758600739439,
                            713.99,
                            708.3964185322641,
                            745.13,
                            745.1332191019412,
                            1023.5,
                            1074.5,
                            0.4142135623730951,
                            0.7071067811865476,
                            1.4142135623730951,
                            2.718281828459045,
                            1.4616321449683622,
                            9.19,
                            26.54,
                            5.86,
                            3.83,
                            1e4,
                            1e5,
                            1e10,
                            1e15};
    for (int i = 0; i <= 200; ++i) all.push_back(i), all.push_back(i + 0.5), all.push_back(i * M_PI_2);
    for (int i = 0; i <= 40; ++i) all.push_back(std::ldexp(1., i - 30)), all.push_back(std::ldexp(1., 10 * i - 200));
    // Roots of digamma and lgamma between the poles, to double precision.
    for (const double root : {0.504083008264455, 1.573498473162390, 2.610720868444145, 3.635293366436901,
                              2.457024738220800, 2.747682646727413, 3.143580888349980, 3.955294284858598})
      all.push_back(root);
    for (const Bits b : special_bits())
      all.push_back(std::fabs(test::as<double>(test::convert_bits(b, dtype_, DType::Float64))));
    return all;
  }
  void neighbours() {
    if (is_narrow()) return;
    const int reach = full_ ? 200 : 3;
    const Bits sign = Bits{1} << (8 * size_of(dtype_) - 1);
    for (const double at : landmarks())
      for (int step = -reach; step <= reach; ++step) {
        const Bits near = (bits(at) + static_cast<Bits>(step)) & (sign - 1);
        add({near});
        add({near | sign});
      }
  }

  /// 0, the ends of the ranges of normal numbers and denormals, infinity, NaN, and some other numbers, with both signs.
  std::vector<Bits> special_bits() const {
    const int fraction = is_double() ? 52 : dtype_ == DType::Float32 ? 23 : dtype_ == DType::Float16 ? 10 : 7;
    const Bits infinity = bits(INFINITY), sign = Bits{1} << (8 * size_of(dtype_) - 1), least = Bits{1} << fraction;
    std::vector<Bits> all{0, 1, least - 1, least, infinity - 1, infinity, bits(NAN)};
    for (const double v : {0.25, 0.5, 0.75, 1., 1.5, 2., 3., 10., 100.}) all.push_back(bits(v));
    for (std::size_t i = 0, n = all.size(); i < n; ++i) all.push_back(all[i] | sign);
    return all;
  }
  void combinations() {
    const std::vector<Bits> special = special_bits();
    std::size_t count = 1;
    for (std::size_t k = 0; k < std::min<std::size_t>(columns_.size(), 3); ++k) count *= special.size();
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<Bits> tuple;
      for (std::size_t k = 0, rest = i; k < columns_.size(); ++k, rest /= special.size())
        tuple.push_back(k < 3 ? special[rest % special.size()] : special[(i * 7 + i / 5) % special.size()]);
      add(tuple);
    }
  }

  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }
  double of_exponent(double least, double most) {
    return std::copysign(std::exp2(uniform(least, most)), uniform(-1, 1));
  }
  void random_tuples() {
    const double range = is_double() ? 1020 : dtype_ == DType::Float16 ? 14 : 125;
    const Bits mask = ~Bits{0} >> (64 - 8 * size_of(dtype_));
    const int n = full_ ? (is_double() ? 400'000 : 2'000'000) : is_double() ? 6000 : 20'000;
    for (int i = 0; i < n / static_cast<int>(columns_.size() > 2 ? 4 : 1); ++i) {
      std::vector<Bits> tuple;
      for (std::size_t k = 0; k < columns_.size(); ++k) {
        switch (i % 6) {
          case 0: tuple.push_back(random_() & mask); break;
          case 1: tuple.push_back(bits(of_exponent(-20, 20))); break;
          case 2: tuple.push_back(bits(uniform(-8, 8))); break;
          case 3:  // next to the first operand
            tuple.push_back(k == 0 ? bits(of_exponent(-10, 10)) : (tuple[0] + random_() % 64 - 32) & mask);
            break;
          case 4:  // powers that do not overflow
            tuple.push_back(k == 0 ? bits(std::exp2(uniform(-range, range)))
                                   : bits(uniform(-range, range) / std::log2(test::as<double>(test::convert_bits(
                                                                       tuple[0], dtype_, DType::Float64)))));
            break;
          default: tuple.push_back(bits(k == 0 ? 1 + of_exponent(-20, -1) : of_exponent(-10, range / 10)));
        }
      }
      add(tuple);
    }
  }

  DType dtype_;
  bool full_;
  std::function<void(const Columns&)> use_;
  Columns columns_;
  std::mt19937_64 random_{2026};
};

}  // namespace sinter::accuracy
