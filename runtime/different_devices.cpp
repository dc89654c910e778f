#include "different_devices.hpp"

#include <fmt/format.h>

#include <sinter/runtime/error.hpp>
#include <sinter/runtime/shards.hpp>

namespace sinter::inline v1::runtime {

namespace {

std::string how_to_move(Device one, Device other) {
  if (one.is_mesh() && other.is_mesh())
    return "Move one of them to the other's mesh, with shard(x, mesh) or replicate(x, mesh)";
  if (one.is_mesh() || other.is_mesh())
    return fmt::format(
        "Move the tensor on {0} to the mesh: shard it with shard(x, mesh), or replicate it to every rank with "
        "replicate(x, mesh). Or copy the other one to {0}, with gather(x, device)",
        to_string(one.is_mesh() ? other : one));
  return fmt::format("Move one of them first, with .to(\"{}\") or .to(\"{}\")", to_string(one), to_string(other));
}

}  // namespace

void throw_different_devices(Device one, Device other, std::string_view where, std::string_view fallback) {
  const std::string a = to_string(one), b = to_string(other);
  throw DeviceError(fmt::format(
      "Expected all tensors to be on the same device, but found at least two devices, {} and {}!\n  {}\n  {}", a, b,
      where, fallback.empty() ? how_to_move(one, other) : fallback));
}

void refuse_mesh(std::string_view what, const TensorImpl& t) {
  if (!t.device.is_mesh()) return;
  throw DeviceError(fmt::format(
      "{} of {}: this works only on a single device. Gather the tensor with gather(x, device), or use one shard, "
      "x.shard(i)",
      what, describe_placed(t)));
}

}  // namespace sinter::inline v1::runtime
