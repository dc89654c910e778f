// Meshes: which are equal, their ranks, and which rows each has.
#include <sinter/runtime/mesh.hpp>

#include <string>
#include <vector>

#include <sinter/runtime/communicator.hpp>
#include <sinter/runtime/error.hpp>
#include "gpus.hpp"

#include <gtest/gtest.h>

namespace sinter {
namespace {

template <class E, class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return {};
}

TEST(Mesh, OfTheSameDevicesIsTheSame) {
  const Mesh two({Device(0), Device(1)}), again({Device(0), Device(1)}), other({Device(1), Device(0)});
  EXPECT_EQ(two, again);
  EXPECT_EQ(Device(two), Device(again));
  EXPECT_NE(two, other);
  EXPECT_EQ(Mesh::of(two), two);
  EXPECT_TRUE(Device(two).is_mesh());
  EXPECT_FALSE(Device(two).is_cuda() || Device(two).is_cpu());
  EXPECT_EQ(&two.communicator(), &again.communicator());
}

TEST(Mesh, HasEveryGpu) {
  const Mesh all;
  EXPECT_EQ(all.size(), device_count());
  EXPECT_EQ(all.device(1), Device(1));
  EXPECT_EQ(Mesh::world(), all) << "without mpirun";
}

TEST(Mesh, GivesEachRowToOneRank) {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    const Mesh mesh(std::vector<Device>(static_cast<std::size_t>(ranks)));
    for (std::int64_t rows = 0; rows <= 30; ++rows) {
      std::int64_t next = 0;
      for (int p = 0; p < ranks; ++p) {
        EXPECT_EQ(mesh.first_row(rows, p), next);
        EXPECT_LE(mesh.rows(rows, p), (rows + ranks - 1) / ranks);
        EXPECT_GE(mesh.rows(rows, p), 0);
        next += mesh.rows(rows, p);
      }
      EXPECT_EQ(next, rows);
      EXPECT_EQ(mesh.rows(rows, 0), (rows + ranks - 1) / ranks);
    }
  }
  const Mesh two({Device(), Device()});
  EXPECT_EQ(two.rows(INT64_MAX, 0) + two.rows(INT64_MAX, 1), INT64_MAX);
}

TEST(Mesh, Names) {
  EXPECT_EQ(to_string(Mesh({Device(0), Device()})), "mesh(cuda:0, cpu)");
  const std::string many = to_string(Mesh(std::vector<Device>(64)));
  EXPECT_LT(many.size(), 80u);
  EXPECT_NE(many.find("64 in total"), std::string::npos);
}

TEST(Mesh, ErrorsTeach) {
  EXPECT_NE(message_of<DeviceError>([] { Mesh(std::vector<Device>{}); }).find("at least one device"),
            std::string::npos);
  EXPECT_NE(message_of<DeviceError>([] { Mesh({Device(Mesh({Device()}))}); }).find("is a mesh"), std::string::npos);
  EXPECT_NE(message_of<DeviceError>([] { Mesh({Device(99)}); }).find("invalid device ordinal"), std::string::npos);
  EXPECT_NE(message_of<DeviceError>([] { Mesh::of(Device(0)); }).find("single device"), std::string::npos);
  EXPECT_NE(message_of<IndexError>([] { (void)Mesh({Device()}).device(1); }).find("0 to 0"), std::string::npos);
  EXPECT_NE(message_of<IndexError>([] { (void)Mesh({Device()}).device(-1); }), "");
}

}  // namespace
}  // namespace sinter
