// Who uses a buffer, where there are several.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include <sinter/runtime/stream_impl.hpp>

namespace sinter::inline v1::runtime {

/// The streams with work on a buffer that somebody may have to wait for, each once.
struct Uses {
  struct Entry {
    StreamImpl* stream;
    bool wrote = false;
    bool read = false;        // since others were put behind what it wrote
    bool behind = false;      // ordered after all that others wrote
    EventRef done{};          // after its last use; null: only the stream's end is known to be
    std::uint64_t ended = 0;  // which of all ends was its last one
  };
  std::vector<Entry> entries;
  int marking = 0;  // threads that record an end; the list stays meanwhile, so that they learn of others' ends

  Entry* find(const StreamImpl* stream) noexcept {
    const auto e = std::ranges::find(entries, stream, &Entry::stream);
    return e == entries.end() ? nullptr : &*e;
  }
};

}  // namespace sinter::inline v1::runtime
