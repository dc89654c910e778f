// Writing to files, where the system's limits are errors like any other.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace sinter::inline v1::runtime {

/// One call of write(2), which gives EFBIG for a file past the limit of the process (`ulimit -f`) and raises no
/// SIGXFSZ, which would end it. What the program does with that signal stays as it is.
ssize_t write_some(int file, std::span<const std::byte> bytes) noexcept;

/// All of it, behind what was written or at `offset`. 0, or the error.
int write_all(int file, std::span<const std::byte> bytes) noexcept;
int write_all(int file, std::string_view text) noexcept;
int write_all_at(int file, std::span<const std::byte> bytes, off_t offset) noexcept;

/// The file with this content, made or replaced in place. 0, or the error.
int write_file(const std::string& path, std::string_view content) noexcept;

/// What an error of writing says to users: of EFBIG also the limit.
std::string write_problem(int error);

/// ", under a limit of 4096 bytes for a file (ulimit -f)": for other programs' errors. Empty where there is none.
std::string under_file_limit();

}  // namespace sinter::inline v1::runtime
