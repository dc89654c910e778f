// The devices that a test of all of them runs on.
#pragma once
#include <vector>

#include <sinter/runtime/device.hpp>

namespace sinter::test {

inline std::vector<Device> all_devices() {
  std::vector<Device> all = try_all_gpus();
  if (all[0].is_cuda()) all.emplace_back(cpu);
  return all;
}

}  // namespace sinter::test
