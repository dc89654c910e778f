// A mesh: devices that share the work along dim 0.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <sinter/runtime/device.hpp>

namespace sinter::inline v1 {

namespace runtime {
class Communicator;
}

/// Devices in order. A tensor on a mesh has its rows, the elements of its first dim, in pieces of ceil(rows / size): 30
/// rows over 3 devices are 10, 10, 10; 10 are 4, 4, 2; 2 are 1, 1, 0. A handle; meshes of the same devices are equal.
/// Also a device type: Tensor<T, Mesh>.
class Mesh {
 public:
  /// Every GPU of this process, or the CPU alone.
  Mesh();
  /// One device may stand more than once. Throws DeviceError where there is none, or one that is a mesh itself.
  explicit Mesh(std::vector<Device> devices);
  /// The devices of all processes that mpirun started, each with every GPU that CUDA_VISIBLE_DEVICES leaves it, or the
  /// CPU: process after process. Without mpirun the same as Mesh(). Every process must call it. Throws DeviceError
  /// where MPI is not installed.
  static Mesh world();
  /// The mesh that a device stands for. Throws DeviceError where it is a CPU or a GPU.
  static Mesh of(Device device);

  /// The number of positions.
  int size() const noexcept;
  /// Of a position; as its own process names it. Throws IndexError.
  Device device(int position) const;
  /// The positions of this process are [first(), first() + local()).
  int first() const noexcept;
  int local() const noexcept;
  bool is_local(int position) const noexcept { return position >= first() && position < first() + local(); }

  /// Of `rows` rows, how many position p has, and the first of them.
  std::int64_t rows(std::int64_t rows, int position) const noexcept;
  std::int64_t first_row(std::int64_t rows, int position) const noexcept;

  /// Made on first use. Throws DeviceError where a library is missing.
  runtime::Communicator& communicator() const;

  operator Device() const noexcept;
  friend bool operator==(const Mesh&, const Mesh&) noexcept = default;

 private:
  friend struct MeshAccess;
  struct State;
  struct Known {};
  Mesh(Known, const State* state) noexcept : state_(state) {}
  const State* state_;  // never destroyed: tensors name meshes by number
};

/// "mesh(cuda:0, cuda:1)".
std::string to_string(const Mesh& mesh);

}  // namespace sinter::inline v1
