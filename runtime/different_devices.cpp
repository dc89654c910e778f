#include "different_devices.hpp"

#include <fmt/format.h>

#include <sinter/runtime/error.hpp>
#include <sinter/runtime/shards.hpp>

namespace sinter::inline v1::runtime {

void throw_different_devices(Device one, Device other, std::string_view where, std::string_view fallback) {
  const std::string a = to_string(one), b = to_string(other);
  const std::string move =
      one.is_mesh() || other.is_mesh()
          ? "Move the tensor on a single device to the mesh: shard it with shard(x, mesh), or replicate it to "
            "every rank with replicate(x, mesh)"
          : fmt::format("Move one of them first, with .to(\"{}\") or .to(\"{}\")", a, b);
  throw DeviceError(fmt::format(
      "Expected all tensors to be on the same device, but found at least two devices, {} and {}!\n  {}\n  {}", a, b,
      where, fallback.empty() ? move : fallback));
}

void refuse_mesh(std::string_view what, const TensorImpl& t) {
  if (!t.device.is_mesh()) return;
  throw DeviceError(fmt::format(
      "{} of {}: this works only on a single device. Gather the tensor with gather(x, device), or use one shard, "
      "x.shard(i)",
      what, describe_placed(t)));
}

}  // namespace sinter::inline v1::runtime
