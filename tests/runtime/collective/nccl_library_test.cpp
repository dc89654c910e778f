// The declarations of NCCL's types and functions against its header, and its library, where they are.
#include <gtest/gtest.h>

#include <runtime/collective/nccl_library.hpp>

#if __has_include(<nccl.h>) && __has_include(<cuda_runtime.h>)
#include <nccl.h>

#include <cstddef>
#include <type_traits>
#define HAS_NCCL_H
#endif

namespace {

namespace nccl = sinter::runtime::nccl;

#ifdef HAS_NCCL_H
static_assert(sizeof(nccl::UniqueId) == sizeof(ncclUniqueId));
static_assert(offsetof(nccl::Config, magic) == offsetof(ncclConfig_t, magic));
static_assert(offsetof(nccl::Config, version) == offsetof(ncclConfig_t, version));
static_assert(offsetof(nccl::Config, blocking) == offsetof(ncclConfig_t, blocking));
static_assert(nccl::success == ncclSuccess && nccl::invalid_usage == ncclInvalidUsage &&
              nccl::in_progress == ncclInProgress);
static_assert(nccl::int8 == ncclInt8 && nccl::uint8 == ncclUint8 && nccl::int32 == ncclInt32 &&
              nccl::uint32 == ncclUint32 && nccl::int64 == ncclInt64 && nccl::uint64 == ncclUint64);
static_assert(nccl::float32 == ncclFloat32 && nccl::float64 == ncclFloat64);
static_assert(nccl::sum == ncclSum && nccl::product == ncclProd && nccl::maximum == ncclMax &&
              nccl::minimum == ncclMin);

/// Whether arguments are passed alike: in as many bytes, as numbers or as pointers.
template <class A, class B>
constexpr bool alike = sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;
template <class F, class G>
struct SameCall : std::false_type {};
template <class R, class... A, class S, class... B>
  requires(sizeof...(A) == sizeof...(B))
struct SameCall<R (*)(A...), S (*)(B...)> : std::bool_constant<alike<R, S> && (alike<A, B> && ...)> {};

#define CHECK(result, name, ...) \
  static_assert(SameCall<decltype(nccl::Library::name), decltype(&::name)>::value, #name);
SINTER_NCCL_FUNCTIONS(CHECK)
#undef CHECK
#endif

TEST(NcclLibrary, OpensWhereItIs) {
  const nccl::Library* const library = nccl::library();
  if (!library) GTEST_SKIP() << "NCCL is not installed";
  int version = 0;
  EXPECT_EQ(library->ncclGetVersion(&version), nccl::success);
  EXPECT_GE(version, 21400);
  EXPECT_NE(nccl::describe(*library, nccl::invalid_usage).find("(5)"), std::string::npos);
}

}  // namespace
