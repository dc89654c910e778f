#include <gtest/gtest.h>

#include <sinter/runtime/dtype.hpp>

namespace {

using sinter::Category;
using sinter::DType;

constexpr DType all[] = {DType::Bool, DType::Int32, DType::Int64, DType::Float32, DType::Float64};

TEST(DType, NamesAndSizes) {
  static_assert(std::size(all) == sinter::dtype_count);
  const char* names[] = {"bool", "int32", "int64", "float32", "float64"};
  const char* cuda[] = {"bool", "int", "long long", "float", "double"};
  const std::size_t sizes[] = {1, 4, 8, 4, 8};
  for (int i = 0; i < sinter::dtype_count; ++i) {
    EXPECT_EQ(name(all[i]), names[i]);
    EXPECT_EQ(info(all[i]).cuda_name, cuda[i]);
    EXPECT_EQ(size_of(all[i]), sizes[i]);
  }
}

TEST(DType, TypesAndDTypesNameEachOther) {
  for (const DType t : all)
    sinter::visit(t, [&]<class T>(std::type_identity<T>) {
      EXPECT_EQ(sinter::dtype_of<T>, t);
      EXPECT_EQ(sizeof(T), size_of(t));
    });
  static_assert(sinter::element<float> && !sinter::element<char> && !sinter::element<sinter::AnyType>);
}

TEST(DType, PromotionIsALattice) {
  for (const DType a : all)
    for (const DType b : all) {
      EXPECT_EQ(promote(a, b), promote(b, a));
      EXPECT_EQ(promote(a, a), a);
      EXPECT_EQ(category(promote(a, b)), std::max(category(a), category(b)));
      EXPECT_GE(size_of(promote(a, b)), category(a) == category(b) ? std::max(size_of(a), size_of(b)) : 0u);
      for (const DType c : all) EXPECT_EQ(promote(promote(a, b), c), promote(a, promote(b, c)));
    }
  // PyTorch: int64 with float32 gives float32, although it is narrower.
  static_assert(promote(DType::Int64, DType::Float32) == DType::Float32);
}

TEST(DType, AScalarLiftsTheCategoryOnly) {
  static_assert(promote(DType::Int32, Category::Float) == DType::Float32);
  static_assert(promote(DType::Float32, Category::Float) == DType::Float32);
  static_assert(promote(DType::Float64, Category::Int) == DType::Float64);
  static_assert(promote(DType::Bool, Category::Int) == DType::Int64);
  static_assert(promote(DType::Bool, Category::Bool) == DType::Bool);
}

TEST(DType, CanCastNeverLosesTheCategory) {
  static_assert(can_cast(DType::Bool, DType::Int32) && can_cast(DType::Int64, DType::Float32));
  static_assert(can_cast(DType::Float64, DType::Float32) && can_cast(DType::Int64, DType::Int32));
  static_assert(!can_cast(DType::Float32, DType::Int64) && !can_cast(DType::Int32, DType::Bool));
}

}  // namespace
