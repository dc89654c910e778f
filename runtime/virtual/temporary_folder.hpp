// Folders for what the host's compiler reads and writes.
#pragma once
#include <string>

namespace sinter::inline v1::runtime::vgpu {

/// A new folder in TMPDIR, else /tmp, that is removed with all that is in it. The first one of a process removes those
/// that others left there.
class TemporaryFolder {
 public:
  /// Throws Error with the reason.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const noexcept { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
  int in_use_ = -1;  // the folder, locked while this lives
};

/// Removes the folders of this kind in `base` that killed processes left: this user's, older than a day, that no
/// process holds. Follows no symbolic links, and leaves folders within them alone.
void remove_abandoned(const std::string& base) noexcept;

}  // namespace sinter::inline v1::runtime::vgpu
