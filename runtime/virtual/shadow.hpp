// The strict tier's record of every byte that a kernel may access.
#pragma once
#include <cstdint>

#include "happens_before.hpp"

namespace sinter::inline v1::runtime::vgpu {

/// The thread that accesses memory, and the barriers in its launch that happened before.
struct Actor {
  std::uint32_t block = 0;
  std::uint16_t thread = 0;
  std::uint16_t interval = 0;       // number of barriers that the block has passed
  std::uint16_t warp_interval = 0;  // number of __syncwarp()s of all its lanes that the warp has passed
};

struct ShadowByte {
  enum class Readers : std::uint8_t { None, Thread, Warp, Block, Grid };  // meaning of `reader`
  Work written_by = Work::None;
  Work read_by = Work::None;  // since the last write
  // For the launch that last accessed it:
  Work launch = Work::None;
  Actor writer, reader;
  Readers readers = Readers::None;
  bool is_written = false;

  bool is_atomic = false;  // written by an atomic operation
  bool is_initialised = false;
};

}  // namespace sinter::inline v1::runtime::vgpu
