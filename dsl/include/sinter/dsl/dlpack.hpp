// Tensors from and to other libraries through DLPack, without copying.
//
// Memory of a virtual GPU is nothing that CUDA knows: it goes out as kDLExtDev, which another library refuses, and only
// a process whose GPUs are virtual takes it in again. x.cpu() makes a tensor for everybody.
#pragma once
#include <memory>
#include <optional>

#include <sinter/dsl/dlpack_abi.hpp>
#include <sinter/dsl/tensor.hpp>
#include <sinter/runtime/stream.hpp>

namespace sinter::inline v1 {

/// How a tensor goes out.
struct DLPackExport {
  /// Of a tensor on a GPU: the consumer's stream, whose later work comes after all that was issued on the tensor until
  /// now; the host does not wait. What Sinter does with the tensor later comes after the stream's work, which must stay
  /// valid until the deleter has run. Without one the host waits until the tensor is there.
  std::optional<Stream> stream{};
  /// A copy, row by row and flagged as one: for consumers that do not take every layout, as PyTorch negative strides.
  bool copy = false;
  /// Flagged as not to be written to. The old structure has no flags: there it is an Error.
  bool read_only = false;
};

/// How a tensor comes in.
struct DLPackImport {
  /// Of a tensor on a GPU, or in page-locked memory: the producer's stream. Work on the tensor comes after all that was
  /// issued to it until now; the host waits for page-locked memory only. Without one the tensor must be there.
  std::optional<Stream> stream{};
  /// True copies always. False never does, and throws Error where it must be. Without it a tensor that may not be
  /// written to, or whose elements on the host are not aligned, is copied and no other one.
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

/// A tensor that comes in: checked first, then taken over.
class DLPackImporter {
 public:
  DLPackImporter(const dlpack::ManagedTensorVersioned* managed, const DLPackImport& options);
  DLPackImporter(const dlpack::ManagedTensor* managed, const DLPackImport& options);
  const TensorRef& tensor() const noexcept { return tensor_; }
  /// From now on the tensor, or its copy, is ours: `release(managed)` is called once when nothing uses it any more.
  void take(void* managed, void (*release)(void*)) noexcept;

 private:
  struct Owner;
  void import(const dlpack::Tensor& t, bool read_only, const DLPackImport& options);

  std::shared_ptr<Owner> owner_;
  TensorRef tensor_;
};

/// DLManagedTensorVersioned or DLManagedTensor, ours or another header's.
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
                "this is no DLManagedTensor that Sinter knows: see sinter/dsl/dlpack_abi.hpp");
  DLPackImporter importer(reinterpret_cast<const Ours*>(managed), options);
  Tensor<T, D> tensor{importer.tensor()};
  if constexpr (element<T>) check_dtype(tensor.impl(), dtype_of<T>);
  check_device<D>(tensor.impl());
  importer.take(managed, [](void* m) { CallDeleter()(static_cast<M*>(m)); });
  return tensor;
}

}  // namespace detail

/// A DLManagedTensorVersioned that nobody has taken over yet. `release()` hands it to a consumer, who calls its deleter
/// once: in any thread, at any time.
using DLPack = std::unique_ptr<dlpack::ManagedTensorVersioned, detail::CallDeleter>;
/// The same of the structure from before DLPack 1.0.
using DLPackUnversioned = std::unique_ptr<dlpack::ManagedTensor, detail::CallDeleter>;

/// The tensor for another library, of any dtype and layout. Both share its memory, and whoever lets go last frees it.
/// Throws DeviceError for a stream of another device, CudaError.
template <class T, class D>
DLPack to_dlpack(const Tensor<T, D>& t, const DLPackExport& options = {}) {
  return DLPack(detail::to_dlpack(detail::dlpack_source(t.impl(), options), options));
}
template <class T, class D>
DLPackUnversioned to_dlpack_unversioned(const Tensor<T, D>& t, const DLPackExport& options = {}) {
  return DLPackUnversioned(detail::to_dlpack_unversioned(detail::dlpack_source(t.impl(), options), options));
}

/// Another library's tensor, which is taken over: its deleter is called when the last tensor on its memory is gone. An
/// error leaves it to the caller. T and D are checked: from_dlpack<float, Cpu>(managed).
/// Throws DtypeError for elements that Sinter has not: several lanes, parts of bytes, unsigned integers above 8 bits;
/// DeviceError for devices other than CPUs and CUDA's; ShapeError for more than eight axes or too large an array;
/// Error for a structure that is not whole, of another major version, or that would have to be copied and must not be.
template <element_or_any T = AnyType, class D = AnyDevice, detail::dlpack_managed M>
Tensor<T, D> from_dlpack(M* managed, const DLPackImport& options = {}) {
  return detail::from_dlpack<T, D>(managed, options);
}
/// The same; an error deletes it.
template <element_or_any T = AnyType, class D = AnyDevice, detail::dlpack_managed M>
Tensor<T, D> from_dlpack(std::unique_ptr<M, detail::CallDeleter> managed, const DLPackImport& options = {}) {
  Tensor<T, D> tensor = detail::from_dlpack<T, D>(managed.get(), options);
  static_cast<void>(managed.release());
  return tensor;
}

}  // namespace sinter::inline v1
