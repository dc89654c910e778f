#include <sinter/runtime/error.hpp>
#include <sinter/runtime/fault.hpp>

#include <fmt/format.h>

#include <mutex>
#include <unordered_map>
#include <vector>

#include <sinter/runtime/fork.hpp>

namespace sinter::inline v1::runtime {
namespace {

struct Messages {
  std::mutex mutex;
  std::vector<std::string> all;
  std::unordered_map<std::string, std::uint32_t> codes;
};
constinit Immortal<Messages> messages;

}  // namespace

std::uint32_t fault_code(const std::string& message) {
  Messages& m = messages.get();
  const ForkSafeLock lock(m.mutex);
  const auto [known, is_new] = m.codes.try_emplace(message, static_cast<std::uint32_t>(m.all.size() + 1));
  if (is_new) m.all.push_back(message);
  return known->second;
}

void throw_fault(std::uint32_t code, const std::string& device) {
  Messages& m = messages.get();
  const ForkSafeLock lock(m.mutex);
  const bool known = code >= 1 && code <= m.all.size();
  throw Error(
      fmt::format("{}\n  found on {} when it was waited for", known ? m.all[code - 1] : "a fault in a kernel", device));
}

}  // namespace sinter::inline v1::runtime
