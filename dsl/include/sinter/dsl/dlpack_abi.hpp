// DLPack's structures as laid out in memory: version 1.1 of dmlc/dlpack's include/dlpack/dlpack.h, and DLManagedTensor
// from before 1.0. Declared here because few systems have a header of version 1.
#pragma once
#include <cstddef>
#include <cstdint>

namespace sinter::inline v1::dlpack {

/// DLDeviceType.
enum class DeviceType : std::int32_t {
  Cpu = 1,
  Cuda = 2,
  CudaHost = 3,  // page-locked memory of the host
  OpenCL = 4,
  Vulkan = 7,
  Metal = 8,
  Vpi = 9,
  Rocm = 10,
  RocmHost = 11,
  ExtDev = 12,  // for devices that DLPack does not name
  CudaManaged = 13,
  OneApi = 14,
  WebGpu = 15,
  Hexagon = 16,
  Maia = 17,
  Trainium = 18,
};

/// DLDataTypeCode.
enum class TypeCode : std::uint8_t {
  Int = 0,
  UInt = 1,
  Float = 2,
  OpaqueHandle = 3,
  BFloat = 4,
  Complex = 5,
  Bool = 6
};

/// DLDevice.
struct Device {
  DeviceType device_type;
  std::int32_t device_id;
};

/// DLDataType.
struct DataType {
  TypeCode code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

/// DLTensor.
struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: row-major without gaps
  std::uint64_t byte_offset;
};

/// DLManagedTensor, from before version 1.0.
struct ManagedTensor {
  Tensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(ManagedTensor*);  // may be null
};

/// DLPackVersion.
struct Version {
  std::uint32_t major;
  std::uint32_t minor;
};

inline constexpr Version version{1, 1};
inline constexpr std::uint64_t flag_read_only = 1, flag_is_copied = 2;

/// DLManagedTensorVersioned.
struct ManagedTensorVersioned {
  Version version;
  void* manager_ctx;
  void (*deleter)(ManagedTensorVersioned*);  // may be null
  std::uint64_t flags;
  Tensor dl_tensor;
};

static_assert(sizeof(Device) == 8 && sizeof(DataType) == 4 && sizeof(Version) == 8);
#if UINTPTR_MAX == UINT64_MAX
static_assert(offsetof(Tensor, device) == 8 && offsetof(Tensor, ndim) == 16 && offsetof(Tensor, dtype) == 20);
static_assert(offsetof(Tensor, shape) == 24 && offsetof(Tensor, strides) == 32 && offsetof(Tensor, byte_offset) == 40);
static_assert(sizeof(Tensor) == 48);
static_assert(offsetof(ManagedTensor, manager_ctx) == 48 && offsetof(ManagedTensor, deleter) == 56);
static_assert(sizeof(ManagedTensor) == 64);
static_assert(offsetof(ManagedTensorVersioned, manager_ctx) == 8 && offsetof(ManagedTensorVersioned, deleter) == 16);
static_assert(offsetof(ManagedTensorVersioned, flags) == 24 && offsetof(ManagedTensorVersioned, dl_tensor) == 32);
static_assert(sizeof(ManagedTensorVersioned) == 80);
#endif

}  // namespace sinter::inline v1::dlpack
