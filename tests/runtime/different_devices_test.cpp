#include <runtime/different_devices.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include <sinter/runtime/error.hpp>

using namespace sinter;

namespace {

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
  EXPECT_THAT(message("Stay at home"), ::testing::EndsWith("a: x\n  Stay at home"));
}

}  // namespace
