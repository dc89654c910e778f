// Any bytes as a .npy file: they read as a tensor or are refused with a Sinter error, and nothing else happens. What
// reads is written again and must come back as it was.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <sinter/runtime/error.hpp>
#include "../dsl/npy_bytes.hpp"

using namespace sinter;

namespace {

void check(bool right) {
  if (!right) std::abort();
}

runtime::TensorRef read(std::string_view file) {
  testing::Bytes source(file);
  return detail::npy::read(source, Device());
}

void read_and_write_again(std::string_view file) {
  const runtime::TensorRef t = read(file);
  const std::size_t bytes = static_cast<std::size_t>(t->numel) * size_of(t->dtype);
  check(bytes <= file.size());
  detail::npy::Header header;
  header.dtype = t->dtype;
  header.shape = t->shape;
  // A tensor in Fortran order is one block of memory too, so its bytes are taken as they lie.
  header.fortran_order = !t->contiguous;
  std::string again = detail::npy::header_text(header);
  if (bytes > 0) again.append(reinterpret_cast<const char*>(t->data), bytes);
  const runtime::TensorRef back = read(again);
  check(back->dtype == t->dtype && back->shape == t->shape && back->contiguous == t->contiguous);
  check(bytes == 0 || std::memcmp(back->data, t->data, bytes) == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    read_and_write_again({reinterpret_cast<const char*>(data), size});
  } catch (const FormatError&) {
  } catch (const DTypeError&) {
  }
  return 0;
}
