// Messages between a mesh's ranks, counted.
#pragma once
#include <sinter/dsl/sharded.hpp>
#include <sinter/runtime/communicator.hpp>

#include <cstdint>
#include <utility>

namespace sinter_tests {

namespace sn = sinter;

using Traffic = std::pair<std::uint64_t, std::uint64_t>;  // messages, bytes
/// What evaluate() sends.
template <class F>
Traffic sent(const sn::Mesh& mesh, F evaluate) {
  const auto before = mesh.communicator().traffic();
  evaluate();
  const auto after = mesh.communicator().traffic();
  return {after.messages - before.messages, after.bytes - before.bytes};
}

}  // namespace sinter_tests
