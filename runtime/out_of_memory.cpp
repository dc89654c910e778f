#include "out_of_memory.hpp"

#include <fmt/format.h>

#include "text.hpp"

namespace sinter::inline v1::runtime {

std::string out_of_memory(Device device, std::size_t bytes, std::size_t returned, const MemoryStats& now,
                          const MemoryInfo& memory) {
  return fmt::format(
      "out of memory on {}: {} requested ({} bytes), {} in use by tensors, {} cached (of which "
      "{} were returned first), {} free of {} in total. Release tensors or work on smaller parts",
      to_string(device), format_bytes(bytes), bytes, format_bytes(now.in_use), format_bytes(now.cached + returned),
      format_bytes(returned), format_bytes(memory.free), format_bytes(memory.total));
}

}  // namespace sinter::inline v1::runtime
