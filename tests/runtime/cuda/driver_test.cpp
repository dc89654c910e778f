// The driver's table against CUDA's own header: every function exists there, and takes arguments of the same sizes.
#include <gtest/gtest.h>

#include <runtime/cuda/driver.hpp>
#include <runtime/cuda/nvrtc_library.hpp>

// Before cuda.h, whose macros rename functions.
namespace sinter::inline v1::runtime::driver {
struct Declared {
#define SINTER_DECLARED(name, suffix, ...) using name##suffix = CUresult (*)(__VA_ARGS__);
  SINTER_DRIVER_FUNCTIONS(SINTER_DECLARED, SINTER_DECLARED)
#undef SINTER_DECLARED
};
}  // namespace sinter::inline v1::runtime::driver

#if __has_include(<cuda.h>) && __has_include(<nvrtc.h>)
#include <cuda.h>
#include <nvrtc.h>

#include <cstddef>
#include <type_traits>

// Newer headers mean a second version, which drivers before 12.8 lack.
#undef cuEventElapsedTime
extern "C" CUresult cuEventElapsedTime(float*, CUevent, CUevent);
extern "C" CUresult cuStreamGetCaptureInfo_v2(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*,
                                              const CUgraphNode**, std::size_t*);

namespace {

namespace ours = sinter::runtime::driver;
using ours::Declared;

/// Alike when passed: pointers, or numbers of one size.
template <class A, class B>
constexpr bool alike = sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;

template <class F, class G>
struct SameCall : std::false_type {};
template <class R, class... A, class S, class... B>
  requires(sizeof...(A) == sizeof...(B))
struct SameCall<R (*)(A...), S (*)(B...)> : std::bool_constant<alike<R, S> && (alike<A, B> && ...)> {};

TEST(Driver, FunctionsAreDeclaredAsInCudasHeader){
#define SINTER_CHECK(name, suffix, ...) \
  static_assert(SameCall<Declared::name##suffix, decltype(&::name##suffix)>::value);
    SINTER_DRIVER_FUNCTIONS(SINTER_CHECK, SINTER_CHECK)
#undef SINTER_CHECK
}

TEST(Driver, ConstantsAreCudas) {
  EXPECT_EQ(ours::success, CUDA_SUCCESS);
  EXPECT_EQ(ours::error_out_of_memory, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(ours::error_not_initialized, CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(ours::error_invalid_value, CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(ours::error_invalid_image, CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(ours::error_no_binary_for_gpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(ours::error_invalid_ptx, CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(ours::error_unsupported_ptx, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  EXPECT_EQ(ours::error_invalid_source, CUDA_ERROR_INVALID_SOURCE);
  EXPECT_EQ(ours::error_symbol_not_found, CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND);
  EXPECT_EQ(ours::error_symbol_init_failed, CUDA_ERROR_SHARED_OBJECT_INIT_FAILED);
  EXPECT_EQ(ours::error_not_found, CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(ours::error_ecc_uncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE);
  EXPECT_EQ(ours::error_nvlink_uncorrectable, CUDA_ERROR_NVLINK_UNCORRECTABLE);
  EXPECT_EQ(ours::error_illegal_address, CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(ours::error_launch_timeout, CUDA_ERROR_LAUNCH_TIMEOUT);
  EXPECT_EQ(ours::error_assert, CUDA_ERROR_ASSERT);
  EXPECT_EQ(ours::error_hardware_stack_error, CUDA_ERROR_HARDWARE_STACK_ERROR);
  EXPECT_EQ(ours::error_illegal_instruction, CUDA_ERROR_ILLEGAL_INSTRUCTION);
  EXPECT_EQ(ours::error_misaligned_address, CUDA_ERROR_MISALIGNED_ADDRESS);
  EXPECT_EQ(ours::error_invalid_address_space, CUDA_ERROR_INVALID_ADDRESS_SPACE);
  EXPECT_EQ(ours::error_invalid_pc, CUDA_ERROR_INVALID_PC);
  EXPECT_EQ(ours::error_launch_failed, CUDA_ERROR_LAUNCH_FAILED);
#if CUDA_VERSION >= 13000  // older headers lack them
  EXPECT_EQ(ours::error_contained, CUDA_ERROR_CONTAINED);
  EXPECT_EQ(ours::error_tensor_memory_leak, CUDA_ERROR_TENSOR_MEMORY_LEAK);
#endif
  EXPECT_EQ(sizeof(ours::MemoryAccess), sizeof(CUmemAccessDesc));
  EXPECT_EQ(offsetof(ours::MemoryAccess, flags), offsetof(CUmemAccessDesc, flags));
  EXPECT_EQ(ours::location_device, CU_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(ours::access_read_write, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  EXPECT_EQ(ours::error_not_ready, CUDA_ERROR_NOT_READY);
  EXPECT_EQ(ours::first_capture_error, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(ours::last_capture_error, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  EXPECT_EQ(ours::capture_status_none, CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_EQ(ours::capture_mode_relaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_EQ(ours::host_portable, static_cast<unsigned>(CU_MEMHOSTALLOC_PORTABLE));
  EXPECT_EQ(ours::event_default, static_cast<unsigned>(CU_EVENT_DEFAULT));
  EXPECT_EQ(ours::stream_non_blocking, static_cast<unsigned>(CU_STREAM_NON_BLOCKING));
  EXPECT_EQ(ours::event_disable_timing, static_cast<unsigned>(CU_EVENT_DISABLE_TIMING));
  EXPECT_EQ(ours::attribute_clock, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  EXPECT_EQ(ours::attribute_multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  EXPECT_EQ(ours::attribute_memory_clock, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  EXPECT_EQ(ours::attribute_memory_bus_width, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  EXPECT_EQ(ours::attribute_capability_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  EXPECT_EQ(ours::attribute_capability_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  EXPECT_EQ(ours::attribute_shared_per_block, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  EXPECT_EQ(ours::function_static_shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  EXPECT_EQ(ours::attribute_memory_pools, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
  EXPECT_EQ(ours::function_max_dynamic_shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  EXPECT_EQ(ours::jit_error_log, CU_JIT_ERROR_LOG_BUFFER);
  EXPECT_EQ(ours::jit_error_log_size, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
  EXPECT_EQ(ours::launch_end, CU_LAUNCH_PARAM_END);
  EXPECT_EQ(ours::launch_buffer, CU_LAUNCH_PARAM_BUFFER_POINTER);
  EXPECT_EQ(ours::launch_buffer_size, CU_LAUNCH_PARAM_BUFFER_SIZE);
  EXPECT_EQ(sinter::runtime::nvrtc_success, NVRTC_SUCCESS);
  EXPECT_EQ(sinter::runtime::nvrtc_invalid_option, NVRTC_ERROR_INVALID_OPTION);
}

TEST(Driver, NvrtcIsDeclaredAsInItsHeader) {
#define SINTER_CHECK(result, name, ...) \
  static_assert(SameCall<decltype(sinter::runtime::Nvrtc::name), decltype(&::name)>::value, #name);
  SINTER_NVRTC_FUNCTIONS(SINTER_CHECK, SINTER_CHECK)
#undef SINTER_CHECK
}

}  // namespace
#else
TEST(Driver, FunctionsAreDeclaredAsInCudasHeader) { GTEST_SKIP() << "no CUDA headers here"; }
#endif
