// What all processes of a mesh do together: an error that one of them has is told to the others.
#pragma once
#include <cstdint>
#include <exception>
#include <string_view>
#include <utility>

#include <sinter/runtime/mesh.hpp>
#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::runtime {

/// The outermost one of a thread tells. `program` is a hash of what is computed, which must be the same in every
/// process: communicators compare it in each call.
class Together {
 public:
  Together(const Mesh& mesh, std::uint64_t program) noexcept;
  Together(const Together&) = delete;
  Together& operator=(const Together&) = delete;
  ~Together();
  /// That this process will not make the calls in which the others wait for it.
  void abandon(std::string_view why) const noexcept;

 private:
  bool is_of_several_, tells_;
};

/// The hash of this thread's outermost one; 0 outside.
std::uint64_t program_together() noexcept;

inline bool is_of_several_processes(const Mesh& mesh) noexcept { return mesh.local() != mesh.size(); }

/// Of a tensor's shape and of the axis that it is in pieces along, for such a program.
std::uint64_t hash_of(const TensorImpl& t, std::uint64_t seed = 0) noexcept;

/// f(), whose error is thrown here, and the other processes of the mesh hear of it at once: whoever waits for this one
/// in a call throws an Error with the rank and the text.
template <class F>
decltype(auto) together(const Mesh& mesh, F f, std::uint64_t program = 0) {
  const Together scope(mesh, program);
  try {
    return f();
  } catch (const std::exception& e) {
    scope.abandon(e.what());
    throw;
  } catch (...) {
    scope.abandon("an exception of another type than std::exception");
    throw;
  }
}

}  // namespace sinter::inline v1::runtime
