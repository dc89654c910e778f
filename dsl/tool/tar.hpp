// Tar files (POSIX ustar) of small ordinary files, as far as packed kernels need them.
#pragma once
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace sinter::tool {

/// Writes beside the file and renames at the end, so that it is there whole or not at all.
class TarWriter {
 public:
  /// Throws Error where the file cannot be made.
  explicit TarWriter(std::string path);
  ~TarWriter();
  TarWriter(const TarWriter&) = delete;
  TarWriter& operator=(const TarWriter&) = delete;

  /// A name of less than 100 bytes.
  void add(std::string_view name, std::string_view bytes);
  /// Throws Error where not everything was written.
  void finish();

 private:
  std::string path_, temporary_;
  std::ofstream out_;
};

struct TarFile {
  std::string name;
  std::string bytes;
};

class TarReader {
 public:
  /// Throws Error where the file cannot be read.
  explicit TarReader(const std::string& path);
  /// The next ordinary file; nothing at the end. Throws FormatError for what is no tar file, or one that was cut.
  std::optional<TarFile> next();

 private:
  [[noreturn]] void refuse(std::string_view why) const;

  std::string path_;
  std::ifstream in_;
  std::uint64_t left_ = 0;  // bytes
};

}  // namespace sinter::tool
