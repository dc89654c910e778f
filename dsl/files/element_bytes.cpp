#include "element_bytes.hpp"

#include <algorithm>
#include <vector>

#include <sinter/dsl/array.hpp>
#include <sinter/jit/evaluate.hpp>
#include <sinter/runtime/transfer.hpp>
#include "byte_source.hpp"

namespace sinter::inline v1::detail {

void for_each_chunk(const runtime::TensorImpl& from, const std::function<void(std::span<const std::byte>)>& write) {
  const runtime::TensorRef here = jit::contiguous(*on_one_device(from));
  const runtime::TensorImpl& t = *here;
  const std::size_t bytes = static_cast<std::size_t>(t.numel) * size_of(t.dtype);
  if (bytes == 0) return;
  if (t.device.is_cpu()) return write({t.data, bytes});
  std::vector<std::byte> chunk(std::min(bytes, chunk_bytes));
  for (std::size_t done = 0; done < bytes; done += chunk.size()) {
    const std::span<std::byte> part(chunk.data(), std::min(chunk.size(), bytes - done));
    runtime::download(part.data(), {t.buffer.get(), t.data + done}, part.size());
    write(part);
  }
}

}  // namespace sinter::inline v1::detail
