#include <gtest/gtest.h>

#include <sinter/runtime/dtype.hpp>

namespace {

using sinter::Category;
using sinter::DType;

constexpr DType all[] = {DType::Bool,     DType::UInt8,   DType::Int8,    DType::UInt16,    DType::Int16,
                         DType::UInt32,   DType::Int32,   DType::UInt64,  DType::Int64,     DType::Float16,
                         DType::BFloat16, DType::Float32, DType::Float64, DType::Complex64, DType::Complex128};

TEST(DType, NamesAndSizes) {
  static_assert(std::size(all) == sinter::dtype_count);
  const char* names[] = {"bool",  "uint8",   "int8",     "uint16",  "int16",   "uint32",    "int32",     "uint64",
                         "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"};
  const char* cuda[] = {"bool",
                        "unsigned char",
                        "signed char",
                        "unsigned short",
                        "short",
                        "unsigned",
                        "int",
                        "unsigned long long",
                        "long long",
                        "sinter::half",
                        "sinter::bfloat16",
                        "float",
                        "double",
                        "sinter::complex64",
                        "sinter::complex128"};
  const std::size_t sizes[] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8, 8, 16};
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

TEST(DType, ComputeDtypesHoldWhatIsStored) {
  for (const DType t : all) {
    const DType by = compute_dtype(t);
    EXPECT_EQ(compute_dtype(by), by);
    EXPECT_EQ(category(by), category(t));
    EXPECT_EQ(promote(t, by), t == DType::UInt64 ? t : by);  // int64 holds its bits only
    EXPECT_EQ(sinter::is_stored_only(t), (size_of(t) < 4 || is_unsigned(t)) && t != DType::Bool);
    EXPECT_EQ(can_index(t), category(t) == Category::Int && t != DType::UInt64);
    sinter::visit(t, [&]<class T>(std::type_identity<T>) {
      EXPECT_EQ(is_unsigned(t), std::is_unsigned_v<T> && t != DType::Bool);
      EXPECT_EQ(is_signed(t), std::is_integral_v<T> && std::is_signed_v<T>);
    });
  }
}

TEST(DType, ComplexNumbersHaveParts) {
  for (const DType t : all) {
    EXPECT_FALSE(is_complex(real_of(t)));
    EXPECT_TRUE(is_complex(complex_of(t)));
    EXPECT_EQ(is_complex(t), static_cast<int>(t) >= sinter::real_dtype_count);
    if (!is_complex(t)) continue;
    EXPECT_EQ(size_of(t), 2 * size_of(real_of(t)));
    EXPECT_EQ(complex_of(real_of(t)), t);
  }
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
  // Neither holds the other.
  static_assert(promote(DType::UInt8, DType::Int8) == DType::Int16);
  static_assert(promote(DType::UInt16, DType::Int8) == DType::Int32 &&
                promote(DType::UInt16, DType::Int16) == DType::Int32);
  static_assert(promote(DType::UInt32, DType::Int16) == DType::Int64 &&
                promote(DType::UInt32, DType::Int32) == DType::Int64);
  static_assert(promote(DType::UInt16, DType::Int32) == DType::Int32 &&
                promote(DType::UInt32, DType::Int64) == DType::Int64);
  static_assert(promote(DType::UInt64, DType::UInt8) == DType::UInt64 &&
                promote(DType::UInt64, DType::Int8) == DType::UInt64);
  static_assert(promote(DType::Float16, DType::BFloat16) == DType::Float32);
  static_assert(promote(DType::Complex64, DType::Float64) == DType::Complex128);
  static_assert(promote(DType::Float16, DType::Complex64) == DType::Complex64);
  // PyTorch: int64 with float32 gives float32, although it is narrower.
  static_assert(promote(DType::Int64, DType::Float32) == DType::Float32);
}

TEST(DType, AScalarLiftsTheCategoryOnly) {
  static_assert(promote(DType::Int32, Category::Float) == DType::Float32);
  static_assert(promote(DType::Float32, Category::Float) == DType::Float32);
  static_assert(promote(DType::Float64, Category::Int) == DType::Float64);
  static_assert(promote(DType::Bool, Category::Int) == DType::Int64);
  static_assert(promote(DType::Bool, Category::Bool) == DType::Bool);
  static_assert(promote(DType::Float64, Category::Complex) == DType::Complex128);
  static_assert(promote(DType::Float16, Category::Complex) == DType::Complex64);
  static_assert(promote(DType::Int64, Category::Complex) == DType::Complex64);
}

TEST(DType, CanCastNeverLosesTheCategory) {
  static_assert(can_cast(DType::Bool, DType::Int32) && can_cast(DType::Int64, DType::Float32));
  static_assert(can_cast(DType::Float64, DType::Float32) && can_cast(DType::Int64, DType::Int32));
  static_assert(!can_cast(DType::Float32, DType::Int64) && !can_cast(DType::Int32, DType::Bool));
}

}  // namespace
