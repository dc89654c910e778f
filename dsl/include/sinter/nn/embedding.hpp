// Embedding: a table of rows selected by ids.
#pragma once
#include <sinter/dsl/indexing.hpp>
#include <sinter/nn/parameter.hpp>

namespace sinter::inline v1::nn {

/// Selects rows of a weight (num_embeddings, embedding_dim) by integer ids: ids (b, s) give (b, s, embedding_dim). The
/// weight is initialized as normal with mean 0 and variance 1.
template <floating_element T = float, class D = AnyDevice>
class EmbeddingOf : public Module<EmbeddingOf<T, D>> {
 public:
  using device_type = D;
  template <class To>
  using on_device = EmbeddingOf<T, To>;
  static constexpr const char* module_name = "Embedding";

  Tensor<T, D> weight;  // (num_embeddings, embedding_dim)

  /// Throws ShapeError for a negative extent, DeviceError, OutOfMemory.
  EmbeddingOf(detail::Index num_embeddings, detail::Index embedding_dim, const Device& device = {})
    requires std::is_same_v<D, AnyDevice>
      : weight(detail::normal_parameter({num_embeddings.value, embedding_dim.value}, dtype_of<T>, device)) {}
  template <class From>
  explicit(!detail::widens<From, D>) EmbeddingOf(const EmbeddingOf<T, From>& other)
      : Module<EmbeddingOf>(other), weight(detail::member_from<D>(other.weight)) {}

  /// Throws DeviceError naming the layer; IndexError for an id out of range, as embedding does.
  template <expression I>
  auto operator()(const I& ids) const {
    static_assert(detail::GatherCheck<Tensor<T, D>, I>::integers || detail::is_error<I>, SINTER_NO_INDICES);
    static_assert(detail::same_device<detail::device_of<I>, D>, SINTER_DIFFERENT_DEVICES);
    if constexpr (detail::GatherCheck<Tensor<T, D>, I>::ok) {
      const detail::OperandInfo facts = detail::info_of(detail::lift(ids));
      if (facts.device != weight.device()) detail::throw_device_of_input(detail::node_of(*this), facts, weight.impl());
      return detail::gather_along(detail::GatherKind::Embedding, weight, 0, ids);
    } else {
      return detail::ErrorExpression();
    }
  }

  Members members() { return nn::members("weight", weight); }
  std::string extra_repr() const {
    if (!weight.defined()) return detail::holds_nothing;
    return std::to_string(weight.size(0)) + ", " + std::to_string(weight.size(1));
  }
};

using Embedding = EmbeddingOf<>;

}  // namespace sinter::inline v1::nn
