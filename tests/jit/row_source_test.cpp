// The text of kernels that reduce.
#include <jit/cuda/source.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <jit/plan/class_key.hpp>
#include "golden.hpp"
#include "row_kernels.hpp"

namespace sinter::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The text for (rows, columns) that lie by rows or by columns. Nothing is read or written there.
std::string text_for(const Kernel& kernel, std::int64_t rows, std::int64_t columns, bool by_columns = false,
                     bool aliased = false) {
  const jit::KernelTraits traits(kernel);
  const Shape domain{rows, columns};
  std::vector<TensorRef> tensors;
  std::vector<TensorImpl*> pointers;
  for (std::size_t k = 0; k < traits.operands.size(); ++k) {
    const bool is_row = kernel.rows->over[k] != Over::Domain;
    TensorRef t = runtime::index_tensor(is_row ? Shape{rows} : by_columns ? Shape{columns, rows} : domain, Device());
    t->dtype = traits.operands[k].dtype;
    if (!is_row && by_columns) t = transposed(t);
    t->data = reinterpret_cast<std::byte*>(std::uintptr_t{4096});
    tensors.push_back(t);
    pointers.push_back(tensors.back().get());
  }
  const jit::LoopNest nest = row_nest(kernel, pointers, domain);
  const jit::ClassKey key = jit::classify(traits, nest, aliased);
  return jit::cuda::source(kernel, traits, key.decode(traits.operands.size()));
}

struct Softmax : RowKernel {
  Softmax() : RowKernel("softmax_f32") { write_softmax(*this, DType::Float32, DType::Float32); }
};
struct Sum : RowKernel {
  Sum() : RowKernel("sum_f32") { write_sum(*this, DType::Float32); }
};

TEST(RowSource, SoftmaxThatKeepsRows) {
  Softmax k;
  const std::string text = text_for(k.done(), 4096, 1024);
  test::expect_golden("row_softmax_kept.cu", text);
  EXPECT_THAT(text, HasSubstr("from_lane("));
  EXPECT_THAT(text, HasSubstr("reinterpret_cast<const Lanes<float, 4>*>(x0_row)[c]"));
}

TEST(RowSource, SoftmaxOfLongRows) {
  Softmax k;
  test::expect_golden("row_softmax_long.cu", text_for(k.done(), 4096, 100000));
}

TEST(RowSource, SoftmaxOfRowsThatSharedMemoryHolds) {
  Softmax k;
  const std::string text = text_for(k.done(), 4096, 40000);
  test::expect_golden("row_softmax_cached.cu", text);
  EXPECT_THAT(text, HasSubstr("extern __shared__"));
}

TEST(RowSource, SumOfColumns) {
  Sum k;
  test::expect_golden("row_sum_columns.cu", text_for(k.done(), 1 << 20, 1000, true));
}

TEST(RowSource, SumThatBlocksShare) {
  Sum k;
  test::expect_golden("row_sum_split.cu", text_for(k.done(), 1, (1 << 24) + 1));
}

TEST(RowSource, InPlaceHasNoRestrict) {
  Softmax k;
  const Kernel& kernel = k.done();
  EXPECT_THAT(text_for(kernel, 10, 1024), HasSubstr("__restrict__"));
  EXPECT_THAT(text_for(kernel, 10, 1024, false, true), Not(HasSubstr("__restrict__")));
}

TEST(RowSource, TheGenericClassHasEveryDim) {
  Softmax k;
  const Kernel& kernel = k.done();
  const jit::KernelTraits traits(kernel);
  const std::string text = jit::cuda::source(kernel, traits, jit::generic_class(traits));
  EXPECT_THAT(text, HasSubstr("row_extent7"));
  EXPECT_THAT(text, HasSubstr(" extent7"));
  EXPECT_THAT(text, HasSubstr("wide_divide(d2"));
}

}  // namespace
}  // namespace sinter::testing
