// Any bytes as an IDX file: they read as a tensor or are refused with a FormatError, and nothing else happens. What a
// packed one takes is no more than deflate can make of it.
#include <cstdint>
#include <cstdlib>

#include <dsl/data/idx_format.hpp>
#include <sinter/runtime/error.hpp>
#include "../dsl/npy_bytes.hpp"

using namespace sinter;

namespace {

void check(bool right) {
  if (!right) std::abort();
}

void read(std::string_view file) {
  testing::Bytes source(file);
  const runtime::TensorRef t = detail::idx::read(source);
  const std::uint64_t bytes = static_cast<std::uint64_t>(t->numel) * size_of(t->dtype);
  const std::uint64_t header = 4 + 4 * static_cast<std::uint64_t>(t->ndim());
  if (file[0] == 0)
    check(header + bytes == file.size());
  else
    check(header + bytes <= 1032 * file.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    read({reinterpret_cast<const char*>(data), size});
  } catch (const FormatError&) {
  }
  return 0;
}
