// What the strict tier remembers of every byte that a kernel may touch.
#pragma once
#include <cstdint>

#include "happens_before.hpp"

namespace sinter::inline v1::runtime::vgpu {

/// Who accesses memory, and what of its launch is ordered before.
struct Actor {
  std::uint32_t block = 0;
  std::uint16_t thread = 0;
  std::uint16_t interval = 0;       // barriers that the block has passed
  std::uint16_t warp_interval = 0;  // __syncwarp()s of all its lanes that the warp has passed
};

struct ShadowByte {
  enum class Readers : std::uint8_t { None, Thread, Warp, Block, Grid };  // what `reader` stands for
  Work written_by = Work::None;
  Work read_by = Work::None;  // since it was written
  // Of the launch that touched it last:
  Work launch = Work::None;
  Actor writer, reader;
  Readers readers = Readers::None;
  bool is_written = false;

  bool is_atomic = false;  // written by an atomic operation
  bool is_initialised = false;
};

}  // namespace sinter::inline v1::runtime::vgpu
