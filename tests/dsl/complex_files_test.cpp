// Complex tensors as PyTorch prints them and NumPy stores them, and their dtypes against PyTorch's tables.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <filesystem>
#include <map>
#include <optional>

#include <sinter/sinter.hpp>
#include "operand_table.hpp"

namespace sinter {
namespace {

using testing::Row;
using c64 = std::complex<float>;
using c128 = std::complex<double>;

TEST(ComplexPrint, IsPyTorchs) {
  int count = 0;
  for (const Row& row : testing::read_table("complex_print.tsv")) {
    const Shape shape = testing::parse_shape(row[1]);
    std::vector<c128> values;
    const Row parts = testing::split(row[4], ' ');
    for (std::size_t i = 0; i + 1 < parts.size(); i += 2)
      values.emplace_back(std::strtod(parts[i].c_str(), nullptr), std::strtod(parts[i + 1].c_str(), nullptr));
    std::vector<c128> all;
    for (std::int64_t i = 0; i < shape.numel(); ++i) all.push_back(values[static_cast<std::size_t>(i) % values.size()]);
    PrintOptions options;
    options.threshold = std::stoll(row[2]);
    if (row[3] != "None") options.sci_mode = row[3] == "True";
    const PrintOptions before = set_printoptions(options);
    std::ostringstream text;
    if (row[0] == "complex64")
      text << tensor<c64>(all, shape);
    else
      text << tensor<c128>(all, shape);
    set_printoptions(before);
    std::string expected = row[5];
    for (std::size_t at; (at = expected.find("\\n")) != std::string::npos;) expected.replace(at, 2, "\n");
    ASSERT_EQ(text.str(), expected) << "row " << count;
    ++count;
  }
  EXPECT_GT(count, 500);
}

const std::vector<c128> numbers = {{1, 2}, {-0.5, -0.0}, {INFINITY, NAN}, {0, 0}, {0, 1e-30}, {-3.25, 1}};

template <class C>
void expect_numbers(const AnyTensor& read) {
  ASSERT_EQ(read.dtype(), dtype_of<C>);
  ASSERT_EQ(read.shape(), (Shape{2, 3}));
  const std::vector<C> got = read.as<C>().to_vector();
  for (std::size_t i = 0; i < got.size(); ++i) {
    const C expected(numbers[i]);
    EXPECT_TRUE(got[i].real() == expected.real()) << i;
    EXPECT_TRUE(got[i].imag() == expected.imag() || (std::isnan(expected.imag()) && std::isnan(got[i].imag()))) << i;
    EXPECT_EQ(std::signbit(got[i].imag()),
              std::isnan(expected.imag()) ? std::signbit(got[i].imag()) : std::signbit(expected.imag()));
  }
}

TEST(ComplexNpy, ReadsWhatNumPyWrites) {
  const std::string folder = testing::data_path("npy/complex/");
  expect_numbers<c64>(load_npy(folder + "c8.npy"));
  expect_numbers<c64>(load_npy(folder + "big_c8.npy"));
  expect_numbers<c128>(load_npy(folder + "c16_fortran.npy"));
  expect_numbers<c128>(load_npy(folder + "big_c16.npy"));
}

TEST(ComplexNpy, WritesWhatItReads) {
  const std::string path = ::testing::TempDir() + "sinter_complex.npy";
  save_npy(path, tensor<c128>(numbers, {2, 3}));
  expect_numbers<c128>(load_npy(path));
  save_npy(path, tensor<c64>(numbers, {2, 3}).t().contiguous().t());
  expect_numbers<c64>(load_npy(path));
  std::filesystem::remove(path);
}

/// Every difference from PyTorch, with its reason. An entry that no row needs, or that more rows need, fails.
const struct {
  std::string_view op;
  std::string_view pytorch;  // its result, or "raises"; Sinter's is another
  int rows;
  std::string_view reason;
} differences[] = {
    {"add", "complex32", 2, "there is no complex32: a 16-bit float beside a complex C++ number gives complex64"},
    {"sub", "complex32", 2, "the same"},
    {"mul", "complex32", 2, "the same"},
    {"where", "complex32", 2, "the same"},
    {"ldexp", "complex32", 1, "the same"},
    {"div", "raises", 2, "the same: PyTorch's CPU lacks it for complex32"},
    {"pow", "raises", 2, "the same"},
    {"sub", "raises", 10, "PyTorch refuses one bool among the operands; Sinter, as for add and mul, only two"},
    {"logical_and", "raises", 2, "PyTorch's takes no number for a tensor of 16-bit floats to become complex"},
    {"logical_or", "raises", 2, "the same"},
    {"logical_xor", "raises", 2, "the same"},
    {"addcmul", "complex32", 18, "there is no complex32"},
    {"ldexp", "raises", 3, "PyTorch's CPU lacks it for complex32"},
    {"logaddexp", "complex64", 27, "Sinter lacks it"},
    {"logaddexp", "complex128", 27, "the same"},
    {"nan_to_num", "complex64", 1, "the same"},
    {"nan_to_num", "complex128", 1, "the same"},
    {"nan_to_num_posinf", "complex64", 1, "the same"},
    {"nan_to_num_posinf", "complex128", 1, "the same"},
    {"nan_to_num_infinities", "complex64", 1, "the same"},
    {"nan_to_num_infinities", "complex128", 1, "the same"},
    {"addcdiv", "raises", 29, "PyTorch refuses to divide integers here; the factor, a float, makes them floats"},
    {"lerp", "raises", 257, "PyTorch wants three equal dtypes; Sinter promotes, as everywhere"},
    {"isclose", "raises", 52, "PyTorch wants two equal dtypes; Sinter promotes, as everywhere"},
};

TEST(ComplexPromotion, IsPyTorchsButForTheListedDifferences) {
  std::map<std::pair<std::string, std::string>, int> found;
  int count = 0;
  for (const Row& row : testing::read_table("complex_promotion.tsv")) {
    const std::optional<Op> op = testing::op_named(row[0]);
    ASSERT_TRUE(op) << row[0] << " is in the table and not in ops.def: remake the table";
    std::vector<OperandType> types;
    for (const std::string& operand : testing::split(row[1], ',')) types.push_back(testing::parse_operand(operand));
    const OpTypes result = op_types(*op, types);
    const std::string ours = result.ok ? std::string(name(result.result)) : "raises";
    ++count;
    if (ours == row[2]) continue;
    ++found[{row[0], row[2]}];
    const bool listed =
        std::ranges::any_of(differences, [&](const auto& d) { return d.op == row[0] && d.pytorch == row[2]; });
    EXPECT_TRUE(listed) << row[0] << "(" << row[1] << "): PyTorch " << row[2] << ", Sinter " << ours;
  }
  EXPECT_GT(count, 1000);
  for (const auto& d : differences)
    EXPECT_EQ((found[{std::string(d.op), std::string(d.pytorch)}]), d.rows) << d.op << ": " << d.reason;
}

}  // namespace
}  // namespace sinter
