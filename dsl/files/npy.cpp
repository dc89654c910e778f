#include <sinter/dsl/npy.hpp>

#include <fmt/format.h>

#include <utility>

#include <runtime/atomic_file_writer.hpp>
#include <sinter/jit/evaluate.hpp>
#include <sinter/runtime/error.hpp>
#include "element_bytes.hpp"
#include "file.hpp"
#include "npy_format.hpp"

namespace sinter::inline v1::detail {

namespace {

using runtime::TensorImpl;
using runtime::TensorRef;

/// The same memory with its axes reversed.
TensorRef reversed_view(const TensorImpl& t) {
  Shape shape, strides;
  for (int axis = t.ndim(); axis-- > 0;) shape.push_back(t.shape[axis]), strides.push_back(t.strides[axis]);
  return runtime::view(t, shape, strides);
}

}  // namespace

TensorRef load_npy(const FileName& name, Device device) {
  FileSource source(name.text);
  return npy::read(source, device);
}

TensorRef load_npy(const FileName& name, Device device, DType wanted) {
  TensorRef t = load_npy(name, device);
  if (t->dtype != wanted)
    throw DTypeError(fmt::format("'{}' holds {} {}, not {}: read it by load_npy<{}>(...), or by load_npy(...).to<{}>()",
                                 name.text, sinter::name(t->dtype), to_string(t->shape), sinter::name(wanted),
                                 info(t->dtype).cpp_name, info(wanted).cpp_name));
  return t;
}

npy::Contents npy::contents_of(const TensorImpl& t) {
  Header header;
  header.dtype = t.dtype;
  header.shape = t.shape;
  TensorRef stored = runtime::view(t, t.shape, t.strides);
  if (!t.contiguous) {
    const TensorRef turned = reversed_view(t);
    header.fortran_order = turned->contiguous;
    stored = header.fortran_order ? turned : jit::contiguous(*stored);
  }
  return {header_text(header), std::move(stored)};
}

void save_npy(const FileName& name, const TensorImpl& t) {
  const npy::Contents contents = npy::contents_of(t);
  runtime::AtomicFileWriter file(name.text);
  file.write(contents.header);
  for_each_chunk(*contents.elements, [&](std::span<const std::byte> bytes) { file.write(bytes); });
  file.commit();
}

}  // namespace sinter::inline v1::detail
