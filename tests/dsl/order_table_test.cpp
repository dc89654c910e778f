// Sorts and scans against PyTorch's results (tests/data/order.tsv).
#include "devices.hpp"

#include <fmt/format.h>

#include <cmath>

#include "lines.hpp"
#include "table.hpp"

namespace sn = sinter;
using namespace sinter_tests;
using sn::AnyTensor;
using sn::testing::Row;

namespace {

using AnyResult = sn::ValuesAndIndices<sn::AnyType>;

AnyTensor array_of(const std::string& dtype, const std::string& shape, const std::string& bits) {
  const sn::DType type = sn::testing::dtype_named(dtype);
  const sn::Shape extents = sn::testing::parse_shape(shape);
  if (extents.numel() == 0) return AnyTensor(sn::runtime::empty(extents, type, sn::Device()));
  return AnyTensor(sn::testing::host_tensor(type, extents, sn::testing::parse_bits(bits)));
}

/// Calls without indices leave them undefined.
AnyResult result_of(const std::string& call, const AnyTensor& x, const std::string& axis_text,
                    const std::string& k_text) {
  if (axis_text == "-") return {call == "median" ? x.median() : x.nanmedian(), {}};
  const int axis = std::stoi(axis_text);
  const std::int64_t k = k_text == "-" ? 0 : std::stoll(k_text);
  if (call == "sort") return x.sort(axis, k != 0);
  if (call == "topk") return x.topk(k, axis);
  if (call == "topk_smallest") return {x.topk(k, axis, false).values, {}};
  if (call == "kthvalue") return x.kthvalue(k, axis);
  if (call == "median") return x.median(axis);
  if (call == "nanmedian") return x.nanmedian(axis);
  if (call == "cumsum") return {x.cumsum(axis), {}};
  if (call == "cumprod") return {x.cumprod(axis), {}};
  if (call == "logcumsumexp") return {x.logcumsumexp(axis), {}};
  if (call == "cummax") return x.cummax(axis);
  if (call == "cummin") return x.cummin(axis);
  throw sn::Error("no such call: " + call);
}

/// Which of equal elements these return is unspecified, and so is the sign of a zero.
bool may_give_either_zero(const std::string& call) {
  return call.starts_with("topk") || call == "kthvalue" || call.ends_with("median");
}

/// The last digits of exp and log differ between libraries, relative to the summands, which may cancel.
bool near(const std::string& call, sn::DType dtype, Number got, Number right) {
  if (same(got, right))
    return std::isnan(right) || std::signbit(got) == std::signbit(right) || may_give_either_zero(call);
  if (call != "logcumsumexp") return false;
  const Number unit = dtype == sn::DType::Float16    ? 0x1p-10L
                      : dtype == sn::DType::BFloat16 ? 0x1p-7L
                      : dtype == sn::DType::Float32  ? 0x1p-23L
                                                     : 0x1p-50L;
  return std::abs(got - right) <= unit * std::max<Number>(std::abs(right), 1);
}

std::string difference(const Row& row, const AnyResult& found) {
  const auto& [call, dtype, shape, axis, k, elements] = std::tie(row[0], row[1], row[2], row[3], row[4], row[5]);
  const AnyTensor right = array_of(row[7], row[6], row[8]);
  if (found.values.shape() != right.shape() || found.values.dtype() != right.dtype())
    return fmt::format("{} {}", name(found.values.dtype()), to_string(found.values.shape()));
  const Numbers values = numbers_of(found.values), expected = numbers_of(right);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!near(call, right.dtype(), values[i], expected[i]))
      return fmt::format("value {}: {}, not {}", i, static_cast<double>(values[i]), static_cast<double>(expected[i]));
  if (row[9] == "-") return {};
  const Numbers indices = numbers_of(found.indices);
  const Row listed = sn::testing::split(row[9], ' ');
  if (listed.size() != indices.size()) return "another number of indices";
  for (std::size_t i = 0; i < indices.size(); ++i)
    if (listed[i] != "x" && std::stoll(listed[i]) != static_cast<std::int64_t>(indices[i]))
      return fmt::format("index {}: {}, not {}", i, static_cast<double>(indices[i]), listed[i]);
  return {};
}

TEST(OrderTable, IsPyTorchs) {
  std::size_t compared = 0;
  for (Row row : sn::testing::read_table("order.tsv")) {
    row.resize(10);
    const AnyTensor x = array_of(row[1], row[2], row[5]);
    for (const sn::Device device : devices()) {
      if (device.index() > 0) continue;
      const std::string wrong = difference(row, result_of(row[0], x.to(device), row[3], row[4]));
      EXPECT_EQ(wrong, "") << fmt::format("{} of {} ({}), axis {}, {} on {}: {}", row[0], row[1], row[2], row[3],
                                          row[4], to_string(device), row[5]);
    }
    ++compared;
  }
  EXPECT_GT(compared, 2000u);
}

}  // namespace
