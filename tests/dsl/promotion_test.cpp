// The dtypes of results against PyTorch's (tests/data/promotion.tsv).
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "operand_table.hpp"

namespace sinter {
namespace {

using testing::Row;

/// Every difference from PyTorch, with its reason. An entry that no row needs, or that more rows need, fails.
const struct {
  std::string_view op;
  std::string_view pytorch;  // its result, or "raises"; Sinter's is another
  int rows;
  std::string_view reason;
} differences[] = {
    {"sub", "raises", 40, "PyTorch refuses one bool among the operands; Sinter, as for add and mul, only two"},
    {"lerp", "raises", 749, "PyTorch wants three equal dtypes; Sinter promotes, as everywhere"},
    {"square", "int64", 1,
     "PyTorch squares a bool as the integer power; Sinter refuses it, as pow(bool, bool) is in both"},
    {"pow", "bool", 1,
     "PyTorch takes True and False as exponents of a bool; Sinter refuses it, as of two bool tensors in both"},
    {"addcmul", "raises", 7, "PyTorch multiplies no bools by an integer; Sinter promotes them to int64, as mul does"},
    {"addcdiv", "raises", 348, "PyTorch refuses to divide integers here; the factor, a float, makes them floats"},
    {"heaviside", "raises", 144, "PyTorch wants two equal dtypes; Sinter promotes, as everywhere"},
    {"isclose", "raises", 144, "the same"},
    {"leaky_relu", "raises", 6, "PyTorch refuses integers; the parameter, a C++ float, makes them floats"},
    {"elu", "raises", 6, "the same"},
    {"celu", "raises", 6, "the same"},
    {"softplus", "raises", 6, "the same"},
    {"hardshrink", "raises", 6, "the same"},
    {"hardtanh", "raises", 1, "PyTorch refuses uint8, which has no -1; Sinter wraps it"},
    {"nextafter", "float16", 19, "the next number is known of float32 and float64 alone"},
    {"nextafter", "bfloat16", 19, "the same"},
    {"complex", "raises", 95, "PyTorch wants two equal dtypes; Sinter promotes, as everywhere"},
    {"complex", "complex32", 1, "there is no complex32"},
    {"polar", "raises", 96, "PyTorch wants two equal dtypes; Sinter promotes, as everywhere"},
    {"softsign", "raises", 1, "PyTorch adds no number to the magnitude of a bool; Sinter takes 0 and 1"},
};

std::string sinter_result(Op op, const std::string& operands) {
  std::vector<OperandType> types;
  for (const std::string& operand : testing::split(operands, ',')) types.push_back(testing::parse_operand(operand));
  EXPECT_EQ(types.size(), info(op).arity) << name(op);
  const OpTypes result = op_types(op, types);
  return result.ok ? std::string(name(result.result)) : "raises";
}

TEST(Promotion, IsPyTorchsButForTheListedDifferences) {
  std::map<std::pair<std::string, std::string>, int> found;
  for (const Row& row : testing::read_table("promotion.tsv")) {
    if (row[2] == "lacks") continue;
    const std::optional<Op> op = testing::op_named(row[0]);
    ASSERT_TRUE(op) << row[0] << " is in the table and not in ops.def: remake the table";
    const std::string ours = sinter_result(*op, row[1]);
    if (ours == row[2]) continue;
    ++found[{row[0], row[2]}];
    const bool listed =
        std::ranges::any_of(differences, [&](const auto& d) { return d.op == row[0] && d.pytorch == row[2]; });
    EXPECT_TRUE(listed) << row[0] << "(" << row[1] << "): PyTorch " << row[2] << ", Sinter " << ours;
  }
  for (const auto& d : differences)
    EXPECT_EQ((found[{std::string(d.op), std::string(d.pytorch)}]), d.rows) << d.op << ": " << d.reason;
}

/// How many operands of an operation are tensors in PyTorch; its other ones are Python numbers.
int tensors_of(const OpInfo& op) {
  constexpr std::pair<std::string_view, int> parametrised[] = {{"addcmul", 3},
                                                               {"addcdiv", 3},
                                                               {"isclose", 2},
                                                               {"logit", 1},
                                                               {"softplus", 1},
                                                               {"leaky_relu", 1},
                                                               {"elu", 1},
                                                               {"celu", 1},
                                                               {"hardtanh", 1},
                                                               {"threshold", 1},
                                                               {"hardshrink", 1},
                                                               {"nan_to_num", 1},
                                                               {"nan_to_num_posinf", 1},
                                                               {"nan_to_num_infinities", 1}};
  for (const auto& [name, tensors] : parametrised)
    if (op.name == name) return tensors;
  return op.arity;
}

TEST(Promotion, TheTableHasEveryOperationWithAllOperands) {
  std::map<std::string, int, std::less<>> rows;
  for (const Row& row : testing::read_table("promotion.tsv")) rows[row[0]] += row[2] == "lacks" ? -1 : 1;
  for (int i = static_cast<int>(first_table_op); i < op_count; ++i) {
    const OpInfo& op = info(static_cast<Op>(i));
    // Ten dtypes and three kinds of scalars, but without combinations of scalars only; seven dtypes for three operands.
    // where's condition, never uint8, and one of its values are tensors.
    const int tensors = tensors_of(op);
    const int all = tensors == 1 ? 10 : tensors == 2 ? 13 * 13 - 3 * 3 : 10 * 10 * 10 - 3 * 3 * 3;
    const int expected = op.name == "where" ? 6 * (10 * 10 - 3 * 3) : all;
    const int count = rows[std::string(op.name)];
    EXPECT_TRUE(count == -1 || count == expected) << op.name << ": " << count << " rows: remake the table";
  }
}

}  // namespace
}  // namespace sinter
