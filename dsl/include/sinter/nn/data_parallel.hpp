// DataParallel: a copy of a net on every device of a mesh, each with a part of the batch.
#pragma once
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <shared_mutex>
#include <tuple>
#include <vector>

#include <sinter/dsl/history.hpp>
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

/// Throws what kernels of earlier calls found in their data on devices other than the first, for which nothing else
/// waits.
void raise_faults(const Mesh& mesh);
/// Throws DeviceError for a mesh shared by processes.
void check_replicated_mesh(const ModuleNode& net, const Mesh& mesh);
/// Throw ShapeError: for a batch without a dim 0, and for a batch with a different number of rows.
[[noreturn]] void throw_no_rows(const ModuleNode& net, const TensorImpl& batch);
[[noreturn]] void throw_other_rows(const ModuleNode& net, std::int64_t rows, const TensorImpl& batch);

/// An operand of all ranks together, and what each rank has of it: its rows, or a copy.
struct RankOperand {
  jit::LazyRef whole;
  bool by_rows;
  std::vector<TensorRef> parts;  // by rank
};

/// Appends the parameters that have gradients; `parts` are those of each rank's net, in the same order.
void add_parameters(std::vector<RankOperand>& operands, const std::vector<ModuleNode>& nets);

/// Results of the ranks' values, which are evaluated, on one device, as leaves through which gradients flow to the
/// operands: the ranks' rows, where a 0-d value counts as one, or their sum. `values` by result, then by rank. Throws
/// what evaluate() throws; ShapeError as cat.
std::vector<jit::LazyRef> join_ranks(std::vector<RankOperand> operands, std::vector<std::vector<jit::LazyRef>> values,
                                     Device home, bool by_rows);

/// A batch in memory, and where gradients flow if it is an expression; anything else unchanged.
template <class B>
auto batch_of(const B& x, jit::LazyRef& history) {
  if constexpr (!expression<B>) {
    return x;
  } else if constexpr (!keeps_history<B>) {
    return Tensor<deduced_element<B>, device_of<B>>(evaluated_source(x));
  } else {
    const auto evaluated = in_memory(x);
    if (!evaluated.array->device.is_mesh() && category(evaluated.array->dtype) >= Category::Float)
      history = evaluated.leaf.node();
    return Tensor<deduced_element<B>, device_of<B>>(evaluated.array);
  }
}

/// A net's results: an expression of floats, through which gradients flow, as a Lazy, anything else as a tensor;
/// several in a tuple.
template <expression E>
auto result_of(const E& e) {
  if constexpr (keeps_history<E>)
    return Lazy<deduced_element<E>>(e);
  else
    return Tensor<deduced_element<E>>(e);
}
template <class... E>
auto result_of(const std::tuple<E...>& several) {
  return std::apply([](const E&... e) { return std::tuple(result_of(e)...); }, several);
}

/// The results of all ranks on one device: rows one after another, where a 0-d tensor counts as a row. Those that are
/// Lazy are evaluated together.
class RankResults {
 public:
  explicit RankResults(const Mesh& mesh) : by_rows_(mesh.size() > 1), home_(mesh.device(0)) {}

  /// Notes a rank's result, or those in a tuple; all ranks' in the same order.
  template <class T>
  void add(const Lazy<T>& result) {
    if (lazy_.size() == next_) lazy_.emplace_back();
    lazy_[next_++].push_back(result.node());
  }
  template <class T>
  void add(const Tensor<T>&) {}
  template <class... R>
  void add(const std::tuple<R...>& several) {
    std::apply([&](const R&... r) { (add(r), ...); }, several);
  }
  void next_rank() noexcept { next_ = 0; }

  bool has_lazy() const noexcept { return !lazy_.empty(); }
  void join(std::vector<RankOperand> operands) {
    joined_ = join_ranks(std::move(operands), std::move(lazy_), home_, by_rows_);
    next_ = 0;
  }

  template <class T>
  Lazy<T> whole(const std::vector<Lazy<T>>&) {
    return Lazy<T>(joined_[next_++]);
  }
  template <class T>
  Tensor<T> whole(std::vector<Tensor<T>> parts) {
    for (Tensor<T>& part : parts) {
      part = part.to(home_);
      if (part.shape().empty() && by_rows_) part = part.unsqueeze(0);
    }
    return parts.size() == 1 ? parts[0] : Tensor<T>(cat(parts, 0));
  }
  template <class... R>
  std::tuple<R...> whole(const std::vector<std::tuple<R...>>& parts) {
    const auto at = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
      std::vector<std::tuple_element_t<I, std::tuple<R...>>> own;
      for (const std::tuple<R...>& part : parts) own.push_back(std::get<I>(part));
      return whole(std::move(own));
    };
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple<R...>{at(std::integral_constant<std::size_t, I>())...};  // in order
    }(std::index_sequence_for<R...>());
  }

 private:
  bool by_rows_;  // a mesh of one device has the net's own results
  Device home_;
  std::vector<std::vector<jit::LazyRef>> lazy_;  // by result, then by rank
  std::vector<jit::LazyRef> joined_;
  std::size_t next_ = 0;
};

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
/// called directly, and its result is as it returns it. Gradients of the results flow to the parameters of net(),
/// and to batches that are expressions on one device: each device computes its part's, and they are added up on the
/// first device. The copies stay on their devices and follow writes to the parameters of net(), the first copy;
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
  /// anything else is passed to every device. The net returns an expression or a std::tuple of several; 0-d results
  /// become a vector, one element per device. What it returns as an expression of floats, not a tensor, becomes a Lazy,
  /// which keeps what gradients need: assign it to a Tensor where none is wanted. Throws what the net throws;
  /// ShapeError for a batch without a dim 0, and for tensors with different numbers of rows.
  template <expression X, class... Rest>
  auto operator()(const X& x, const Rest&... rest) const {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      std::array<jit::LazyRef, 1 + sizeof...(Rest)> histories;
      const std::tuple batches{detail::batch_of(x, histories[0]), detail::batch_of(rest, histories[1 + K])...};
      return std::apply(
          [&](const auto&... batch) {
            return called(histories, std::make_index_sequence<1 + sizeof...(K)>(), batch...);
          },
          batches);
    }(std::index_sequence_for<Rest...>());
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
  template <std::size_t... K, class... B>
  auto called(const std::array<jit::LazyRef, sizeof...(K)>& histories, std::index_sequence<K...>,
              const B&... batches) const {
    const std::int64_t rows = rows_of(batches...);
    detail::raise_faults(mesh_);
    const auto lock = follow();
    const auto all = std::tuple(on_mesh(batches)...);
    const auto at = [&](int rank) {
      return std::apply([&](const auto&... batch) { return std::tuple(part(batch, rows, rank)...); }, all);
    };
    const auto call = [&](int rank, const auto& parts) {
      return std::apply([&](const auto&... p) { return detail::result_of(nets_[std::size_t(rank)](p...)); }, parts);
    };
    if (mesh_.size() == 1 && std::ranges::none_of(histories, [](const auto& h) { return bool(h); }))
      return call(0, at(0));
    std::vector<decltype(call(0, at(0)))> results;
    std::vector<detail::RankOperand> operands(sizeof...(K));
    for (int rank = 0; rank < mesh_.size() && (rank == 0 || mesh_.rows(rows, rank) > 0); ++rank) {
      const auto parts = at(rank);
      results.push_back(call(rank, parts));
      (add_part(operands[K], histories[K], std::get<K>(parts)), ...);
    }
    std::erase_if(operands, [](const detail::RankOperand& o) { return !o.whole; });
    detail::RankResults whole(mesh_);
    for (const auto& result : results) whole.add(result), whole.next_rank();
    if (whole.has_lazy()) {
      detail::add_parameters(operands, described(results.size()));
      whole.join(std::move(operands));
    }
    return whole.whole(results);
  }
  template <class B>
  static void add_part(detail::RankOperand& operand, const jit::LazyRef& history, const B& part) {
    operand.whole = history, operand.by_rows = true;
    if constexpr (expression<B>) operand.parts.push_back(part.ref());
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
  std::vector<detail::ModuleNode> described(std::size_t ranks) const {
    std::vector<detail::ModuleNode> nodes;
    for (std::size_t i = 0; i < ranks; ++i) nodes.push_back(detail::node_of(nets_[i]));
    return nodes;
  }
  std::shared_lock<std::shared_mutex> follow() const {
    if (mesh_.size() == 1) return {};
    return replicas_.follow(detail::node_of(nets_[0]), [this] {
      std::vector<detail::ModuleNode> nodes = described(nets_.size());
      nodes.erase(nodes.begin());
      return nodes;
    });
  }

  Mesh mesh_;
  std::vector<Net> nets_;  // by rank
  detail::Replicas replicas_;
};

}  // namespace nn
}  // namespace sinter::inline v1
