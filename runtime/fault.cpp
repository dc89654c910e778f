#include <sinter/runtime/error.hpp>
#include <sinter/runtime/fault.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <vector>

namespace sinter::inline v1::runtime {
namespace {

struct Messages {
  std::mutex mutex;
  std::vector<std::string> all;
};
Messages& messages() {
  static Messages& m = *new Messages;  // outlives what evaluates late
  return m;
}

}  // namespace

std::uint32_t fault_code(const std::string& message) {
  Messages& m = messages();
  const std::lock_guard lock(m.mutex);
  const auto known = std::ranges::find(m.all, message);
  if (known == m.all.end()) {
    m.all.push_back(message);
    return static_cast<std::uint32_t>(m.all.size());
  }
  return static_cast<std::uint32_t>(known - m.all.begin()) + 1;
}

void throw_fault(std::uint32_t code, const std::string& device) {
  Messages& m = messages();
  const std::lock_guard lock(m.mutex);
  const bool known = code >= 1 && code <= m.all.size();
  throw Error(
      fmt::format("{}\n  found on {} when it was waited for", known ? m.all[code - 1] : "a fault in a kernel", device));
}

}  // namespace sinter::inline v1::runtime
