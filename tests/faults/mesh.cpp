// Tensors on two devices.
#include "scenario.hpp"

namespace sinter::faults {
namespace {

namespace sn = sinter;

void on_mesh(const sn::Mesh& mesh) {
  const auto x = sn::tensor({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
  const sn::Tensor s = sn::shard(x, mesh);
  expect_values(sn::gather(sn::Tensor(s * 2 + 1)), {3, 5, 7, 9, 11, 13}, "elements sharded");
  expect_values(sn::gather(s.sum(0)), {9, 12}, "a sum along what is sharded");
  expect_values(sn::gather(s.amax(0)), {5, 6}, "a maximum along what is sharded");
  const sn::Tensor w = sn::replicate(sn::tensor({{1.f}, {10.f}}), mesh);
  expect_values(sn::gather(sn::matmul(s, w)), {21, 43, 65}, "a product of matrices sharded");
  expect_values(sn::gather(sn::shard(s, mesh, 1)), {1, 2, 3, 4, 5, 6}, "other shards");
}
void gpus() { on_mesh(sn::Mesh({0, 1})); }
void cpus() { on_mesh(sn::Mesh({sn::Device(), sn::Device()})); }

}  // namespace

std::vector<Scenario> mesh_scenarios() {
  return {{"mesh-cpus", cpus}, {"mesh-gpus", gpus}, {"mesh-gpus-again", gpus, gpus}};
}

}  // namespace sinter::faults
