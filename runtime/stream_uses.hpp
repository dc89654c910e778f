// The users of a buffer, if there are several.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include <sinter/runtime/stream_impl.hpp>

namespace sinter::inline v1::runtime {

/// The streams with work on a buffer that may have to be waited for, each once.
struct StreamUses {
  struct StreamUse {
    StreamImpl* stream;
    bool wrote = false;
    bool read = false;           // it read since others were ordered after its writes
    bool ordered_after = false;  // this stream already follows all writes of others
    EventRef done{};             // after its last use; null if only the stream's end is known
    std::uint64_t ended = 0;     // the number of its last recorded end
  };
  std::vector<StreamUse> entries;
  int marking = 0;  // threads that are recording an end; entries stay meanwhile, so that they see others' ends

  StreamUse* find(const StreamImpl* stream) noexcept {
    const auto e = std::ranges::find(entries, stream, &StreamUse::stream);
    return e == entries.end() ? nullptr : &*e;
  }
};

}  // namespace sinter::inline v1::runtime
