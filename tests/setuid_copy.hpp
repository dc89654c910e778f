// The same tests in a program with more rights than the user who starts it.
#pragma once
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "scratch.hpp"
#include "setup.hpp"

namespace sinter::testing {

/// As test::this_program(), in a copy in this folder that belongs to another user and is setuid; empty where this
/// process may not make one.
inline std::string setuid_copy(const ScratchFolder& folder) {
  const std::string copy = folder.file("program"), command = test::this_program();
  if (!command.starts_with('\'')) return "";  // an emulator runs it, which has no more rights
  std::filesystem::copy_file("/proc/self/exe", copy);
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  struct statvfs where{};
  if (::statvfs(copy.c_str(), &where) != 0 || (where.f_flag & ST_NOSUID)) return "";
  if (::chown(copy.c_str(), 1, ::getegid()) != 0 || ::chmod(copy.c_str(), 04755) != 0) return "";
  return "'" + copy + "'" + command.substr(command.rfind(' '));
}

}  // namespace sinter::testing
