// Devices: how users specify them (tags, names, ordinals) and which exist.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sinter::inline v1 {

inline constexpr int any_index = -1;

/// Device types, which expressions check at compile time.
struct Cpu {};
template <int Index = any_index>
struct Cuda {};       // Cuda<> is a GPU whose index is known only at run time
struct AnyDevice {};  // known only at run time

inline constexpr Cpu cpu{};
template <int Index = any_index>
inline constexpr Cuda<Index> cuda{};

enum class DeviceKind : std::uint8_t { Cpu, Cuda, Mesh };

/// The index of the GPU that the tag `cuda<>` and `x.cuda()` refer to: per thread, 0 until set_device.
int current_device() noexcept;

/// Where a tensor lives: the CPU, a GPU, or the devices of a Mesh. Making a Device does not check that it exists; using
/// it does.
class Device {
 public:
  constexpr Device() = default;
  constexpr Device(Cpu) {}
  template <int Index>
  constexpr Device(Cuda<Index>) : kind_(DeviceKind::Cuda), index_(static_cast<std::int16_t>(Index)) {
    if constexpr (Index == any_index) index_ = static_cast<std::int16_t>(current_device());
  }
  /// A GPU by its ordinal, an integer of any type. Throws DeviceError if it is negative or too large.
  template <class Int>
    requires(std::is_integral_v<Int> && !std::is_same_v<Int, bool>)
  Device(Int gpu) : kind_(DeviceKind::Cuda), index_(checked(static_cast<std::int64_t>(gpu))) {}
  /// "cpu", "cuda" (the same as "cuda:0"), "cuda:1". Throws DeviceError for any other name.
  Device(std::string_view name);
  Device(const char* name) : Device(std::string_view(name)) {}
  Device(const std::string& name) : Device(std::string_view(name)) {}
  Device(std::nullptr_t) = delete;

  constexpr DeviceKind kind() const noexcept { return kind_; }
  constexpr bool is_cpu() const noexcept { return kind_ == DeviceKind::Cpu; }
  constexpr bool is_cuda() const noexcept { return kind_ == DeviceKind::Cuda; }
  constexpr bool is_mesh() const noexcept { return kind_ == DeviceKind::Mesh; }
  /// For a GPU its ordinal, for a mesh its number in mesh.hpp.
  constexpr int index() const noexcept { return index_; }
  friend constexpr bool operator==(const Device&, const Device&) noexcept = default;

 private:
  friend struct MeshAccess;
  static std::int16_t checked(std::int64_t gpu);

  DeviceKind kind_ = DeviceKind::Cpu;
  std::int16_t index_ = 0;
};

/// "cpu", "cuda:0", "mesh(cuda:0, cuda:1)".
std::string to_string(const Device& device);

/// Whether there is at least one GPU, real or virtual. Never throws.
bool cuda_is_available() noexcept;
/// Number of GPUs; 0 without a driver.
int device_count() noexcept;
/// Makes GPU `index` this thread's current one. Throws DeviceError if it does not exist.
void set_device(int index);
/// "NVIDIA H200", "Virtual GPU 0". Throws DeviceError if the GPU does not exist.
std::string device_name(int index = current_device());
/// Waits until everything issued to the device, or to every device, is done. Throws the errors that occurred there:
/// integer division by zero as Error, driver errors as CudaError; one Error with all messages if several devices report
/// errors.
void synchronize(Device device);
void synchronize();
/// GPU `index` if it exists, else the CPU.
Device try_gpu(int index = 0) noexcept;
/// Every GPU, or only the CPU if there is none.
std::vector<Device> try_all_gpus();

struct MemoryInfo {
  std::size_t free;   // bytes
  std::size_t total;  // bytes
};
MemoryInfo memory_info(Device device);

struct Capability {
  int major;
  int minor;
};
/// Compute capability of a GPU; a virtual GPU reports that of the architecture it simulates.
Capability compute_capability(int index = current_device());

}  // namespace sinter::inline v1
