// Writing to files, with the system's limits reported as ordinary errors.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace sinter::inline v1::runtime {

/// One call of write(2). For a file beyond the process's size limit (`ulimit -f`) it returns EFBIG without the SIGXFSZ
/// that would end the process. The program's handling of that signal is not changed.
ssize_t write_some(int file, std::span<const std::byte> bytes) noexcept;

/// Writes all bytes, appended or at `offset`. Returns 0 or the error.
int write_all(int file, std::span<const std::byte> bytes) noexcept;
int write_all(int file, std::string_view text) noexcept;
int write_all_at(int file, std::span<const std::byte> bytes, off_t offset) noexcept;

/// Creates the file with this content, or replaces its content in place. Returns 0 or the error.
int write_file(const std::string& path, std::string_view content) noexcept;

/// The message for a write error; for EFBIG it includes the limit.
std::string write_problem(int error);

/// ", under a limit of 4096 bytes for a file (ulimit -f)": for other programs' errors. Empty if there is no limit.
std::string under_file_limit();

}  // namespace sinter::inline v1::runtime
