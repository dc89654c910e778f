#include "package_folders.hpp"

#include <mutex>
#include <utility>

#include "fork.hpp"

namespace sinter::inline v1::runtime {
namespace {

struct Folders {
  std::mutex mutex;
  std::vector<std::string> all;
};
/// Kernels may be compiled at the end of the process.
Folders& folders() {
  static constinit NoDestructor<Folders> all;
  return all.get();
}

}  // namespace

void set_package_folders(std::vector<std::string> all) {
  const std::lock_guard lock(folders().mutex);
  folders().all = std::move(all);
}

std::vector<std::string> package_folders() {
  const std::lock_guard lock(folders().mutex);
  return folders().all;
}

}  // namespace sinter::inline v1::runtime
