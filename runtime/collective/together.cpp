#include "together.hpp"

#include <xxhash.h>

#include <sinter/runtime/pieces.hpp>
#include "processes.hpp"

namespace sinter::inline v1::runtime {
namespace {

constinit thread_local int together_depth = 0;
constinit thread_local std::uint64_t outermost_program = 0;

}  // namespace

Together::Together(const Mesh& mesh, std::uint64_t program) noexcept
    : is_of_several_(is_of_several_processes(mesh)), tells_(is_of_several_ && together_depth == 0) {
  together_depth += is_of_several_;
  if (tells_) outermost_program = program;
}
Together::~Together() {
  together_depth -= is_of_several_;
  if (tells_) outermost_program = 0;
}

std::uint64_t program_together() noexcept { return outermost_program; }

std::uint64_t hash_of(const TensorImpl& t, std::uint64_t seed) noexcept {
  const std::int64_t axis = t.buffer && t.device.is_mesh() ? split_axis(t) : whole;
  const std::uint64_t extents = XXH3_64bits_withSeed(t.shape.begin(), t.shape.size() * sizeof *t.shape.begin(), seed);
  return XXH3_64bits_withSeed(&axis, sizeof axis, extents);
}

void Together::abandon(std::string_view why) const noexcept {
  if (tells_) Processes::get().abandon(why);  // which the mesh has started
}

}  // namespace sinter::inline v1::runtime
