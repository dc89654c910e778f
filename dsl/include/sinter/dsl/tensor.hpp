// Tensor: a handle to an array on a device. Copies and views share storage.
#pragma once
#include <span>
#include <utility>
#include <vector>

#include <sinter/dsl/accessor.hpp>
#include <sinter/dsl/array.hpp>
#include <sinter/dsl/expression_view.hpp>
#include <sinter/dsl/in_place.hpp>
#include <sinter/dsl/rows.hpp>
#include <sinter/dsl/scatter.hpp>
#include <sinter/dsl/view.hpp>

namespace sinter::inline v1 {

template <element_or_any T, class D, class Values>
struct ValuesAndIndices;

namespace detail {

#define SINTER_TWO_RESULTS                                                                                           \
  "the result has two parts, values and indices: take .values or write auto [values, indices] = ...; amax and amin " \
  "give the values alone"
#define SINTER_REBINDS                                                                                                 \
  "= makes a named tensor refer to another one: x.assign(value) writes to its elements, x = sn::tensor(values) makes " \
  "a new tensor"

template <class T, class D, class X, class F>
Tensor<T, D> view_of(const Tensor<T, D, X>& x, F view) {
  return Tensor<T, D>(view(x.impl()));
}
template <class T, class D, class X, class F>
std::vector<Tensor<T, D>> parts_of(const Tensor<T, D, X>& x, F views) {
  std::vector<Tensor<T, D>> parts;
  for (TensorRef& part : views(x.impl())) parts.emplace_back(std::move(part));
  return parts;
}

/// A tensor as an operand; a temporary passes its array on.
template <class T, class D, class X>
LeafExpression<T, D, X> lift(const Tensor<T, D, X>& t) noexcept {
  return t.leaf();
}
template <class T, class D, class X>
LeafExpression<T, D, X> lift(Tensor<T, D, X>&& t) noexcept {
  return std::move(t).leaf();
}

}  // namespace detail

/// A tensor of T on a device of type D: Cpu, Cuda<I>, Cuda<> (a GPU known at run time) or AnyDevice. Its extents are
/// AnyExtents, or part of its type: Extents<dyn, 256>. Making a Tensor from an expression, or assigning one to a named
/// Tensor, evaluates it, in one kernel if the plan allows.
template <element_or_any T, class D, class X>
class Tensor : public detail::On<D>,
               public detail::Methods<Tensor<T, D, X>>,
               public detail::Views<Tensor<T, D, X>>,
               public detail::InPlace<Tensor<T, D, X>>,
               public detail::Scatters<Tensor<T, D, X>> {
 public:
  using value_type = T;
  using extents_type = X;

  /// Without an array; using it throws Error.
  Tensor() = default;
  explicit Tensor(runtime::TensorRef impl) : impl_(std::move(impl)) {
    if constexpr (!std::is_same_v<X, AnyExtents>)
      if (impl_) detail::check_extents<X>(impl_->shape);
  }
  Tensor(const Tensor&) noexcept = default;
  Tensor(Tensor&&) noexcept = default;

  /// Evaluates. Throws DeviceError, ShapeError, OutOfMemory, CompileError, CudaError.
  template <expression E>
    requires(!requires(const std::remove_cvref_t<E>& e) { e.impl(); })
  Tensor(E&& e) : Tensor(evaluated(std::forward<E>(e))) {}

  /// The same array under another type. Implicit if the new type is less specific: Cuda<0> to Cuda<> to AnyDevice,
  /// float to AnyType, Extents<3> to Extents<dyn> to AnyExtents. Explicit if it is more specific, which is checked now:
  /// throws DeviceError, DTypeError, ShapeError.
  template <class U, class From, class Y>
  explicit(detail::checked_at_run_time<U, From, T, D> || (!detail::extents_fit<Y, X> && detail::extents_may_fit<Y, X>))
      Tensor(const Tensor<U, From, Y>& o)
      : impl_(o.ref()) {
    static_assert(detail::extents_may_fit<Y, X>, SINTER_OTHER_EXTENTS);
    if constexpr (!detail::extents_fit<Y, X>) detail::check_extents<X>(o.shape());
    static_assert(detail::same_device<From, D>, SINTER_DIFFERENT_DEVICES);
    static_assert(detail::same_dtype<U, T> || std::is_same_v<U, AnyType>,
                  "the tensor has another dtype: convert it with cast<T>(x) or x.to<T>()");
    if constexpr (!detail::same_dtype<U, T>) detail::check_dtype(o.impl(), dtype_of<T>);
    if constexpr (!detail::device_fits<From, D>) detail::check_device<D>(o.impl());
  }

  /// Rejected: auto [values, indices] = x.max(0).
  template <class U, class From, class Values>
  Tensor(const ValuesAndIndices<U, From, Values>&) {
    static_assert(!std::is_same_v<U, U>, SINTER_TWO_RESULTS);
  }

  /// A named tensor now refers to the other's array.
  Tensor& operator=(const Tensor&) & noexcept = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
  template <expression E>
  Tensor& operator=(E&& e) & {
    static_assert(detail::same_device<detail::device_of<E>, D>, SINTER_DIFFERENT_DEVICES);
    if constexpr (detail::same_device<detail::device_of<E>, D>) *this = Tensor(std::forward<E>(e));
    return *this;
  }
  template <class A>
    requires(!expression<A> && !std::is_convertible_v<A, Tensor>)
  Tensor& operator=(A&&) & {
    static_assert(std::is_same_v<A, void>, SINTER_REBINDS);
    return *this;
  }
  template <class A>
  Tensor& operator=(std::initializer_list<A>) & {
    static_assert(std::is_same_v<A, void>, SINTER_REBINDS);
    return *this;
  }
  /// A temporary, such as x[i] or x(range(0, 2)), is written to: the values go to the array that it views.
  Tensor& operator=(const Tensor& o) && { return this->assign(o); }
  Tensor& operator=(Tensor&& o) && { return this->assign(o); }
  template <class A>
    requires detail::operand<A>
  Tensor& operator=(A&& value) && {
    return this->assign(std::forward<A>(value));
  }

  template <class A>
    requires(!detail::operand<A> && !std::is_convertible_v<A, Tensor>)
  Tensor& operator=(A&&) && {
    static_assert(std::is_same_v<A, void>, SINTER_NO_OPERAND);
    return *this;
  }

  /// x[mask] returns a const tensor: writing to it would not write to x.
  template <class A>
  void operator=(A&&) const&& {
    static_assert(!std::is_same_v<A, A>, SINTER_LOST_WRITE);
  }

  // Properties.
  bool defined() const noexcept { return static_cast<bool>(impl_); }
  const Shape& shape() const { return impl().shape; }
  const Shape& strides() const { return impl().strides; }
  int dim() const { return impl().ndim(); }
  std::int64_t numel() const { return impl().numel; }
  /// Extent of an axis; negative axes count from the end. Throws IndexError.
  std::int64_t size(detail::Index axis) const { return detail::extent(impl(), axis); }
  DType dtype() const { return impl().dtype; }
  Device device() const { return impl().device; }
  bool is_contiguous() const { return impl().contiguous; }
  bool is_cuda() const { return device().is_cuda(); }
  template <class U, class E, class Y>
  bool same_storage(const Tensor<U, E, Y>& o) const {
    return impl().buffer == o.impl().buffer;
  }

  /// Address of the first element, on the tensor's device, which may still be writing there. Throws DeviceError for a
  /// tensor on a mesh.
  T* data() const
    requires element<T>
  {
    if (impl().device.is_mesh()) detail::throw_many_addresses(impl());
    if (impl().buffer) impl().buffer->expose();
    return reinterpret_cast<T*>(impl().data);
  }

  // Only on a mesh; see sharded.hpp. Elsewhere these throw DeviceError.
  Mesh mesh() const
    requires detail::may_be_on_mesh<D>
  {
    return Mesh::of(device());
  }
  /// The shard of rank i, which must be one of this process's ranks, as a view. Throws IndexError.
  Tensor<T> shard(int i) const
    requires detail::may_be_on_mesh<D>
  {
    return Tensor<T>(detail::shard_at(impl(), i));
  }
  /// The device of rank i. Throws IndexError.
  Device device(int i) const
    requires detail::may_be_on_mesh<D>
  {
    return mesh().device(i);
  }
  /// The elements of a contiguous tensor on the CPU, for reading and writing in place. The span is valid while a tensor
  /// keeps the memory alive. Throws DeviceError on a GPU, Error if the tensor is not contiguous.
  std::span<T> span() const&
    requires element<T>
  {
    detail::check_host_access("span", impl(), true);
    return {data(), static_cast<std::size_t>(numel())};
  }
  /// The elements of a tensor with any strides, by index: a(i, j) or a[i][j]. Throws DeviceError on a GPU, ShapeError
  /// if the tensor does not have Ndim axes.
  template <int Ndim>
    requires element<T>
  Accessor<T, Ndim> accessor() const& {
    detail::check_host_access("accessor", impl(), false);
    detail::check_accessor_ndim(impl(), Ndim);
    typename Accessor<T, Ndim>::Extents extents, steps;
    for (std::size_t i = 0; i < std::size_t{Ndim}; ++i) {
      extents[i] = shape()[static_cast<int>(i)];
      steps[i] = strides()[static_cast<int>(i)];
    }
    return {data(), extents, steps};
  }
  std::span<T> span() const&&
    requires element<T>
  {
    static_assert(!element<T>, SINTER_ACCESS_OF_TEMPORARY);
  }
  template <int Ndim>
    requires element<T>
  Accessor<T, Ndim> accessor() const&& {
    static_assert(!element<T>, SINTER_ACCESS_OF_TEMPORARY);
  }

  // Views of complex numbers' parts: z.real() = x writes to them. For an expression they are operations, like
  // sn::real(z).
  Tensor<detail::part_type<T>, D, X> real() const
    requires(!element<T> || complex_element<T>)
  {
    return Tensor<detail::part_type<T>, D, X>(detail::part_view(impl(), 0));
  }
  Tensor<detail::part_type<T>, D, X> imag() const
    requires(!element<T> || complex_element<T>)
  {
    return Tensor<detail::part_type<T>, D, X>(detail::part_view(impl(), 1));
  }
  /// A real tensor is its own real part.
  Tensor real() const
    requires(element<T> && !complex_element<T>)
  {
    return *this;
  }

  /// The views x[0], x[1], ...: for (auto row : x). end() throws IndexError for a 0-d tensor.
  detail::RowIterator<Tensor<T, D>> begin() const { return {*this, 0}; }
  detail::RowIterator<Tensor<T, D>> end() const { return {*this, size(0)}; }
  /// The transpose of a matrix. Throws ShapeError above two dimensions.
  Tensor<T, D, typename detail::Transposed<X>::type> t() const {
    return Tensor<T, D, typename detail::Transposed<X>::type>(detail::t(impl()));
  }

  // Reading. These wait for the device.
  /// The only element. Throws Error unless there is exactly one.
  T item() const
    requires element<T>
  {
    T value;
    detail::read_item(impl(), &value);
    return value;
  }
  /// The only element as a U, converted as by to<U>(): for a tensor whose dtype is known only at run time.
  template <element U>
  U item() const {
    if (numel() != 1) detail::read_item(impl(), nullptr);  // throws
    return to<U>().item();
  }
  /// Calls f with the tensor under its dtype, a Tensor<float, D> for example. f is called for one dtype, but must
  /// compile and return the same type for all.
  template <class F>
  decltype(auto) visit(F&& f) const {
    return sinter::visit(
        dtype(), [&](auto type) -> decltype(auto) { return f(Tensor<typename decltype(type)::type, D, X>(ref())); });
  }
  /// The elements, row-major.
  std::vector<T> to_vector() const
    requires element<T>
  {
    check_shape(shape(), sizeof(T));  // an expanded view may have more elements than any array
    if constexpr (std::is_same_v<T, bool>) {
      std::vector<char> bytes(static_cast<std::size_t>(numel()));
      detail::read_elements(impl(), bytes.data());
      return {bytes.begin(), bytes.end()};
    } else {
      std::vector<T> values(static_cast<std::size_t>(numel()));
      detail::read_elements(impl(), values.data());
      return values;
    }
  }

  // Moving and converting. If nothing has to change, the result shares the storage.
  template <device_argument Target>
  Tensor<T, device_type_of<Target>, X> to(const Target& device) const {
    return Tensor<T, device_type_of<Target>, X>(jit::to(impl(), dtype(), Device(device)));
  }
  template <element U>
  Tensor<U, D, X> to() const {
    static_assert(!detail::loses_imaginary<T, U>, SINTER_LOSES_IMAGINARY);
    return Tensor<U, D, X>(jit::to(impl(), dtype_of<U>, device()));
  }
  template <element U, device_argument Target>
  Tensor<U, device_type_of<Target>, X> to(const Target& device) const {
    static_assert(!detail::loses_imaginary<T, U>, SINTER_LOSES_IMAGINARY);
    return Tensor<U, device_type_of<Target>, X>(jit::to(impl(), dtype_of<U>, Device(device)));
  }
  /// To a dtype that is known only at run time. Throws DTypeError from complex to real.
  Tensor<AnyType, D, X> to(DType dtype) const { return Tensor<AnyType, D, X>(jit::to(impl(), dtype, device())); }
  Tensor<T, Cpu, X> cpu() const { return to(sinter::cpu); }
  /// Moves to the current GPU.
  Tensor<T, Cuda<>, X> cuda() const { return to(sinter::cuda<>); }
  Tensor<T, Cuda<>, X> cuda(int index) const { return to(index); }
  /// Checks the dtype of an AnyTensor and shares its storage. Throws DTypeError.
  template <element U>
  Tensor<U, D, X> as() const {
    detail::check_dtype(impl(), dtype_of<U>);
    return Tensor<U, D, X>(ref());
  }
  /// A copy in page-locked host memory, from which copies to GPUs are asynchronous; the tensor itself if it is already
  /// pinned. Throws DeviceError for a tensor on a GPU, and if there is no GPU.
  Tensor pin_memory() const { return Tensor(detail::pin_memory(impl())); }
  bool is_pinned() const { return impl().buffer && impl().buffer->is_pinned(); }
  Tensor contiguous() const { return Tensor(jit::contiguous(impl())); }
  /// A contiguous copy.
  Tensor clone() const { return Tensor(detail::evaluate_one(leaf())); }

  /// For Sinter's own layers.
  runtime::TensorImpl& impl() const {
    if (!impl_) detail::throw_moved_from();
    return *impl_;
  }
  const runtime::TensorRef& ref() const noexcept { return impl_; }
  detail::LeafExpression<T, D, X> leaf() const& noexcept { return detail::LeafExpression<T, D, X>(held(impl_)); }
  detail::LeafExpression<T, D, X> leaf() && noexcept {
    return detail::LeafExpression<T, D, X>(held(std::exchange(impl_, {})));
  }

 private:
  template <class E>
  static runtime::TensorRef evaluated(E&& e) {
    using Source = std::remove_cvref_t<E>;
    if constexpr (detail::is_error<Source>) {
      return {};
    } else {
      static_assert(detail::same_dtype<typename Source::value_type, T>,
                    "the expression has another dtype: convert it with cast<T>(x)");
      static_assert(detail::same_device<typename Source::device_type, D>, SINTER_DIFFERENT_DEVICES);
      static_assert(detail::extents_may_fit<extents_of<Source>, X>, SINTER_OTHER_EXTENTS);
      runtime::TensorRef result;
      if constexpr (detail::is_lazy<Source> && !std::is_reference_v<E>) result = jit::uniquely_owned_result(e.node());
      if (!result) result = detail::evaluate_one(e);
      if constexpr (!detail::device_fits<typename Source::device_type, D>) detail::check_device<D>(*result);
      return result;
    }
  }
  runtime::TensorRef impl_;
};

template <expression E>
Tensor(E&&) -> Tensor<detail::deduced_element<E>, detail::deduced_device<E>, extents_of<E>>;
template <class T, class D, class Values>
Tensor(const ValuesAndIndices<T, D, Values>&) -> Tensor<T, D>;
/// A number is no tensor: without this guide, the message is a list of all others.
template <detail::operand S>
  requires(!expression<S>)
Tensor(S) -> Tensor<AnyType>;

namespace detail {

template <class E>
auto tensor_from(const E& e) {
  return Tensor(e);
}
template <class E>
Shape shape_from(const E& e) {
  return result_shape(evaluation_of(e));
}

/// A tensor, or an expression's value.
template <class T, class D, class X>
const Tensor<T, D, X>& evaluated_source(const Tensor<T, D, X>& x) {
  return x;
}
template <class E>
auto evaluated_source(const E& e) {
  return tensor_from(e);
}

}  // namespace detail

/// Complex numbers as pairs of real ones in a last axis of extent 2, and the reverse: views of a tensor or of an
/// expression's value. The reverse throws DTypeError for a dtype other than float32 and float64, and ShapeError if
/// parts are not stored in pairs.
template <expression E>
auto view_as_real(const E& z) {
  using T = detail::deduced_element<E>;
  static_assert(!element<T> || complex_element<T>, "view_as_real takes complex numbers; real ones have one part");
  return Tensor<detail::part_type<T>, detail::deduced_device<E>>(
      detail::view_as_real(detail::evaluated_source(z).impl()));
}
template <expression E>
auto view_as_complex(const E& pairs) {
  using T = detail::deduced_element<E>;
  static_assert(!element<T> || std::is_same_v<T, float> || std::is_same_v<T, double>,
                "view_as_complex takes pairs of floats or doubles: convert with cast<float>(x)");
  return Tensor<detail::complex_type<T>, detail::deduced_device<E>>(
      detail::view_as_complex(detail::evaluated_source(pairs).impl()));
}

}  // namespace sinter::inline v1
