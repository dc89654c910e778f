// Sequential: modules applied one after another.
#pragma once
#include <tuple>

#include <sinter/dsl/value.hpp>
#include <sinter/nn/module.hpp>

namespace sinter::inline v1 {

namespace detail {

/// The device type in a module's type.
template <class M>
struct ModuleDevice {
  using type = NoDevice;
};
template <class M>
  requires requires { typename M::device_type; }
struct ModuleDevice<M> {
  using type = typename M::device_type;
};
/// The same module with another device type; a module without one is unchanged.
template <class M, class D>
struct ModuleOn {
  using type = M;
};
template <class M, class D>
  requires requires { typename M::template on_device<D>; }
struct ModuleOn<M, D> {
  using type = typename M::template on_device<D>;
};

}  // namespace detail

namespace nn {

/// Modules, each called with the previous one's result: one expression, whose elementwise parts fuse. Their names are
/// "0", "1", ...; net[0_c] is the first one.
template <class... Layers>
class Sequential : public Module<Sequential<Layers...>> {
  static_assert((detail::is_module<Layers> && ...), "a Sequential is made of modules: nn::ReLU() where relu is meant");

 public:
  using device_type = typename detail::CommonDeviceOf<typename detail::ModuleDevice<Layers>::type...>::type;
  template <class To>
  using on_device = Sequential<typename detail::ModuleOn<Layers, To>::type...>;
  static constexpr const char* module_name = "Sequential";

  explicit Sequential(Layers... layers) : layers_(std::move(layers)...) {}
  template <class... From>
    requires(sizeof...(From) == sizeof...(Layers) && (std::is_constructible_v<Layers, const From&> && ...))
  explicit Sequential(const Sequential<From...>& other)
      : Module<Sequential>(other),
        layers_(std::apply([](const From&... layers) { return std::tuple<Layers...>(Layers(layers)...); },
                           other.layers_)) {}

  static constexpr std::size_t size() noexcept { return sizeof...(Layers); }
  template <detail::integral_constant I>
  auto& operator[](I number) noexcept {
    return at(*this, number);
  }
  template <detail::integral_constant I>
  const auto& operator[](I number) const noexcept {
    return at(*this, number);
  }

  /// Throws what the modules throw.
  template <expression X>
  auto operator()(const X& x) const {
    static_assert(detail::same_device<detail::device_of<X>, device_type>, SINTER_DIFFERENT_DEVICES);
    if constexpr (detail::same_device<detail::device_of<X>, device_type>)
      return after<0>(x);
    else
      return detail::ErrorExpression();
  }

  Members members() {
    Members list;
    std::apply([&](Layers&... layers) { (detail::describe_module(layers, detail::add_module(list.node())), ...); },
               layers_);
    return list;
  }

 private:
  template <class... Others>
  friend class Sequential;

  template <class Self, class I>
  static auto& at(Self& self, I) noexcept {
    constexpr bool is_there = I::value >= 0 && I::value < size();
    static_assert(is_there, "the net has no module with this number");
    if constexpr (is_there)
      return std::get<static_cast<std::size_t>(I::value)>(self.layers_);
    else
      return self;
  }
  template <std::size_t first, class X>
  auto after(X&& x) const {
    if constexpr (first == size())
      return std::remove_cvref_t<X>(std::forward<X>(x));
    else
      return after<first + 1>(std::get<first>(layers_)(std::forward<X>(x)));
  }

  std::tuple<Layers...> layers_;
};

/// Sequential(Sequential(...)) nests; auto copy = net makes a copy.
template <class... Layers>
explicit Sequential(Sequential<Layers...>) -> Sequential<Sequential<Layers...>>;

}  // namespace nn
}  // namespace sinter::inline v1
