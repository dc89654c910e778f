// Any bytes as a .npz file: they read as arrays or are refused with a Sinter error, and nothing else happens. What they
// unpack to is no more than deflate can make of them.
#include <cstdint>
#include <cstdlib>

#include <dsl/files/npz_format.hpp>
#include <dsl/files/zip.hpp>
#include <sinter/runtime/error.hpp>
#include "../dsl/npy_bytes.hpp"

using namespace sinter;

namespace {

void check(bool right) {
  if (!right) std::abort();
}

void read(std::string_view file) {
  testing::Bytes source(file);
  std::uint64_t bytes = 0;
  for (const detail::zip::Entry& entry : detail::zip::read_directory(source)) {
    check(entry.offset <= file.size() && entry.packed <= file.size() - entry.offset);
    bytes += entry.size;
  }
  check(bytes <= 1100 * file.size());
  for (const auto& [name, tensor] : detail::npz::read(source, Device())) {
    const std::uint64_t taken = static_cast<std::uint64_t>(tensor.numel()) * size_of(tensor.dtype());
    check(taken <= bytes);
    bytes -= taken;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    read({reinterpret_cast<const char*>(data), size});
  } catch (const FormatError&) {
  } catch (const DTypeError&) {
  }
  return 0;
}
