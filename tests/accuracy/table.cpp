#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include <sinter/runtime/error.hpp>
#include "exact.hpp"

namespace sinter::accuracy {
namespace {

Op op_named(std::string_view text) {
  for (int i = 0; i < op_count; ++i)
    if (name(static_cast<Op>(i)) == text) return static_cast<Op>(i);
  throw Error("no operation is called " + std::string(text) + ": run scripts/accuracy");
}

DType dtype_named(std::string_view text) {
  for (const DType dtype : measured_dtypes)
    if (name(dtype) == text) return dtype;
  throw Error("no dtype that is measured is called " + std::string(text) + ": run scripts/accuracy");
}

std::string number(DType dtype, Bits bits) {
  return test::visit_real(dtype, [&]<class T>(std::type_identity<T>) -> std::string {
    if constexpr (test::is_16_bit_float<T>)
      return fmt::format("{}", test::widen_float<T>(bits));
    else
      return fmt::format("{}", test::as<T>(bits));
  });
}

std::ofstream opened(const std::string& path) {
  std::ofstream file(path);
  if (!file) throw Error("cannot write " + path);
  return file;
}

/// One cell: targets that agree share what they say.
std::string cell(DType dtype, const Errors& errors, Op op, const std::vector<std::string>& targets) {
  constexpr double alike = 0.02;
  std::vector<std::pair<std::string, const Largest*>> parts;
  for (const std::string& target : targets) {
    const auto at = errors.find({op, target});
    if (at == errors.end()) continue;
    const Largest& largest = at->second;
    const auto shares = [&](const auto& part) { return std::fabs(part.second->ulps - largest.ulps) <= alike; };
    const auto found = std::ranges::find_if(parts, shares);
    if (found == parts.end()) {
      parts.emplace_back(target, &largest);
      continue;
    }
    found->first += ", " + target;
    if (largest.ulps > found->second->ulps) found->second = &largest;
  }
  if (parts.size() == 1) return shown(dtype, *parts[0].second);
  std::string text;
  for (const auto& [names, largest] : parts)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", names, shown(dtype, *largest));
  return text;
}

bool rounds(const Table& table, Op op) {
  for (const auto& [dtype, errors] : table)
    for (const auto& [key, largest] : errors)
      if (key.first == op) return !largest.exact;
  return false;
}

void write_section(std::ofstream& page, const Table& table, const std::vector<std::string>& targets) {
  page << "| operation |";
  for (const DType dtype : measured_dtypes) page << ' ' << name(dtype) << " |";
  page << " in units in the last place of |\n| --- |";
  for (std::size_t i = 0; i < std::size(measured_dtypes); ++i) page << " --- |";
  page << " --- |\n";
  for (int i = static_cast<int>(first_table_op); i < op_count; ++i) {
    const Op op = static_cast<Op>(i);
    if (!rounds(table, op)) continue;
    page << "| `" << name(op) << "` |";
    for (const DType dtype : measured_dtypes) page << ' ' << cell(dtype, table.at(dtype), op, targets) << " |";
    page << ' ' << (measured_in(op).empty() ? "the result" : measured_in(op)) << " |\n";
  }
}

}  // namespace

std::string shown(DType dtype, const Largest& error) {
  if (error.exact) return error.ulps == 0 ? "exact" : "wrong";
  std::string text = fmt::format("{:.2f} at ", error.ulps);
  for (std::size_t k = 0; k < error.operands.size(); ++k)
    text += fmt::format("{}{}", k ? ", " : "", number(dtype, error.operands[k]));
  return text;
}

Table read_table(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error("cannot read " + path);
  Table table;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream row(line);
    std::string op, dtype, target, ulps;
    row >> op >> dtype >> target >> ulps >> std::hex;
    Largest& largest = table[dtype_named(dtype)][{op_named(op), target}];
    largest.exact = ulps == "exact";
    if (!largest.exact) largest.ulps = std::stod(ulps);
    for (Bits bits; row >> bits;) largest.operands.push_back(bits);
  }
  return table;
}

void write_table(const std::string& path, const Table& table) {
  std::ofstream file = opened(path);
  file << "# The largest errors that scripts/accuracy found: operation, dtype, target, units in the last place, "
          "operands "
          "as bits.\n";
  for (const DType dtype : measured_dtypes)
    for (const auto& [key, largest] : table.at(dtype)) {
      std::string operands;
      for (const Bits b : largest.operands) operands += fmt::format("{}{:x}", operands.empty() ? "" : " ", b);
      file << name(key.first) << '\t' << name(dtype) << '\t' << key.second << '\t';
      if (largest.exact)
        file << "exact\n";
      else
        file << fmt::format("{:.3f}\t{}\n", std::ceil(largest.ulps * 1000) / 1000, operands);
    }
}

void write_page(const std::string& path, const Table& table, Depth depth) {
  std::ofstream page = opened(path);
  page << R"(# Accuracy

This page lists the largest error found for each operation on floats, in units in the last place (ulp) of the result's
dtype, and the operands at which it occurs. A correctly rounded result has an error of at most 0.5. `scripts/accuracy`
writes this page and the measurements in `tests/data/accuracy.tsv`; the test `accuracy` checks these operands and a
sample of others for larger errors.

)";
  page << (depth == Depth::Full ? "Operands of float32: 4,096 fractions for every exponent, 65,536 between 2^-13 and "
                                  "2^12. Of float64: 128 fractions\n"
                                  "for every exponent, 16,384 between 2^-13 and 2^12. Of half and bfloat16: all. Also "
                                  "401 neighbors of each number\n"
                                  "where a function has a root or its implementation changes.\n"
                                : "These results are from the short run; the long one may find slightly larger errors. "
                                  "Operands of float32 and\n"
                                  "float64: every exponent, with 128 fractions between 2^-13 and 2^12. Of half and "
                                  "bfloat16: all. Also 7 neighbors of\n"
                                  "each number where a function has a root or its implementation changes.\n");
  page
      << R"(Operations with several operands: random pairs and triples from several distributions, and special values in all
combinations. References: the C library's long double for float32 and the 16-bit floats, its quad precision for
float64 and for the worst results of the others.

NaN, infinities and signed zeros are right everywhere. If PyTorch computes an operation by a formula of several steps,
Sinter uses the same formula. `lerp`, `addcmul`, `addcdiv`, `ldexp`, `hardswish` and `sinc` are measured where these
steps stay in range; `sigmoid` and `silu` give 0 where e^-a overflows, from 2^-121 (float64: 2^-1014) on down, as
PyTorch's do. Where terms cancel, the error is measured in units of a larger number, which the last column names. The
last operands of `softplus`, `elu`, `leaky_relu` and others have their default values.

Exact, compared bit by bit: )";
  std::string exact;
  for (int i = static_cast<int>(first_table_op); i < op_count; ++i) {
    const Op op = static_cast<Op>(i);
    bool is_measured = false;
    for (const auto& [dtype, errors] : table)
      for (const auto& [key, largest] : errors) is_measured = is_measured || key.first == op;
    if (is_measured && !rounds(table, op)) exact += fmt::format("{}`{}`", exact.empty() ? "" : ", ", name(op));
  }
  page << exact
       << ".\n\n## On the CPU\n\nMeasured with the loops for SSE4, AVX2 and AVX-512. A number without an instruction "
          "set applies to all three.\n\n";
  write_section(page, table, {"sse4", "avx2", "avx512"});
  page << R"(
## The CUDA text

**Not measured on a GPU.** The kernels' text ran on a virtual GPU with the host's math functions, which shows the errors
of the operations' own steps. On a GPU the errors of CUDA's functions replace those of the host's; the CUDA C++
Programming Guide states [their bounds](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#mathematical-functions).

)";
  write_section(page, table, {"cuda"});
}

std::vector<std::string> worse(const Table& table, const Table& now) {
  std::vector<std::string> lines;
  for (const auto& [dtype, errors] : now)
    for (const auto& [key, largest] : errors) {
      const auto& [op, target] = key;
      const std::string what = fmt::format("{} of {} ({})", name(op), name(dtype), target);
      const auto known = table.find(dtype) == table.end() ? Errors::const_iterator() : table.at(dtype).find(key);
      if (table.find(dtype) == table.end() || known == table.at(dtype).end()) {
        lines.push_back(what + " is not in the table: run scripts/accuracy");
        continue;
      }
      const double tolerance = largest.exact ? 0 : target == "cuda" ? 1 : 0.25;  // the host's functions, and the rest
      if (largest.exact != known->second.exact || !(largest.ulps <= known->second.ulps + tolerance))
        lines.push_back(
            fmt::format("{}: {}, where the table has {}", what, shown(dtype, largest), shown(dtype, known->second)));
    }
  return lines;
}

}  // namespace sinter::accuracy
