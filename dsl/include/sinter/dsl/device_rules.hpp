// Which device types may be mixed in one expression, and the device type of the result.
#pragma once
#include <type_traits>

#include <sinter/runtime/device.hpp>
#include <sinter/runtime/mesh.hpp>

namespace sinter::inline v1 {

namespace detail {

struct NoDevice {};     // of C++ scalars: they work on any device
struct ErrorDevice {};  // of an expression whose error has already been reported

/// The device type of two operands together: the more specific one, or ErrorDevice.
template <class L, class R>
struct CommonDevice {
  using type = ErrorDevice;
};
template <class D>
struct CommonDevice<D, D> {
  using type = D;
};
template <class D>
  requires(!std::is_same_v<D, NoDevice>)
struct CommonDevice<NoDevice, D> {
  using type = D;
};
template <class D>
  requires(!std::is_same_v<D, NoDevice>)
struct CommonDevice<D, NoDevice> {
  using type = D;
};
template <class D>
  requires(!std::is_same_v<D, NoDevice> && !std::is_same_v<D, AnyDevice>)
struct CommonDevice<AnyDevice, D> {
  using type = D;
};
template <class D>
  requires(!std::is_same_v<D, NoDevice> && !std::is_same_v<D, AnyDevice>)
struct CommonDevice<D, AnyDevice> {
  using type = D;
};
template <int I>
  requires(I != any_index)
struct CommonDevice<Cuda<I>, Cuda<>> {
  using type = Cuda<I>;
};
template <int I>
  requires(I != any_index)
struct CommonDevice<Cuda<>, Cuda<I>> {
  using type = Cuda<I>;
};

template <class L, class R>
using common_device = typename CommonDevice<L, R>::type;
template <class... D>
struct CommonDeviceOf {
  using type = NoDevice;
};
template <class D>
struct CommonDeviceOf<D> {
  using type = D;
};
template <class L, class R, class... Rest>
struct CommonDeviceOf<L, R, Rest...> : CommonDeviceOf<common_device<L, R>, Rest...> {};

/// Both devices are known and differ: the only error of the compile-time device check.
template <class L, class R>
concept different_devices = std::is_same_v<common_device<L, R>, ErrorDevice> && !std::is_same_v<L, ErrorDevice> &&
                            !std::is_same_v<R, ErrorDevice>;

// Checked at the user's call (each operator, Function, the methods), so that the error message is one step deep.
#define SINTER_DIFFERENT_DEVICES                                                                                  \
  "the operands are on different devices: move one with .to(device), .cuda() or .cpu(); to a mesh with shard(x, " \
  "mesh) "                                                                                                        \
  "or replicate(x, mesh)"

/// Whether every tensor of device type From is also one of To.
template <class From, class To>
inline constexpr bool widens = std::is_same_v<From, To> || std::is_same_v<To, AnyDevice>;
template <int I>
inline constexpr bool widens<Cuda<I>, Cuda<>> = true;

/// The device type of a device argument: for a tag or a Mesh its own type, for an ordinal Cuda<>, for a name or a
/// Device AnyDevice.
template <class Argument>
struct DeviceTypeOf {
  using type = AnyDevice;
};
template <>
struct DeviceTypeOf<Cpu> {
  using type = Cpu;
};
template <int I>
struct DeviceTypeOf<Cuda<I>> {
  using type = Cuda<I>;
};
template <>
struct DeviceTypeOf<int> {
  using type = Cuda<>;
};
template <>
struct DeviceTypeOf<Mesh> {
  using type = Mesh;
};

}  // namespace detail

/// A tag, a Device, its name, or a GPU's ordinal.
template <class D>
concept device_argument = std::is_convertible_v<D, Device> && !std::is_same_v<std::decay_t<D>, bool>;

/// The device type of tensors made on `D`.
template <device_argument D>
using device_type_of = typename detail::DeviceTypeOf<std::decay_t<D>>::type;

namespace detail {

/// The device on which a factory creates its result. A bare number after a shape is usually meant as part of the shape.
template <device_argument D>
Device made_on(const D& device) {
  static_assert(!std::is_integral_v<D>,
                "a shape is written in braces: ones({2, 3}); a GPU by its number is sn::Device(1)");
  return Device(device);
}

}  // namespace detail

}  // namespace sinter::inline v1
