// Folders for the host compiler's input and output.
#pragma once
#include <string>

namespace sinter::inline v1::runtime {

/// A new folder in TMPDIR, else /tmp, removed with all its content. The first one of a process removes folders
/// abandoned by others.
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
  int in_use_ = -1;  // the folder, locked during this object's lifetime
};

/// Removes folders of this kind in `base` that killed processes have left: owned by this user, older than a day, not
/// locked by any process. Does not follow symbolic links and does not touch nested folders.
void remove_abandoned(const std::string& base) noexcept;

}  // namespace sinter::inline v1::runtime
