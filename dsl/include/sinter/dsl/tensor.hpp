// Tensor: a handle of an array on a device. Copies and views share storage.
#pragma once
#include <array>
#include <iosfwd>
#include <utility>
#include <vector>

#include <sinter/dsl/bind.hpp>
#include <sinter/dsl/functions.hpp>
#include <sinter/dsl/operators.hpp>
#include <sinter/dsl/view.hpp>
#include <sinter/runtime/error.hpp>

namespace sinter::inline v1 {

template <class T>
concept element_or_any = element<T> || std::is_same_v<T, AnyType>;

template <element_or_any T, class D = AnyDevice>
class Tensor;

/// A tensor whose dtype is known at run time only: what files give.
using AnyTensor = Tensor<AnyType, AnyDevice>;

namespace detail {

/// Throw DeviceError or DtypeError naming what the tensor is and what was asked for.
void check_device_kind(const TensorImpl& t, Device wanted, bool any_index);
void check_dtype(const TensorImpl& t, DType wanted);
std::int64_t extent(const TensorImpl& t, std::int64_t axis);
/// Copies the only element to `to`. Throws Error when there are more or none.
void read_item(const TensorImpl& t, void* to);
/// Copies the elements to `to`, row-major.
void read_elements(TensorImpl& t, void* to);
std::ostream& print(std::ostream& out, const TensorImpl& t);
TensorRef pin_memory(TensorImpl& t);
/// Writes one value to every element. Throws DtypeError when its category is higher than the dtype's, Error when the
/// dtype cannot hold it.
void fill(TensorImpl& t, Number value);
/// A 0-d tensor of that value, of t's dtype and device; throws as fill does.
TensorRef scalar_like(const TensorImpl& t, Number value);

template <class D>
void check_device(const TensorImpl& t) {
  if constexpr (std::is_same_v<D, Cpu>)
    check_device_kind(t, Device(), false);
  else if constexpr (!std::is_same_v<D, AnyDevice>)
    check_device_kind(t, Device(D{}), std::is_same_v<D, Cuda<>>);
}

template <class E>
inline constexpr bool is_reported = std::is_same_v<value_type_of<E>, Unknown>;

/// The message that every use of another element type meets.
template <class From, class To>
inline constexpr bool same_dtype =
    std::is_same_v<From, To> || std::is_same_v<To, AnyType> || std::is_same_v<From, Unknown>;
template <class From, class To>
inline constexpr bool device_fits = widens<From, To> || std::is_same_v<From, Mismatch>;

template <class U, class From, class T, class D>
inline constexpr bool checked_at_run_time =
    (!same_dtype<U, T> && std::is_same_v<U, AnyType>) || (!device_fits<From, D> && same_device<From, D>);

/// What a Tensor is made of when it is deduced from an expression.
template <class E>
using deduced_element = std::conditional_t<is_reported<E>, AnyType, value_type_of<E>>;
template <class E>
using deduced_device = std::conditional_t<std::is_same_v<typename std::remove_cvref_t<E>::device_type, Mismatch> ||
                                              std::is_same_v<typename std::remove_cvref_t<E>::device_type, NoDevice>,
                                          AnyDevice, typename std::remove_cvref_t<E>::device_type>;

/// Evaluates into `result`, or into a new array where it is null.
template <class E>
void evaluate_into(const E& e, TensorRef& result, jit::Mode mode = jit::Mode::Fused) {
  jit::evaluate(bind(e), &result, mode);
}
/// What inspecting takes.
template <class E>
jit::Bound description(const E& e) {
  return bind(e);
}
template <class E>
TensorRef evaluate_one(const E& e, jit::Mode mode = jit::Mode::Fused) {
  TensorRef result;
  evaluate_into(e, result, mode);
  return result;
}

/// A tensor as an operand; a temporary hands its array on.
template <class T, class D>
LeafExpression<T, D> lift(const Tensor<T, D>& t) noexcept {
  return t.leaf();
}
template <class T, class D>
LeafExpression<T, D> lift(Tensor<T, D>&& t) noexcept {
  return std::move(t).leaf();
}

}  // namespace detail

/// A tensor of T on a device of type D: Cpu, Cuda<I>, Cuda<> (a GPU known at run time) or AnyDevice.
/// Making or assigning a named Tensor from an expression evaluates it, in one kernel where the plan allows.
template <element_or_any T, class D>
class Tensor : public detail::On<D>, public detail::Methods<Tensor<T, D>>, public detail::Views<Tensor<T, D>> {
 public:
  using value_type = T;

  /// Empty: holds no array; using it throws Error.
  Tensor() = default;
  explicit Tensor(runtime::TensorRef impl) : impl_(std::move(impl)) {}
  Tensor(const Tensor&) noexcept = default;
  Tensor(Tensor&&) noexcept = default;

  /// Evaluates. Throws DeviceError, ShapeError, OutOfMemory, CompileError, CudaError.
  template <expression E>
    requires(!requires(const std::remove_cvref_t<E>& e) { e.impl(); })
  Tensor(E&& e) : Tensor(evaluated(std::forward<E>(e))) {}

  /// The same array under another type. Implicit where this type says less: Cuda<0> to Cuda<> to AnyDevice, float to
  /// AnyType. Explicit where it says more, which is checked now: throws DeviceError, DtypeError.
  template <class U, class From>
  explicit(detail::checked_at_run_time<U, From, T, D>) Tensor(const Tensor<U, From>& o) : impl_(o.ref()) {
    static_assert(detail::same_device<From, D>, SINTER_DIFFERENT_DEVICES);
    static_assert(detail::same_dtype<U, T> || std::is_same_v<U, AnyType>,
                  "the tensor has another dtype: convert it with cast<T>(x) or x.to<T>()");
    if constexpr (!detail::same_dtype<U, T>) detail::check_dtype(o.impl(), dtype_of<T>);
    if constexpr (!detail::device_fits<From, D>) detail::check_device<D>(o.impl());
  }

  /// A named tensor takes the other's array.
  Tensor& operator=(const Tensor&) & noexcept = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
  template <expression E>
  Tensor& operator=(E&& e) & {
    static_assert(detail::same_device<detail::device_of<E>, D>, SINTER_DIFFERENT_DEVICES);
    if constexpr (detail::same_device<detail::device_of<E>, D>) *this = Tensor(std::forward<E>(e));
    return *this;
  }
  /// A temporary, such as x[i] or x(range(0, 2)), writes into the array that it views.
  Tensor& operator=(const Tensor& o) && { return assign(o); }
  Tensor& operator=(Tensor&& o) && { return assign(o); }
  template <class A>
    requires detail::operand<A>
  Tensor& operator=(A&& value) && {
    return assign(std::forward<A>(value));
  }

  /// Writes the value into this array, broadcasting it; everything is read before anything is written.
  /// An expression must be of dtype T. A number, and anything into an AnyTensor, is converted, unless its category is
  /// higher. Throws ShapeError, DeviceError, DtypeError, and Error for a number that the dtype cannot hold.
  template <class A>
    requires detail::operand<A>
  Tensor& assign(A&& value) {
    if constexpr (!expression<A>) {
      detail::fill(impl(), value);
    } else {
      static_assert(detail::same_dtype<value_type_of<A>, T>, "the value has another dtype: convert it with cast<T>(x)");
      write(std::forward<A>(value));
    }
    return *this;
  }
  /// The same from any device and any dtype, as PyTorch's copy_.
  template <expression A>
  Tensor& copy_(A&& value) {
    if constexpr (!detail::is_reported<A>) {
      const Tensor<value_type_of<A>, AnyDevice> from(std::forward<A>(value));
      jit::copy(impl(), from.impl());
    }
    return *this;
  }

  // In place: the result is converted to T, which must not be of a lower category (DtypeError).
  template <class A>
    requires detail::operand<A>
  Tensor& operator+=(A&& value) {
    return write(*this + std::forward<A>(value));
  }
  template <class A>
    requires detail::operand<A>
  Tensor& operator-=(A&& value) {
    return write(*this - std::forward<A>(value));
  }
  template <class A>
    requires detail::operand<A>
  Tensor& operator*=(A&& value) {
    return write(*this * std::forward<A>(value));
  }
  template <class A>
    requires detail::operand<A>
  Tensor& operator/=(A&& value) {
    return write(*this / std::forward<A>(value));
  }
  template <class A>
    requires detail::operand<A>
  Tensor& operator%=(A&& value) {
    return write(*this % std::forward<A>(value));
  }
  template <class A>
    requires detail::operand<A>
  Tensor& operator&=(A&& value) {
    return write(*this & std::forward<A>(value));
  }
  template <class A>
    requires detail::operand<A>
  Tensor& operator|=(A&& value) {
    return write(*this | std::forward<A>(value));
  }
  template <class A>
    requires detail::operand<A>
  Tensor& operator^=(A&& value) {
    return write(*this ^ std::forward<A>(value));
  }
  template <class A>
    requires detail::operand<A>
  Tensor& operator<<=(A&& value) {
    return write(*this << std::forward<A>(value));
  }
  template <class A>
    requires detail::operand<A>
  Tensor& operator>>=(A&& value) {
    return write(*this >> std::forward<A>(value));
  }

  // What it is.
  bool defined() const noexcept { return static_cast<bool>(impl_); }
  const Shape& shape() const { return impl().shape; }
  const Shape& strides() const { return impl().strides; }
  int dim() const { return impl().rank(); }
  std::int64_t numel() const { return impl().numel; }
  /// Extent of an axis; negative axes count from the end. Throws IndexError.
  std::int64_t size(detail::Index axis) const { return detail::extent(impl(), axis); }
  DType dtype() const { return impl().dtype; }
  Device device() const { return impl().device; }
  bool is_contiguous() const { return impl().contiguous; }
  bool is_cuda() const { return device().is_cuda(); }
  template <class U, class E>
  bool same_storage(const Tensor<U, E>& o) const {
    return impl().buffer == o.impl().buffer;
  }

  /// Address of the first element, on the tensor's device, which may still be writing there.
  T* data() const
    requires element<T>
  {
    if (impl().buffer) impl().buffer->expose();
    return reinterpret_cast<T*>(impl().data);
  }

  // Reading it. These wait for the device.
  /// The only element. Throws Error when there are more or none.
  T item() const
    requires element<T>
  {
    T value;
    detail::read_item(impl(), &value);
    return value;
  }
  /// The elements, row-major.
  std::vector<T> to_vector() const
    requires element<T>
  {
    check_shape(shape(), sizeof(T));  // an expanded view may have more elements than memory has bytes
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

  // Moving and converting. Where it already is as asked, the result shares the storage.
  template <device_argument Target>
  Tensor<T, device_type_of<Target>> to(const Target& device) const {
    return Tensor<T, device_type_of<Target>>(jit::to(impl(), dtype(), Device(device)));
  }
  template <element U>
  Tensor<U, D> to() const {
    return Tensor<U, D>(jit::to(impl(), dtype_of<U>, device()));
  }
  template <element U, device_argument Target>
  Tensor<U, device_type_of<Target>> to(const Target& device) const {
    return Tensor<U, device_type_of<Target>>(jit::to(impl(), dtype_of<U>, Device(device)));
  }
  Tensor<T, Cpu> cpu() const { return to(sinter::cpu); }
  /// To the current GPU.
  Tensor<T, Cuda<>> cuda() const { return to(sinter::cuda<>); }
  Tensor<T, Cuda<>> cuda(int index) const { return to(index); }
  /// Checks the dtype of an AnyTensor and shares its storage. Throws DtypeError.
  template <element U>
  Tensor<U, D> as() const {
    detail::check_dtype(impl(), dtype_of<U>);
    return Tensor<U, D>(ref());
  }
  /// A copy in page-locked memory of the host, from where copies to GPUs go on by themselves; itself where it is
  /// pinned. Throws DeviceError for a tensor on a GPU, and where there is no GPU.
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
  detail::LeafExpression<T, D> leaf() const& noexcept {
    return detail::LeafExpression<T, D>(runtime::TensorRef(impl_).release());
  }
  detail::LeafExpression<T, D> leaf() && noexcept { return detail::LeafExpression<T, D>(impl_.release()); }

 private:
  template <class E>
  static runtime::TensorRef evaluated(E&& e) {
    using Source = std::remove_cvref_t<E>;
    if constexpr (detail::is_reported<Source>) {
      return {};
    } else {
      static_assert(detail::same_dtype<typename Source::value_type, T>,
                    "the expression has another dtype: convert it with cast<T>(x)");
      static_assert(detail::same_device<typename Source::device_type, D>, SINTER_DIFFERENT_DEVICES);
      runtime::TensorRef result = detail::evaluate_one(e);
      if constexpr (!detail::device_fits<typename Source::device_type, D>) detail::check_device<D>(*result);
      return result;
    }
  }
  template <class A>
  Tensor& write(A&& value) {
    if constexpr (!detail::is_reported<A>) {
      static_assert(detail::same_device<typename std::remove_cvref_t<A>::device_type, D>, SINTER_DIFFERENT_DEVICES);
      runtime::TensorRef into = runtime::TensorRef::share(&impl());
      // Found by their argument: Lazy, whose header needs this one, has its own.
      auto&& e = lift(std::forward<A>(value));
      evaluate_into(e, into);
    }
    return *this;
  }

  runtime::TensorRef impl_;
};

template <expression E>
Tensor(E&&) -> Tensor<detail::deduced_element<E>, detail::deduced_device<E>>;

namespace detail {

template <class E>
auto tensor_from(const E& e) {
  return Tensor(e);
}
template <class E>
Shape shape_from(const E& e) {
  return result_shape(description(e));
}

}  // namespace detail

}  // namespace sinter::inline v1
