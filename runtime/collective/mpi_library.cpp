#include "mpi_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string_view>
#include <vector>

#include <sinter/runtime/error.hpp>
#include "../environment.hpp"
#include "../fork.hpp"
#include "../symbol.hpp"
#include "../text.hpp"

namespace sinter::inline v1::runtime::mpi {
namespace {

std::vector<std::string> candidates() {
  if (std::string named = environment("SINTER_MPI"); !named.empty()) return {std::move(named)};
  return {"libmpi.so.40", "libmpi.so"};
}

/// The library's version text, up to the first comma or line break: "Open MPI v4.1.4".
std::string version_of(const Library& table) {
  char text[8192] = {};  // MPICH's version text is longer than Open MPI's
  int length = 0;
  if (table.MPI_Get_library_version(text, &length) != success) return "unknown";
  const std::string_view all(text);
  std::string first(all.substr(0, all.find_first_of(",\n")));
  for (char& c : first)
    if (c == '\t') c = ' ';
  return first;
}

/// Why the library cannot be used; empty if it can. Other implementations have the same functions but another ABI:
/// their handles are integers, Open MPI's are pointers.
std::string resolve(void* opened, Library& table) {
  if (!find_symbol(opened, "MPI_Get_library_version", table.MPI_Get_library_version)) return "it is not an MPI library";
  table.version = version_of(table);
  if (!find_symbol(opened, "ompi_mpi_comm_world", table.world))
    return fmt::format("it is {}, but Sinter supports only Open MPI's ABI", quote(table.version));
  bool complete = find_symbol(opened, "ompi_mpi_byte", table.byte) &&
                  find_symbol(opened, "ompi_mpi_int64_t", table.int64) &&
                  find_symbol(opened, "ompi_mpi_op_min", table.minimum) &&
                  find_symbol(opened, "ompi_mpi_errors_return", table.errors_return);
#define SINTER_MPI_RESOLVE(name, ...) complete &= find_symbol(opened, #name, table.name);
  SINTER_MPI_FUNCTIONS(SINTER_MPI_RESOLVE)
#undef SINTER_MPI_RESOLVE
  return complete ? "" : fmt::format("it is {}, which lacks functions of MPI 3.0", quote(table.version));
}

Library open_library() {
  std::string problems;
  const NoFork no_fork;  // a child cannot use the loader if another thread was in it
  for (const std::string& candidate : candidates()) {
    Library table;
    // RTLD_GLOBAL: Open MPI's components, which it loads itself, expect its symbols there.
    void* const opened = dlopen(candidate.c_str(), RTLD_NOW | RTLD_GLOBAL);
    const char* const why = opened ? nullptr : dlerror();
    const std::string problem = opened ? resolve(opened, table) : std::string(why ? why : "it cannot be opened");
    if (problem.empty()) {
      table.path = candidate;
      return table;
    }
    problems += fmt::format("\n  {}: {}", candidate, problem);
    if (opened) dlclose(opened);
  }
  throw DeviceError(
      "MPI, through which the processes of a program communicate, was not found." + problems +
      "\nInstall Open MPI (Debian: apt install openmpi-bin), or set SINTER_MPI to its library, and start the program "
      "with the mpirun of that installation");
}

}  // namespace

const Library& library() {
  static constinit NoDestructor<const Library> opened;
  return opened.get([] { return new Library(open_library()); });
}

std::string describe(const Library& library, int result) {
  char text[max_text + 1] = {};
  int length = 0;
  library.MPI_Error_string(result, text, &length);
  return fmt::format("{} ({})", text, result);
}

}  // namespace sinter::inline v1::runtime::mpi
