#include "flat_parameters.hpp"

#include <algorithm>
#include <utility>

#include <sinter/sinter.hpp>

namespace sinter::inline v1::optim {

using runtime::Buffer;
using runtime::TensorImpl;
using runtime::TensorRef;

namespace {

constexpr std::int64_t alignment = 64;  // in bytes

/// The elements that a tensor takes in the array.
std::int64_t padded(const AnyTensor& tensor) {
  const std::int64_t unit = alignment / static_cast<std::int64_t>(size_of(tensor.dtype()));
  return (tensor.numel() + unit - 1) / unit * unit;
}

std::int64_t bytes_of(const AnyTensor& tensor) {
  return tensor.numel() * static_cast<std::int64_t>(size_of(tensor.dtype()));
}

}  // namespace

FlatParameters::FlatParameters(AnyTensor single) : members_{single}, offsets_{0}, flat_(std::move(single)) {}

FlatParameters::FlatParameters(std::vector<AnyTensor> members) : members_(std::move(members)) {
  std::int64_t size = 0;
  for (const AnyTensor& m : members_) {
    offsets_.push_back(size);
    size += padded(m);
  }
  if (reuse_array()) return;
  flat_ = AnyTensor(detail::full({size}, members_[0].dtype(), members_[0].device(), 0));
  relocate();
}

bool FlatParameters::is_relocatable(const AnyTensor& tensor) {
  const TensorImpl& impl = tensor.impl();
  if (!impl.contiguous || impl.device.is_mesh() || impl.numel == 0 || !impl.buffer) return false;
  const Buffer& buffer = *impl.buffer;
  return buffer.owners() == 1 && !buffer.is_exposed() && (buffer.is_owned() || buffer.whole());
}

AnyTensor FlatParameters::part(const AnyTensor& like_flat, std::size_t k) const {
  if (size() == 1) return like_flat;
  const Shape& shape = members_[k].shape();
  return AnyTensor(runtime::view(like_flat.impl(), shape, contiguous_strides(shape), offsets_[k]));
}

bool FlatParameters::is_intact() const {
  if (size() == 1) return true;
  for (std::size_t k = 0; k < size(); ++k) {
    const TensorImpl& impl = members_[k].impl();
    if (!impl.buffer || impl.buffer->whole() != flat_.impl().buffer.get()) return false;
  }
  return true;
}

void FlatParameters::touch_members() const {
  for (const AnyTensor& m : members_)
    if (m.impl().buffer) m.impl().buffer->touch();
}

/// Takes the array in which the same tensors lie already.
bool FlatParameters::reuse_array() {
  Buffer* const whole = members_[0].impl().buffer->whole();
  const auto place = [&](std::size_t k) { return members_[k].impl().data - members_[0].impl().data; };
  const auto size = static_cast<std::int64_t>(size_of(members_[0].dtype()));
  for (std::size_t k = 0; k < members_.size(); ++k)
    if (!whole || members_[k].impl().buffer->whole() != whole || place(k) != offsets_[k] * size) return false;
  TensorRef flat = TensorRef::adopt(new TensorImpl);
  flat->dtype = members_[0].dtype();
  flat->device = members_[0].device();
  flat->data = members_[0].impl().data;
  flat->numel = offsets_.back() + padded(members_.back());
  flat->shape = {flat->numel};
  flat->strides = {1};
  flat->buffer = runtime::Ref<Buffer>::share(whole);
  flat_ = AnyTensor(std::move(flat));
  return true;
}

void FlatParameters::relocate() {
  std::vector<TensorRef> places;
  std::vector<runtime::Ref<Buffer>> buffers;
  for (std::size_t k = 0; k < size(); ++k) {
    AnyTensor there = part(flat_, k);
    there.assign(members_[k]);
    buffers.push_back(Buffer::part(flat_.impl().buffer, there.impl().data, static_cast<std::size_t>(bytes_of(there)),
                                   members_[k].impl().buffer->version()));
    places.push_back(there.ref());
  }
  for (std::size_t k = 0; k < size(); ++k) {  // throws nothing: an error leaves all tensors where they were
    TensorImpl& impl = members_[k].impl();
    impl.data = places[k]->data;
    impl.buffer = std::move(buffers[k]);
  }
}

}  // namespace sinter::inline v1::optim
