#include "nvrtc_identity.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <memory>
#include <string_view>

namespace sinter::inline v1::runtime {
namespace {

struct CloseLibrary {
  void operator()(void* library) const { dlclose(library); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

/// The shared object or program that contains this code, whose search path dlopen uses.
Library own_library() {
  Dl_info self{};
  void* library = nullptr;
  if (dladdr(reinterpret_cast<void*>(&own_library), &self)) library = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  return Library(library ? library : dlopen(nullptr, RTLD_LAZY));
}

/// The folders that the loader searches: run paths, LD_LIBRARY_PATH, its defaults.
std::vector<std::string> loader_folders() {
  const Library self = own_library();
  Dl_serinfo size{};
  if (!self || dlinfo(self.get(), RTLD_DI_SERINFOSIZE, &size) != 0) return {};
  std::vector<std::max_align_t> memory(size.dls_size / sizeof(std::max_align_t) + 1);
  auto* list = reinterpret_cast<Dl_serinfo*>(memory.data());
  list->dls_size = size.dls_size;
  list->dls_cnt = size.dls_cnt;
  if (dlinfo(self.get(), RTLD_DI_SERINFO, list) != 0) return {};
  std::vector<std::string> folders;
  const Dl_serpath* path = list->dls_serpath;
  for (unsigned i = 0; i < list->dls_cnt; ++i) folders.emplace_back(path[i].dls_name);
  return folders;
}

/// NVRTC's files in the loader's cache. Its strings are zero-terminated, whatever the format around them.
std::vector<std::string> files_in_loader_cache() {
  std::ifstream in("/etc/ld.so.cache", std::ios::binary);
  const std::string cache(std::istreambuf_iterator<char>(in), {});
  std::vector<std::string> files;
  for (std::size_t at = cache.find("/libnvrtc.so"); at != std::string::npos; at = cache.find("/libnvrtc.so", at + 1)) {
    const std::size_t before = cache.rfind('\0', at);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    files.push_back(cache.substr(begin, cache.find('\0', at) - begin));
  }
  return files;
}

/// Appends a file to the description if it exists.
void describe(std::string& text, const std::string& file) {
  struct stat s{};
  if (stat(file.c_str(), &s) != 0) return;
  text += fmt::format("{} {} {} {}.{:09}\n", file, s.st_ino, s.st_size, s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
}

/// A library that the process has already loaded takes precedence, so it determines the identity.
void describe_loaded(std::string& text, const std::string& candidate) {
  const Library loaded(dlopen(candidate.c_str(), RTLD_LAZY | RTLD_NOLOAD));
  link_map* map = nullptr;
  if (!loaded || dlinfo(loaded.get(), RTLD_DI_LINKMAP, &map) != 0) return;
  text += "loaded ";
  describe(text, map->l_name);
}

}  // namespace

std::string nvrtc_identity(const std::vector<std::string>& candidates) {
  std::string text;
  for (const std::string& candidate : candidates) describe_loaded(text, candidate);
  bool asks_loader = false;
  for (const std::string& candidate : candidates) {
    if (candidate.find('/') != std::string::npos) {
      describe(text, candidate);
      continue;
    }
    asks_loader = true;
    for (const std::string& folder : loader_folders()) describe(text, fmt::format("{}/{}", folder, candidate));
  }
  if (asks_loader)
    for (const std::string& file : files_in_loader_cache()) describe(text, file);
  if (text.empty()) return "none";
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace sinter::inline v1::runtime
