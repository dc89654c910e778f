#include "kernel_cache.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <unordered_map>

#include "stats.hpp"

namespace sinter::inline v1::jit {
namespace {

struct Slot {
  Slot(std::string t, std::string x) : tag(std::move(t)), text(std::move(x)) {}
  std::string tag, text;  // the whole key
  std::mutex compiling;
  std::string binary;  // empty until compiled
};

struct Cache {
  std::mutex mutex;
  std::unordered_multimap<XXH64_hash_t, Slot*> found;
  std::deque<Slot> slots;
};

/// Never destroyed: kernels may run while the process ends.
Cache& cache() {
  static Cache& c = *new Cache;
  return c;
}

Slot& slot_for(const std::string& tag, const std::string& text) {
  const XXH64_hash_t hash = XXH3_64bits_withSeed(text.data(), text.size(), XXH3_64bits(tag.data(), tag.size()));
  Cache& c = cache();
  const std::lock_guard lock(c.mutex);
  const auto [first, last] = c.found.equal_range(hash);
  for (auto i = first; i != last; ++i)
    if (i->second->tag == tag && i->second->text == text) return *i->second;
  Slot& slot = c.slots.emplace_back(tag, text);
  c.found.emplace(hash, &slot);
  return slot;
}

/// Best effort: a folder that cannot be written is no reason to fail.
void dump(const runtime::KernelSource& source) {
  const char* folder = std::getenv("SINTER_DUMP_DIR");
  if (!folder || !*folder) return;
  const XXH64_hash_t hash = XXH3_64bits(source.text.data(), source.text.size());
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  std::ofstream(std::filesystem::path(folder) / fmt::format("{}_{:016x}.cu", source.name, hash)) << source.text;
}

}  // namespace

const std::string& compiled(const runtime::KernelSource& source, runtime::GpuBackend& device) {
  Slot& slot = slot_for(device.binary_tag(), source.text);
  const std::lock_guard lock(slot.compiling);
  if (slot.binary.empty()) {
    dump(source);
    slot.binary = device.compile(source);
    count_compile();
  }
  return slot.binary;
}

}  // namespace sinter::inline v1::jit
