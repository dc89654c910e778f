// Exchange of tensors with other libraries through DLPack, without copying.
//
// CUDA does not know the memory of a virtual GPU. It is exported as kDLExtDev, which other libraries refuse and which
// only a process with virtual GPUs imports. Export x.cpu() instead to share such a tensor.
#pragma once
#include <memory>
#include <optional>

#include <sinter/dsl/dlpack_abi.hpp>
#include <sinter/dsl/tensor.hpp>
#include <sinter/runtime/stream.hpp>

namespace sinter::inline v1 {

/// Options for exporting a tensor.
struct DLPackExport {
  /// For a tensor on a GPU: the consumer's stream. Its later work is ordered after all work issued on the tensor so
  /// far, and the host does not wait. Sinter's later work on the tensor is ordered after the stream's work; the stream
  /// must stay valid until the deleter has run. Without a stream, the host waits until the tensor is ready.
  std::optional<Stream> stream{};
  /// Export a row-major copy, flagged as a copy: for consumers that do not take every layout, such as PyTorch with
  /// negative strides.
  bool copy = false;
  /// Flag the tensor as read-only. The unversioned structure has no flags: it throws Error.
  bool read_only = false;
};

/// Options for importing a tensor.
struct DLPackImport {
  /// For a tensor on a GPU or in page-locked memory: the producer's stream. Work on the tensor is ordered after all
  /// work issued to the stream so far; the host waits only for page-locked memory. Without a stream, the tensor must be
  /// ready.
  std::optional<Stream> stream{};
  /// True: always copy. False: never copy, and throw Error if a copy is necessary. Unset: copy only if the tensor is
  /// read-only or its elements on the host are not aligned.
  std::optional<bool> copy{};
};

namespace detail {

struct CallDeleter {
  template <class M>
  void operator()(M* managed) const {
    if (managed->deleter) managed->deleter(managed);
  }
};

TensorRef dlpack_source(TensorImpl& t, const DLPackExport& options);
dlpack::ManagedTensorVersioned* to_dlpack(TensorRef t, const DLPackExport& options);
dlpack::ManagedTensor* to_dlpack_unversioned(TensorRef t, const DLPackExport& options);

/// A tensor being imported: checked first, then taken over.
class DLPackImporter {
 public:
  DLPackImporter(const dlpack::ManagedTensorVersioned* managed, const DLPackImport& options);
  DLPackImporter(const dlpack::ManagedTensor* managed, const DLPackImport& options);
  const TensorRef& tensor() const noexcept { return tensor_; }
  /// Takes ownership of the tensor, or of its copy: `release(managed)` is called once, when nothing uses it any more.
  void take(void* managed, void (*release)(void*)) noexcept;

 private:
  struct Owner;
  void import(const dlpack::Tensor& t, bool read_only, const DLPackImport& options);

  std::shared_ptr<Owner> owner_;
  TensorRef tensor_;
};

/// DLManagedTensorVersioned or DLManagedTensor, as declared here or by another header.
template <class M>
concept dlpack_managed = requires(M& m) {
  m.dl_tensor.byte_offset;
  m.manager_ctx;
  m.deleter(&m);
};
template <class M>
inline constexpr bool is_versioned = requires(M& m) { m.version.major; };

template <element_or_any T, class D, dlpack_managed M>
Tensor<T, D> from_dlpack(M* managed, const DLPackImport& options) {
  using Ours = std::conditional_t<is_versioned<M>, dlpack::ManagedTensorVersioned, dlpack::ManagedTensor>;
  static_assert(sizeof(M) == sizeof(Ours) && offsetof(M, dl_tensor) == offsetof(Ours, dl_tensor) &&
                    offsetof(M, deleter) == offsetof(Ours, deleter),
                "this is not a DLManagedTensor that Sinter knows: see sinter/dsl/dlpack_abi.hpp");
  DLPackImporter importer(reinterpret_cast<const Ours*>(managed), options);
  Tensor<T, D> tensor{importer.tensor()};
  if constexpr (element<T>) check_dtype(tensor.impl(), dtype_of<T>);
  check_device<D>(tensor.impl());
  importer.take(managed, [](void* m) { CallDeleter()(static_cast<M*>(m)); });
  return tensor;
}

}  // namespace detail

/// A DLManagedTensorVersioned that has no consumer yet. `release()` passes it to a consumer, who calls its deleter
/// once, in any thread and at any time.
using DLPack = std::unique_ptr<dlpack::ManagedTensorVersioned, detail::CallDeleter>;
/// A DLManagedTensor, the structure from before DLPack 1.0, without a consumer yet.
using DLPackUnversioned = std::unique_ptr<dlpack::ManagedTensor, detail::CallDeleter>;

/// Exports a tensor of any dtype and layout. Both libraries share its memory; the last user frees it. Throws
/// DeviceError for a stream of another device, CudaError.
template <class T, class D, class X>
DLPack to_dlpack(const Tensor<T, D, X>& t, const DLPackExport& options = {}) {
  return DLPack(detail::to_dlpack(detail::dlpack_source(t.impl(), options), options));
}
template <class T, class D, class X>
DLPackUnversioned to_dlpack_unversioned(const Tensor<T, D, X>& t, const DLPackExport& options = {}) {
  return DLPackUnversioned(detail::to_dlpack_unversioned(detail::dlpack_source(t.impl(), options), options));
}

/// Imports another library's tensor and takes it over: its deleter is called when the last tensor on its memory is
/// gone. On error the caller keeps ownership. T and D are checked: from_dlpack<float, Cpu>(managed).
/// Throws DTypeError for elements that Sinter does not support (several lanes, sub-byte elements, unsigned integers
/// above 8 bits); DeviceError for devices other than CPUs and CUDA's; ShapeError for more than eight axes or too large
/// an array; Error for a malformed structure, one of another major version, or one that needs a copy where copy is
/// false.
template <element_or_any T = AnyType, class D = AnyDevice, detail::dlpack_managed M>
Tensor<T, D> from_dlpack(M* managed, const DLPackImport& options = {}) {
  return detail::from_dlpack<T, D>(managed, options);
}
/// As from_dlpack(M*), but also calls the deleter on error.
template <element_or_any T = AnyType, class D = AnyDevice, detail::dlpack_managed M>
Tensor<T, D> from_dlpack(std::unique_ptr<M, detail::CallDeleter> managed, const DLPackImport& options = {}) {
  Tensor<T, D> tensor = detail::from_dlpack<T, D>(managed.get(), options);
  static_cast<void>(managed.release());
  return tensor;
}

}  // namespace sinter::inline v1
