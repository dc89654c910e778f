// Writing to indexed positions: scatter_, scatter_add_, index_add_, index_copy_, index_fill_, index_put_.
#pragma once
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include <sinter/dsl/apply.hpp>
#include <sinter/dsl/bind.hpp>
#include <sinter/dsl/indexing_methods.hpp>
#include <sinter/dsl/value.hpp>
#include <sinter/dsl/view.hpp>
#include <sinter/jit/lazy.hpp>
#include <sinter/jit/scatter.hpp>

namespace sinter::inline v1::detail {

/// Indices or values to write: a tensor, an expression that is evaluated on the way, or a number.
struct Source {
  jit::LazyRef node;
  TensorRef array;                 // null for an expression
  std::optional<Number> number{};  // if set, everything else is empty until it becomes an element
};

template <class E>
inline constexpr bool is_unknown = std::is_same_v<value_type_of<E>, Unknown>;

template <expression E>
Source source_of(const E& value) {
  if constexpr (requires { value.impl(); })
    return {jit::lazy(value.impl()), TensorRef::share(&value.impl())};
  else if constexpr (is_lazy<E>)
    return {value.node(), {}};
  else
    return {jit::lazy(bind(value)), {}};
}

template <class T>
inline constexpr bool may_index = std::is_same_v<T, AnyType> || std::is_same_v<T, Unknown>;
template <element T>
inline constexpr bool may_index<T> = can_index(dtype_of<T>);

/// Whether S, an expression or a number, may be written to elements of T.
template <class S, class T>
inline constexpr bool may_be_written = true;
template <expression S, class T>
inline constexpr bool may_be_written<S, T> =
    std::is_same_v<value_type_of<S>, T> || std::is_same_v<T, AnyType> || std::is_same_v<value_type_of<S>, Unknown>;
#define SINTER_NOT_WRITTEN "the source has another dtype: convert it with cast<T>(x)"

// Arguments of the methods below. They are checked at the user's call, so that the error message is one step deep;
// after a reported error nothing more is compiled.

/// The indices of a write to a tensor of type Self: any tensor or expression of integers.
template <class Self>
class IndexInto {
 public:
  template <expression I>
  IndexInto(const I& index) {
    static_assert(same_device<typename Self::device_type, device_of<I>>, SINTER_DIFFERENT_DEVICES);
    static_assert(may_index<value_type_of<I>>, SINTER_NO_INDICES);
    if constexpr (same_device<typename Self::device_type, device_of<I>> && !is_unknown<I>) source = source_of(index);
  }

  Source source;
};

/// The values to write: a tensor or an expression, or, if Numbers is true, a number.
template <class Self, bool Numbers>
class ValueInto {
 public:
  template <operand S>
    requires(Numbers || expression<S>)
  ValueInto(const S& value) {
    static_assert(same_device<typename Self::device_type, device_of<S>>, SINTER_DIFFERENT_DEVICES);
    static_assert(may_be_written<S, typename Self::value_type>, SINTER_NOT_WRITTEN);
    if constexpr (!expression<S>)
      source.number = Number(value);
    else if constexpr (same_device<typename Self::device_type, device_of<S>> && !is_unknown<S>)
      source = source_of(value);
  }

  Source source;
};

/// Each checks shapes and dtypes, and evaluates expressions. `what` is the method's name.
void scatter(const char* what, TensorImpl& x, std::int64_t axis, const Source& index, Source source, jit::Write how);
void write_slices(const char* what, TensorImpl& x, std::int64_t axis, const Source& index, const Source& source,
                  jit::Write how);
void fill_slices(TensorImpl& x, std::int64_t axis, const Source& index, Source value);
void index_put(TensorImpl& x, std::span<const Source> indices, Source values, jit::Write how,
               const char* what = "index_put_");

/// A tensor's indexed writes. Indices are integers of any dtype, counted from 0; only index_put_ accepts negative ones,
/// which count from the end. Values have the tensor's dtype or are numbers. Indices and values may be expressions, also
/// of the tensor itself: they are read before anything is written.
///
/// If several values go to one position, on the CPU the last in row-major order wins, and sums are added in that order.
/// On a GPU the order is unspecified: a different value may win each time, sums of floats may differ in their last
/// digits, and a complex128 result may combine the parts of two values.
///
/// They throw ShapeError, DeviceError, DTypeError, and IndexError for an axis out of range. An index out of range is an
/// IndexError on the CPU, and nothing is written; on a GPU that index writes nothing, and the next synchronization with
/// the GPU throws IndexError.
template <class Self>
class Scatters {
 public:
  /// For each element of `index`, which has the tensor's number of dims, writes the element of `source` at the same
  /// position to that position with `index` replacing the position along the axis. `source` may be larger than `index`;
  /// the excess is not read. `index` may be smaller than the tensor along the other axes.
  Self& scatter_(Index axis, const IndexInto<Self>& index, const ValueInto<Self, true>& source) {
    scatter("scatter_", x(), axis, index.source, source.source, jit::Write::Store);
    return self();
  }
  /// As scatter_, but adds to the old value. For bools: or.
  Self& scatter_add_(Index axis, const IndexInto<Self>& index, const ValueInto<Self, true>& source) {
    scatter("scatter_add_", x(), axis, index.source, source.source, jit::Write::Add);
    return self();
  }

  /// Adds slice i of `source` along the axis to the tensor's slice index[i]. `index` is 1-d.
  Self& index_add_(Index axis, const IndexInto<Self>& index, const ValueInto<Self, false>& source) {
    write_slices("index_add_", x(), axis, index.source, source.source, jit::Write::Add);
    return self();
  }
  /// Writes slice i of `source` along the axis to the tensor's slice index[i]. `index` is 1-d.
  Self& index_copy_(Index axis, const IndexInto<Self>& index, const ValueInto<Self, false>& source) {
    write_slices("index_copy_", x(), axis, index.source, source.source, jit::Write::Store);
    return self();
  }
  /// Writes a number or a 0-d tensor to the slices selected by a 1-d index.
  Self& index_fill_(Index axis, const IndexInto<Self>& index, const ValueInto<Self, true>& value) {
    fill_slices(x(), axis, index.source, value.source);
    return self();
  }

  /// x[i0, i1, ...] = values: the indices, one for each of the first axes, broadcast against each other; the values
  /// broadcast to that shape followed by the other axes' extents. `accumulate` adds instead.
  Self& index_put_(std::initializer_list<IndexInto<Self>> indices, const ValueInto<Self, true>& values,
                   bool accumulate = false) {
    std::vector<Source> sources;
    for (const IndexInto<Self>& i : indices) sources.push_back(i.source);
    index_put(x(), sources, values.source, accumulate ? jit::Write::Add : jit::Write::Store);
    return self();
  }

 private:
  Self& self() noexcept { return static_cast<Self&>(*this); }
  TensorImpl& x() { return self().impl(); }
};

}  // namespace sinter::inline v1::detail
