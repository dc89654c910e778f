#include "together.hpp"

#include "processes.hpp"

namespace sinter::inline v1::runtime {
namespace {

constinit thread_local int together_depth = 0;

}  // namespace

Together::Together(const Mesh& mesh) noexcept
    : is_of_several_(mesh.local_size() != mesh.size()), reports_(is_of_several_ && together_depth == 0) {
  together_depth += is_of_several_;
}
Together::~Together() { together_depth -= is_of_several_; }

void Together::abandon(std::string_view why) const noexcept {
  if (reports_) Processes::get().abandon(why);  // already started by the mesh
}

}  // namespace sinter::inline v1::runtime
