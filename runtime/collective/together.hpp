// Work that all processes of a mesh do together: an error in one is reported to the others.
#pragma once
#include <exception>
#include <string_view>
#include <utility>

#include <sinter/runtime/mesh.hpp>

namespace sinter::inline v1::runtime {

/// Only the outermost one of a thread reports.
class Together {
 public:
  explicit Together(const Mesh& mesh) noexcept;
  Together(const Together&) = delete;
  Together& operator=(const Together&) = delete;
  ~Together();
  /// Reports that this process will not make the calls in which the others wait for it.
  void abandon(std::string_view why) const noexcept;

 private:
  bool is_of_several_, reports_;
};

/// Calls f(). Its error is thrown here and reported at once to the other processes of the mesh: waiting for this one in
/// a call throws an Error with the process and the message.
template <class F>
decltype(auto) together(const Mesh& mesh, F f) {
  const Together scope(mesh);
  try {
    return f();
  } catch (const std::exception& e) {
    scope.abandon(e.what());
    throw;
  } catch (...) {
    scope.abandon("an exception that is not a std::exception");
    throw;
  }
}

}  // namespace sinter::inline v1::runtime
