// Printing against PyTorch's own (tests/data/print.tsv), and cases that the table cannot hold: views, options, threads.
#include <sinter/dsl/print.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include <sinter/jit/evaluate.hpp>
#include "setup.hpp"
#include "table.hpp"

namespace sinter {
namespace {

using detail::to_string;
using runtime::TensorRef;
using ::testing::HasSubstr;

// The table prints tensors on cuda:0 to cuda:12.
const sinter::test::Setup thirteen_gpus([] { setenv("SINTER_VIRTUAL_GPUS", "13", 1); });

/// Restores the options.
class Print : public ::testing::Test {
 protected:
  void TearDown() override { set_printoptions(before_); }

 private:
  PrintOptions before_ = printoptions();
};

template <class T>
TensorRef host(const Shape& shape, const std::vector<T>& values) {
  std::vector<std::uint64_t> bits(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) std::memcpy(&bits[i], &values[i], sizeof(T));
  return testing::host_tensor(dtype_of<T>, shape, bits);
}

std::vector<std::int64_t> count_to(std::int64_t n) {
  std::vector<std::int64_t> v;
  for (std::int64_t i = 0; i < n; ++i) v.push_back(i);
  return v;
}

PrintOptions parse_options(const std::string& text) {
  const testing::Row parts = testing::split(text, ',');
  PrintOptions o{std::stoi(parts[0]), std::stoll(parts[1]), std::stoi(parts[2]), std::stoi(parts[3]), {}};
  if (parts[4] != "auto") o.sci_mode = parts[4] == "1";
  return o;
}

std::string with_line_breaks(std::string text) {
  for (std::size_t at = 0; (at = text.find("\\n", at)) != std::string::npos;) text.replace(at, 2, "\n");
  return text;
}

TEST_F(Print, EqualsPyTorchToTheCharacter) {
  int number = 0;
  for (const testing::Row& row : testing::read_table("print.tsv")) {
    ++number;
    const DType dtype = testing::dtype_named(row[0]);
    const TensorRef t = testing::host_tensor(dtype, testing::parse_shape(row[2]), testing::parse_bits(row[4]));
    set_printoptions(parse_options(row[3]));
    ASSERT_EQ(to_string(*jit::to(*t, dtype, Device(row[1]))), with_line_breaks(row[5]))
        << "row " << number << ": " << row[0] << " (" << row[2] << ") with options " << row[3];
  }
  EXPECT_GT(number, 500);
}

TEST_F(Print, TheExampleOfTheTutorial) {
  const TensorRef t = host<float>(Shape{3}, {20.0855f, 109.1963f, 445.2395f});
  EXPECT_EQ(to_string(*jit::to(*t, DType::Float32, Device("cuda"))),
            "tensor([ 20.0855, 109.1963, 445.2395], device='cuda:0')");
}

TEST_F(Print, ViewsPrintAsTheirElements) {
  for (const char* device : {"cpu", "cuda:1"}) {
    const TensorRef on_host = host(Shape{40, 50}, count_to(2000));
    const TensorRef t = jit::to(*on_host, DType::Int64, Device(device));
    const struct {
      Shape shape, strides;
      std::int64_t offset;
    } views[] = {{{50, 40}, {1, 50}, 0},  {{40, 50}, {-50, -1}, 1999}, {{4, 5}, {100, 7}, 3},
                 {{1200, 3}, {1, 0}, 20}, {{9, 8, 50}, {0, 50, 1}, 0}, {{}, {}, 77},
                 {{0, 3}, {3, 1}, 0}};
    for (const auto& [shape, strides, offset] : views) {
      std::vector<std::int64_t> elements;
      const TensorRef view = runtime::view(*t, shape, strides, offset);
      for (std::int64_t i = 0; i < shape.numel(); ++i) {
        std::int64_t rest = i, at = offset;
        for (int axis = shape.ndim(); axis-- > 0; rest /= shape[axis]) at += rest % shape[axis] * strides[axis];
        elements.push_back(at);
      }
      const TensorRef plain = host(shape, elements);
      EXPECT_EQ(to_string(*view), to_string(*jit::to(*plain, DType::Int64, Device(device))))
          << sinter::to_string(shape);
    }
  }
}

TEST_F(Print, NoElementsBesideTheShownAreNeeded) {
  // 2^40 elements, one of them in memory.
  const TensorRef one = host<float>(Shape{}, {1.5f});
  const TensorRef huge = runtime::view(*one, Shape{1 << 20, 1 << 20}, Shape{0, 0});
  EXPECT_THAT(to_string(*huge), HasSubstr("[1.5000, 1.5000, 1.5000,  ..., 1.5000, 1.5000, 1.5000],\n        ...,\n"));
}

TEST_F(Print, WithoutEdgeItemsOnlyDotsRemain) {
  set_printoptions({.threshold = 5, .edgeitems = 0});
  EXPECT_EQ(to_string(*host(Shape{6}, count_to(6))), "tensor([...])");
  EXPECT_EQ(to_string(*host(Shape{2, 3}, count_to(6))), "tensor([...])");
}

TEST_F(Print, OptionsLeftOutStay) {
  set_printoptions({.precision = 2});
  const PrintOptions before = set_printoptions({.linewidth = 20, .sci_mode = true});
  EXPECT_EQ(before.precision, 2);
  EXPECT_EQ(before.linewidth, 80);
  EXPECT_EQ(before.sci_mode, std::nullopt);
  EXPECT_EQ(to_string(*host<double>(Shape{2}, {1, 2})), "tensor([1.00e+00,\n        2.00e+00],\n       dtype=float64)");
  set_printoptions(before);
  EXPECT_EQ(to_string(*host<double>(Shape{2}, {1, 2.5})), "tensor([1.00, 2.50], dtype=float64)");
  // As in PyTorch, sci_mode is the one option that every call sets.
  set_printoptions({.sci_mode = true});
  set_printoptions({.precision = 4});
  EXPECT_EQ(printoptions().sci_mode, std::nullopt);
}

TEST_F(Print, OptionsOutOfRangeAreRefusedAndChangeNothing) {
  const auto refused = [](const PrintOptions& o, const char* text) {
    try {
      set_printoptions(o);
      ADD_FAILURE() << "no error";
    } catch (const Error& e) {
      EXPECT_STREQ(e.what(), text);
    }
  };
  refused({.precision = -1}, "set_printoptions: precision is -1, but must be in [0, 1074]");
  refused({.precision = 2, .edgeitems = -3}, "set_printoptions: edgeitems is -3, but must be in [0, 2147483647]");
  refused({.precision = 1075}, "set_printoptions: precision is 1075, but must be in [0, 1074]");
  refused({.linewidth = -1}, "set_printoptions: linewidth is -1, but must be in [0, 2147483647]");
  refused({.threshold = -1}, "set_printoptions: threshold is -1, but must be in [0, 9223372036854775807]");
  EXPECT_EQ(printoptions().precision, 4);
}

TEST_F(Print, ExtremeOptionsPrint) {
  set_printoptions({.precision = 1074, .threshold = INT64_MAX, .edgeitems = INT32_MAX, .linewidth = 0});
  const std::string text = to_string(*host<double>(Shape{}, {4.9406564584124654e-324}));
  EXPECT_TRUE(
      text.starts_with("tensor(4.94065645841246544176568792868221372365059802614324764425585682500675507270208751"));
  EXPECT_TRUE(text.ends_with("000e-324,\n       dtype=float64)"));
  EXPECT_EQ(text.size(), std::string_view("tensor(4.e-324,\n       dtype=float64)").size() + 1074);
  set_printoptions({.precision = 0, .threshold = 0, .edgeitems = INT32_MAX, .linewidth = INT32_MAX});
  EXPECT_EQ(to_string(*host(Shape{4}, count_to(4))), "tensor([0, 1, 2, 3])");
}

TEST_F(Print, ThreadsPrintWhileOptionsChange) {
  const TensorRef t = host<float>(Shape{2}, {1.25f, 2.5f});
  const std::string four = "tensor([1.2500, 2.5000])", two = "tensor([1.25, 2.50])";
  std::thread changer([] {
    for (int i = 0; i < 2000; ++i) set_printoptions({.precision = i % 2 ? 4 : 2});
  });
  std::vector<std::thread> printers;
  for (int i = 0; i < 3; ++i)
    printers.emplace_back([&] {
      for (int k = 0; k < 500; ++k) {
        const std::string text = to_string(*t);
        ASSERT_TRUE(text == four || text == two) << text;
      }
    });
  for (std::thread& p : printers) p.join();
  changer.join();
}

}  // namespace
}  // namespace sinter
