#include "dlpack_types.hpp"

#include <fmt/format.h>

#include <runtime/registry.hpp>
#include <sinter/runtime/error.hpp>

namespace sinter::inline v1::detail {
namespace {

using dlpack::DeviceType;
using dlpack::TypeCode;

TypeCode code_of(DType dtype) noexcept {
  if (is_unsigned(dtype)) return TypeCode::UInt;
  if (dtype == DType::BFloat16) return TypeCode::BFloat;
  switch (category(dtype)) {
    case Category::Bool: return TypeCode::Bool;
    case Category::Int: return TypeCode::Int;
    case Category::Float: return TypeCode::Float;
    case Category::Complex: return TypeCode::Complex;
  }
  return TypeCode::OpaqueHandle;
}

std::string name_of(TypeCode code) {
  // Codes from 7 on are floats of 8, 6 and 4 bits.
  constexpr const char* names[] = {"int",
                                   "uint",
                                   "float",
                                   "opaque handle",
                                   "bfloat",
                                   "complex",
                                   "bool",
                                   "float8_e3m4",
                                   "float8_e4m3",
                                   "float8_e4m3b11fnuz",
                                   "float8_e4m3fn",
                                   "float8_e4m3fnuz",
                                   "float8_e5m2",
                                   "float8_e5m2fnuz",
                                   "float8_e8m0fnu",
                                   "float6_e2m3fn",
                                   "float6_e3m2fn",
                                   "float4_e2m1fn"};
  const auto i = static_cast<std::size_t>(code);
  return i < std::size(names) ? names[i] : fmt::format("unknown code {}", i);
}

std::string name_of(DeviceType type) {
  switch (type) {
    case DeviceType::Cpu: return "kDLCPU";
    case DeviceType::Cuda: return "kDLCUDA";
    case DeviceType::CudaHost: return "kDLCUDAHost";
    case DeviceType::OpenCL: return "kDLOpenCL";
    case DeviceType::Vulkan: return "kDLVulkan";
    case DeviceType::Metal: return "kDLMetal";
    case DeviceType::Vpi: return "kDLVPI";
    case DeviceType::Rocm: return "kDLROCM";
    case DeviceType::RocmHost: return "kDLROCMHost";
    case DeviceType::ExtDev: return "kDLExtDev";
    case DeviceType::CudaManaged: return "kDLCUDAManaged";
    case DeviceType::OneApi: return "kDLOneAPI";
    case DeviceType::WebGpu: return "kDLWebGPU";
    case DeviceType::Hexagon: return "kDLHexagon";
    case DeviceType::Maia: return "kDLMAIA";
    case DeviceType::Trainium: return "kDLTrn";
  }
  return fmt::format("unknown device type {}", static_cast<std::int32_t>(type));
}

/// A GPU of the kind, real or virtual, that this process has.
Device gpu_from(dlpack::Device device, bool is_virtual) {
  if (!runtime::gpus_are_virtual() && is_virtual)
    throw DeviceError(
        "from_dlpack: the tensor is on an extension device (kDLExtDev), which Sinter takes for a virtual GPU, but this "
        "process has none: have the producer move it to the CPU");
  if (runtime::gpus_are_virtual() && !is_virtual)
    throw DeviceError(
        fmt::format("from_dlpack: the tensor is in CUDA memory ({}:{}), which the virtual GPUs of this process cannot "
                    "read: unset SINTER_VIRTUAL_GPUS, or have the producer move it to the CPU",
                    name_of(device.device_type), device.device_id));
  runtime::require_gpu(device.device_id);
  return Device(device.device_id);
}

}  // namespace

dlpack::DataType to_dlpack(DType dtype) noexcept {
  return {code_of(dtype), static_cast<std::uint8_t>(8 * size_of(dtype)), 1};
}

dlpack::Device dlpack_device(const runtime::TensorImpl& t) noexcept {
  const bool is_virtual = runtime::gpus_are_virtual();
  if (t.device.is_cuda()) return {is_virtual ? DeviceType::ExtDev : DeviceType::Cuda, t.device.index()};
  return {t.buffer && t.buffer->is_pinned() && !is_virtual ? DeviceType::CudaHost : DeviceType::Cpu, 0};
}

DType dtype_from(dlpack::DataType type) {
  if (type.lanes != 1)
    throw DTypeError(fmt::format(
        "from_dlpack: each element has {} lanes, but Sinter supports only 1: export the lanes as a last axis",
        type.lanes));
  for (int i = 0; i < dtype_count; ++i)
    if (const dlpack::DataType ours = to_dlpack(DType(i)); ours.code == type.code && ours.bits == type.bits)
      return DType(i);
  throw DTypeError(
      fmt::format("from_dlpack: Sinter does not support elements of {} with {} bits{}: have the producer convert them "
                  "to bool, uint8, int8 to int64, float16, bfloat16, float32, float64, complex64 or complex128",
                  name_of(type.code), type.bits, type.bits < 8 ? ", which are smaller than a byte" : ""));
}

Device device_from(dlpack::Device device) {
  switch (device.device_type) {
    case DeviceType::Cpu:
    case DeviceType::CudaHost: return Device();
    case DeviceType::Cuda:
    case DeviceType::CudaManaged: return gpu_from(device, false);
    case DeviceType::ExtDev: return gpu_from(device, true);
    default: break;
  }
  throw DeviceError(
      fmt::format("from_dlpack: the tensor is on {}:{}, but Sinter reads only CPU and CUDA memory: have the producer "
                  "move it to the CPU",
                  name_of(device.device_type), device.device_id));
}

}  // namespace sinter::inline v1::detail
