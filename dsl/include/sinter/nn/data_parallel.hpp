// DataParallel: a copy of a net on every device of a mesh, each with a part of the batch.
#pragma once
#include <algorithm>
#include <functional>
#include <memory>
#include <shared_mutex>
#include <tuple>
#include <vector>

#include <sinter/dsl/join.hpp>
#include <sinter/dsl/sharded.hpp>
#include <sinter/nn/module.hpp>

namespace sinter::inline v1 {

namespace detail {

/// Nets that follow the state of another one, each on its own device.
class Replicas {
 public:
  Replicas();
  /// For other nets, whose state has to be copied anew.
  Replicas(const Replicas&) : Replicas() {}
  Replicas& operator=(const Replicas& o) { return o.state_ == state_ ? *this : *this = Replicas(); }
  Replicas(Replicas&&) noexcept;
  Replicas& operator=(Replicas&&) noexcept;
  ~Replicas();

  /// Copies the leader's parameters and buffers that were written to or replaced since the last call, and its training
  /// modes. No thread copies while another holds the returned lock. `describe` makes the followers' nodes.
  std::shared_lock<std::shared_mutex> follow(const ModuleNode& leader,
                                             const std::function<std::vector<ModuleNode>()>& describe) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Throws DeviceError for a mesh shared by processes.
void check_replicated_mesh(const ModuleNode& net, const Mesh& mesh);
/// Throw ShapeError: for a batch without a dim 0, and for a batch with a different number of rows.
[[noreturn]] void throw_no_rows(const ModuleNode& net, const TensorImpl& batch);
[[noreturn]] void throw_other_rows(const ModuleNode& net, std::int64_t rows, const TensorImpl& batch);

/// Converts expressions to tensors; returns anything else unchanged.
template <class B>
auto batch_of(const B& x) {
  if constexpr (expression<B>)
    return Tensor<deduced_element<B>, device_of<B>>(evaluated_source(x));
  else
    return x;
}

/// A net's results as tensors: one, or several in a tuple.
template <expression E>
auto evaluated(const E& e) {
  return Tensor<deduced_element<E>>(e);
}
template <class... E>
auto evaluated(const std::tuple<E...>& several) {
  return std::apply([](const E&... e) { return std::tuple(evaluated(e)...); }, several);
}

/// The rows of all parts on one device; a 0-d tensor counts as a row.
template <class T>
Tensor<T> joined(std::vector<Tensor<T>> parts, Device device) {
  for (Tensor<T>& part : parts) {
    part = part.to(device);
    if (part.shape().empty()) part = part.unsqueeze(0);
  }
  return parts.size() == 1 ? parts[0] : Tensor<T>(cat(parts, 0));
}
template <class... T>
auto joined(const std::vector<std::tuple<T...>>& parts, Device device) {
  const auto at = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
    std::vector<std::tuple_element_t<I, std::tuple<T...>>> own;
    for (const std::tuple<T...>& part : parts) own.push_back(std::get<I>(part));
    return joined(std::move(own), device);
  };
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple(at(std::integral_constant<std::size_t, I>())...);
  }(std::index_sequence_for<T...>());
}

template <class M>
inline constexpr bool is_on_any_device = true;
template <class M>
  requires requires { typename M::device_type; }
inline constexpr bool is_on_any_device<M> =
    std::is_same_v<typename M::device_type, AnyDevice> || std::is_same_v<typename M::device_type, NoDevice>;

}  // namespace detail

namespace nn {

/// A net that is called with a batch of any size. Dim 0 is sharded over the mesh in shards of ceil(rows / devices),
/// each device calls its copy of the net with its shard, and the results are concatenated on the mesh's first device;
/// GPUs compute at the same time. With fewer rows than devices, some devices are idle; with one device, the net is
/// called directly. The copies stay on their devices and follow writes to the parameters of module(), the first copy;
/// these are this module's own parameters, named "module.". Names in saved files may omit that prefix. Several threads
/// may call it at once if they may call the net; a write to the parameters in the meantime is seen by some or all
/// devices.
template <module Net>
class DataParallel : public Module<DataParallel<Net>> {
  static_assert(detail::is_on_any_device<Net>,
                "DataParallel copies its net to several devices: the net's type must not contain a device (nn::Linear, "
                "not what net.to(cuda<0>) returns)");

 public:
  static constexpr const char* module_name = "DataParallel";

  /// Moves copies of the net to the devices; the net's own parameters stay where they are. Throws DeviceError for a
  /// mesh of several processes, OutOfMemory.
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

  /// Takes a batch on any device or on a mesh, and the net's other arguments: further tensors are split by rows too,
  /// anything else is passed to every device. The net returns a tensor or a std::tuple of tensors; 0-d results become a
  /// vector, one element per device. Throws what the net throws; ShapeError for a batch without a dim 0, and for
  /// tensors with different numbers of rows.
  template <expression X, class... Rest>
  auto operator()(const X& x, const Rest&... rest) const {
    return called(detail::batch_of(x), detail::batch_of(rest)...);
  }

  Members members() { return nn::members("module", nets_[0]); }
  /// Like Module's; names may omit the prefix "module.".
  template <class State>
  IncompatibleKeys load_state_dict(const State& state, bool strict = true) {
    return nets_[0].load_state_dict(state, strict);
  }
  /// Rejected: it stays on its mesh.
  template <class D>
  DataParallel& to_(const D&) {
    static_assert(!std::is_same_v<D, D>,
                  "a DataParallel is on the devices of its mesh: move net(), or make another one");
    return *this;
  }

 private:
  template <class... B>
  auto called(const B&... batches) const {
    const std::int64_t rows = rows_of(batches...);
    const auto lock = follow();
    const auto parts = std::tuple(on_mesh(batches)...);
    using Result = decltype(result_at(0, rows, parts));
    std::vector<Result> results;
    for (int i = 0; i < mesh_.size() && (i == 0 || mesh_.rows(rows, i) > 0); ++i)
      results.push_back(result_at(i, rows, parts));
    return mesh_.size() == 1 ? results[0] : detail::joined(results, mesh_.device(0));
  }
  template <class T, class D, class X, class... Rest>
  std::int64_t rows_of(const Tensor<T, D, X>& batch, const Rest&... rest) const {
    if (batch.shape().empty()) detail::throw_no_rows(detail::node_of(*this), batch.impl());
    (check_rows(batch.shape()[0], rest), ...);
    return batch.shape()[0];
  }
  template <class B>
  void check_rows(std::int64_t rows, const B& other) const {
    if constexpr (expression<B>)
      if (other.shape().empty() || other.shape()[0] != rows)
        detail::throw_other_rows(detail::node_of(*this), rows, other.impl());
  }
  /// Shards a tensor that is on a mesh over this mesh, along dim 0.
  template <class B>
  auto on_mesh(const B& batch) const {
    if constexpr (expression<B>) {
      const Tensor<typename B::value_type> all(batch);
      return batch.device().is_mesh() ? Tensor<typename B::value_type>(shard(all, mesh_)) : all;
    } else {
      return batch;
    }
  }
  template <class B>
  auto part(const B& batch, std::int64_t rows, int i) const {
    if constexpr (expression<B>) {
      if (batch.device().is_mesh()) return batch.shard(i);
      const B own = mesh_.size() == 1 ? batch : batch.narrow(0, mesh_.first_row(rows, i), mesh_.rows(rows, i));
      return B(own.to(mesh_.device(i)));
    } else {
      return batch;
    }
  }
  template <class Parts>
  auto result_at(int i, std::int64_t rows, const Parts& parts) const {
    const Net& net = nets_[static_cast<std::size_t>(i)];
    return std::apply([&](const auto&... p) { return detail::evaluated(net(part(p, rows, i)...)); }, parts);
  }
  std::shared_lock<std::shared_mutex> follow() const {
    if (mesh_.size() == 1) return {};
    return replicas_.follow(detail::node_of(nets_[0]), [this] {
      std::vector<detail::ModuleNode> followers;
      for (std::size_t i = 1; i < nets_.size(); ++i) followers.push_back(detail::node_of(nets_[i]));
      return followers;
    });
  }

  Mesh mesh_;
  std::vector<Net> nets_;  // by rank
  detail::Replicas replicas_;
};

}  // namespace nn
}  // namespace sinter::inline v1
