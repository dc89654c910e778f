#include <sinter/runtime/error.hpp>
#include <sinter/runtime/fault.hpp>

#include <fmt/format.h>

#include <mutex>
#include <unordered_map>
#include <vector>

#include "fork.hpp"

namespace sinter::inline v1::runtime {
namespace {

struct Messages {
  std::mutex mutex;
  struct Message {
    std::string text;
    bool of_index;
  };
  std::vector<Message> all;
  std::unordered_map<std::string, std::uint32_t> codes;
};
constinit NoDestructor<Messages> messages;

}  // namespace

std::uint32_t fault_code(const std::string& message, bool of_index) {
  Messages& m = messages.get();
  const ForkSafeLock lock(m.mutex);
  const auto [known, is_new] = m.codes.try_emplace(message, static_cast<std::uint32_t>(m.all.size() + 1));
  if (is_new) m.all.push_back({message, of_index});
  return known->second;
}

void throw_fault(std::uint32_t code, const std::string& device) {
  Messages& m = messages.get();
  const ForkSafeLock lock(m.mutex);
  const bool known = code >= 1 && code <= m.all.size();
  const std::string text = fmt::format("{}\n  found on {} when the host synchronized with it",
                                       known ? m.all[code - 1].text : "a fault in a kernel", device);
  if (known && m.all[code - 1].of_index) throw IndexError(text);
  throw Error(text);
}

}  // namespace sinter::inline v1::runtime
