#include "library_search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "../environment.hpp"
#include "../package_folders.hpp"

namespace sinter::inline v1::runtime {
namespace {

/// The matching files, newest version first; links to the same file are kept.
std::vector<std::string> matches(const std::string& pattern) {
  std::vector<std::string> found;
  glob_t result{};
  if (glob(pattern.c_str(), 0, nullptr, &result) == 0) found.assign(result.gl_pathv, result.gl_pathv + result.gl_pathc);
  globfree(&result);
  std::ranges::sort(found,
                    [](const std::string& a, const std::string& b) { return strverscmp(a.c_str(), b.c_str()) > 0; });
  return found;
}

bool is_folder(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

std::vector<std::string> toolkit_folders() {
  std::vector<std::string> all;
  for (const std::string& toolkit : {environment("CUDA_HOME"), environment("CUDA_PATH"), std::string("/usr/local/cuda"),
                                     std::string("/usr/local/cuda-*"), std::string("/opt/cuda")})
    if (!toolkit.empty())
      for (const char* lib : {"/lib64", "/lib", "/targets/*/lib"}) all.push_back(toolkit + lib);
  for (const std::string& packages : package_folders()) all.push_back(packages + "/nvidia/*/lib");
  for (const std::string& prefix :
       {environment("VIRTUAL_ENV", "/lib"), environment("CONDA_PREFIX", "/lib"), environment("HOME", "/.local/lib"),
        std::string("/usr/local/lib"), std::string("/usr/lib")})
    if (!prefix.empty())
      for (const char* packages : {"/python3*/site-packages", "/python3*/dist-packages"})
        all.push_back(prefix + packages + "/nvidia/*/lib");
  if (const std::string conda = environment("CONDA_PREFIX", "/lib"); !conda.empty()) all.push_back(conda);
  return all;
}

std::vector<std::string> library_candidates(const char* variable, std::string_view stem,
                                            std::span<const char* const> sonames) {
  const auto files_in = [&](const std::string& folder) { return matches(fmt::format("{}/{}*", folder, stem)); };
  if (const std::string named = environment(variable); !named.empty()) {
    const std::vector<std::string> inside = files_in(named);
    return is_folder(named) && !inside.empty() ? inside : std::vector{named};
  }
  std::vector<std::string> all(sonames.begin(), sonames.end());
  for (const std::string& folder : toolkit_folders())
    for (std::string& file : files_in(folder)) all.push_back(std::move(file));
  return all;
}

std::string searched_places(const char* variable) {
  const std::string named = environment(variable);
  return named.empty() ? fmt::format("the loader's path, {}", fmt::join(toolkit_folders(), ", ")) : named;
}

}  // namespace sinter::inline v1::runtime
