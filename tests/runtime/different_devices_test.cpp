#include <runtime/different_devices.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include <sinter/runtime/error.hpp>
#include <sinter/runtime/mesh.hpp>

using namespace sinter;

namespace {

using ::testing::EndsWith;

TEST(DifferentDevices, SaysWhichWhereAndWhatToDo) {
  const auto message = [](std::string_view otherwise) -> std::string {
    try {
      runtime::throw_different_devices(Device("cpu"), Device("cuda:1"), "in add(a, b), where\n    a: x", otherwise);
    } catch (const DeviceError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(message(""),
            "Expected all tensors to be on the same device, but found at least two devices, cpu and cuda:1!\n"
            "  in add(a, b), where\n"
            "    a: x\n"
            "  Move one of them first, with .to(\"cpu\") or .to(\"cuda:1\")");
  EXPECT_THAT(message("Stay at home"), EndsWith("a: x\n  Stay at home"));
}

TEST(DifferentDevices, SaysHowToMoveToAMeshAndBack) {
  const auto advice = [](Device one, Device other) -> std::string {
    try {
      runtime::throw_different_devices(one, other, "in add(a, b)", "");
    } catch (const DeviceError& error) {
      return error.what();
    }
  };
  const Mesh mesh({Device(), Device()}), larger({Device(), Device(), Device()});
  EXPECT_THAT(advice(mesh, Device()),
              EndsWith("\n  Move the tensor on cpu to the mesh: shard it with shard(x, mesh), or replicate it to every "
                       "rank with replicate(x, mesh). Or copy the other one to cpu, with gather(x, device)"));
  EXPECT_THAT(advice(mesh, larger),
              EndsWith("\n  Move one of them to the other's mesh, with shard(x, mesh) or replicate(x, mesh)"));
}

}  // namespace
