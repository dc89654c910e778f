#include "side_streams.hpp"

#include <algorithm>

#include <sinter/runtime/backend.hpp>
#include "streams.hpp"

namespace sinter::inline v1::runtime {

SideStreams::SideStreams(const Mesh& mesh) {
  for (int i = 0; i < mesh.local_size(); ++i) {
    Streams* const streams = backend(mesh.device(mesh.first_local_rank() + i)).streams();
    if (!streams) continue;
    StreamRef before = StreamRef::share(&streams->current());
    const auto is_current = [&](const SideStream& s) { return s.current.stream == before; };
    if (std::ranges::none_of(streams_, is_current) && !streams->is_capturing(*before))
      streams_.emplace_back(std::move(before), streams->create());
  }
}

void SideStreams::join() {
  for (const SideStream& s : streams_) wait_for(*s.before, *s.current.stream);
}

}  // namespace sinter::inline v1::runtime
