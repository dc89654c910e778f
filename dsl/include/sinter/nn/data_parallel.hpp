// DataParallel: a net on every device of a mesh, each with a part of the batch.
#pragma once
#include <algorithm>
#include <vector>

#include <sinter/dsl/join.hpp>
#include <sinter/dsl/sharded.hpp>
#include <sinter/nn/module.hpp>

namespace sinter::inline v1 {

namespace detail {

/// Nets that are to have what another one has, each on its own device.
class Replicas {
 public:
  /// Copies parameters and buffers that were written to, or replaced, since the last call, and the modes of training.
  void follow(const ModuleNode& leader, std::vector<ModuleNode> followers);

 private:
  struct Seen {
    TensorRef value;  // kept, so that no other array takes its address
    std::uint64_t version;
  };
  std::vector<Seen> seen_;
};

/// Throws DeviceError for a mesh that processes share.
void check_replicated_mesh(const ModuleNode& net, const Mesh& mesh);
/// Throws ShapeError for a batch without a dim 0.
std::int64_t rows_of_batch(const ModuleNode& net, const TensorImpl& batch);

template <class M>
inline constexpr bool is_on_any_device = true;
template <class M>
  requires requires { typename M::device_type; }
inline constexpr bool is_on_any_device<M> =
    std::is_same_v<typename M::device_type, AnyDevice> || std::is_same_v<typename M::device_type, NoDevice>;

}  // namespace detail

namespace nn {

/// A net that is called with a batch of any size: dim 0 goes to the devices of the mesh in pieces of ceil(rows /
/// devices), each device calls its copy of the net with its piece, GPUs all at the same time, and the results are
/// joined on the mesh's first device. Fewer rows than devices leave devices idle; over one device the net is called as
/// it is. The copies stay on their devices, and follow what is written to the parameters of module(), the first of
/// them, which are this module's own, named "module.". Names of saved files may carry that prefix or not. One thread at
/// a time calls it.
template <module Net>
class DataParallel : public Module<DataParallel<Net>> {
  static_assert(detail::is_on_any_device<Net>,
                "DataParallel has a net on several devices: its type must not say where it is (nn::Linear, not what "
                "net.to(cuda<0>) gives)");

 public:
  static constexpr const char* module_name = "DataParallel";

  /// Moves copies of the net to the devices; its own parameters stay where they are. Throws DeviceError for a mesh of
  /// several processes, OutOfMemory.
  explicit DataParallel(const Net& net, const Mesh& mesh = Mesh()) : mesh_(mesh) {
    detail::check_replicated_mesh(detail::node_of(net), mesh);
    for (int i = 0; i < mesh.size(); ++i) {
      nets_.push_back(net);
      nets_.back().to_(mesh.device(i));
    }
    follow();
  }

  const Mesh& mesh() const noexcept { return mesh_; }
  /// The copy on the mesh's first device, whose parameters the others follow.
  Net& net() noexcept { return nets_[0]; }
  const Net& net() const noexcept { return nets_[0]; }

  /// A batch on any device, or on a mesh. Throws what the net throws, ShapeError for a batch without a dim 0.
  template <expression X>
  auto operator()(const X& x) const {
    const auto batch = detail::evaluated_source(x);
    const std::int64_t rows = detail::rows_of_batch(detail::node_of(*this), batch.impl());
    follow();
    using Result = decltype(result_of(nets_[0], on(mesh_.device(0), batch)));
    std::vector<Result> results;
    for (int i = 0; i < mesh_.size() && (i == 0 || mesh_.rows(rows, i) > 0); ++i)
      results.push_back(result_of(nets_[static_cast<std::size_t>(i)], piece(batch, rows, i)));
    for (Result& r : results) r = r.to(mesh_.device(0));
    return results.size() == 1 ? results[0] : cat(results, 0);
  }

  Members members() { return nn::members("module", nets_[0]); }
  /// As Module's; names may carry the prefix "module." or not.
  template <class State>
  IncompatibleKeys load_state_dict(const State& state, bool strict = true) {
    return nets_[0].load_state_dict(state, strict);
  }
  /// It is on its mesh.
  template <class D>
  DataParallel& to_(const D&) {
    static_assert(!std::is_same_v<D, D>,
                  "a DataParallel is on the devices of its mesh: move net(), or make another one");
    return *this;
  }

 private:
  template <class T, class D>
  static Tensor<T> on(Device device, const Tensor<T, D>& batch) {
    return Tensor<T>(batch.to(device));
  }
  template <class T, class D>
  Tensor<T> piece(const Tensor<T, D>& batch, std::int64_t rows, int i) const {
    if (mesh_.size() == 1) return on(mesh_.device(0), batch);
    const Tensor<T> all(batch);
    const Tensor<T> own = batch.device().is_mesh() ? gather(all, mesh_.device(i)) : all;
    return own.narrow(0, mesh_.first_row(rows, i), mesh_.rows(rows, i)).to(mesh_.device(i));
  }
  template <class T>
  static auto result_of(const Net& net, const Tensor<T>& piece) {
    auto y = net(piece);
    return Tensor<detail::deduced_element<decltype(y)>>(y);
  }
  void follow() const {
    if (mesh_.size() == 1) return;
    std::vector<detail::ModuleNode> followers;
    for (std::size_t i = 1; i < nets_.size(); ++i) followers.push_back(detail::node_of(nets_[i]));
    replicas_.follow(detail::node_of(nets_[0]), std::move(followers));
  }

  Mesh mesh_;
  std::vector<Net> nets_;  // by position
  mutable detail::Replicas replicas_;
};

}  // namespace nn
}  // namespace sinter::inline v1
