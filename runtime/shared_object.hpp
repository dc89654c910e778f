// Shared objects that are loaded from memory.
#pragma once
#include <string>

namespace sinter::inline v1::runtime {

class SharedObject {
 public:
  /// `name` is for messages. Throws BinaryRefused if the loader does not take the binary, CudaError if it lacks
  /// resources.
  SharedObject(const std::string& binary, const std::string& name);
  ~SharedObject();
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;

  /// Null if there is no such symbol.
  void* find(const char* symbol) const noexcept;

 private:
  void* handle_ = nullptr;
};

}  // namespace sinter::inline v1::runtime
