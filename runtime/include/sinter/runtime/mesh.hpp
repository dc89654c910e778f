// A mesh: devices that divide the work along dim 0.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <sinter/runtime/device.hpp>

namespace sinter::inline v1 {

namespace runtime {
class Communicator;
}

/// An ordered list of devices. A tensor on a mesh is sharded by rows, the elements of its first dim, in shards of
/// ceil(rows / size): 30 rows over 3 devices are 10, 10, 10; 10 are 4, 4, 2; 2 are 1, 1, 0. A handle; meshes of the
/// same devices are equal. Also a device type: Tensor<T, Mesh>.
class Mesh {
 public:
  /// Every GPU of this process, or only the CPU if there is none.
  Mesh();
  /// A device may occur more than once. Throws DeviceError for a device that does not exist or is a mesh itself.
  explicit Mesh(std::vector<Device> devices);
  /// The devices of all processes that mpirun started, process by process: each contributes every GPU that
  /// CUDA_VISIBLE_DEVICES leaves it, or the CPU. Without mpirun the same as Mesh(). Every process must call it. Throws
  /// DeviceError if MPI is not installed.
  static Mesh world();
  /// The mesh that a device denotes. Throws DeviceError for a CPU or a GPU.
  static Mesh of(Device device);

  /// The number of ranks.
  int size() const noexcept;
  /// The device of a rank, as its own process names it. Throws IndexError.
  Device device(int rank) const;
  /// The ranks of this process are [first_local_rank(), first_local_rank() + local_size()).
  int first_local_rank() const noexcept;
  int local_size() const noexcept;
  bool is_local(int rank) const noexcept {
    return rank >= first_local_rank() && rank < first_local_rank() + local_size();
  }

  /// How many of an array's `rows` rows rank p has, and which is its first.
  std::int64_t rows(std::int64_t rows, int rank) const noexcept;
  std::int64_t first_row(std::int64_t rows, int rank) const noexcept;

  /// Created on first use. Throws DeviceError if a library is missing.
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
