// Python's DLPack interface: capsules, __dlpack__ and __dlpack_device__.
#include <fmt/format.h>

#include <dsl/dlpack_types.hpp>
#include <runtime/registry.hpp>
#include <sinter/dsl/dlpack.hpp>
#include "convert.hpp"
#include "release.hpp"

namespace sinter::python {
namespace {

template <class M>
struct Names;
template <>
struct Names<dlpack::ManagedTensorVersioned> {
  static constexpr const char *fresh = "dltensor_versioned", *used = "used_dltensor_versioned";
};
template <>
struct Names<dlpack::ManagedTensor> {
  static constexpr const char *fresh = "dltensor", *used = "used_dltensor";
};

/// The destructor of a capsule that was not consumed.
template <class M>
void destroy_capsule(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, Names<M>::fresh)) return;
  auto* const managed = static_cast<M*>(PyCapsule_GetPointer(capsule, Names<M>::fresh));
  if (managed->deleter) managed->deleter(managed);
}

template <class M>
nb::object capsule_of(M* managed) {
  PyObject* const capsule = PyCapsule_New(managed, Names<M>::fresh, destroy_capsule<M>);
  if (!capsule) {
    managed->deleter(managed);
    nb::raise_python_error();
  }
  return nb::steal(capsule);
}

bool is_real_gpu(Device device) { return device.is_cuda() && !runtime::gpus_are_virtual(); }

/// The consumer's stream, numbered as in the array API standard. Without one the host waits.
std::optional<Stream> stream_from(const nb::object& stream, Device device) {
  if (!device.is_cuda()) {
    if (stream.is_none()) return {};
    throw DeviceError(
        fmt::format("__dlpack__: the tensor is on {}, which has no streams: omit stream", to_string(device)));
  }
  if (!is_real_gpu(device)) return {};
  constexpr std::int64_t legacy_default = 1, per_thread_default = 2, none = -1;
  const std::int64_t number = stream.is_none() ? legacy_default : integer_from("__dlpack__", stream);
  if (number == none || number == per_thread_default) return {};
  if (number < none || number == 0)
    throw DeviceError(fmt::format("__dlpack__: {} is not a stream: 1 is CUDA's default stream", number));
  return Stream::from_native(number == legacy_default ? nullptr : reinterpret_cast<void*>(number), device);
}

nb::tuple device_tuple(const TensorImpl& t) {
  const dlpack::Device d = detail::dlpack_device(t);
  return nb::make_tuple(static_cast<int>(d.device_type), d.device_id);
}

/// For an expression, the device of its result.
nb::tuple dlpack_device(const Operand& x) {
  if (const auto* t = dynamic_cast<const TensorObject*>(&x)) return device_tuple(*t->tensor);
  return device_tuple(*runtime::empty({0}, x.dtype(), x.device()));
}

/// A flipped view, such as x[::-1].
bool has_negative_strides(const TensorImpl& t) {
  for (int i = 0; i < t.ndim(); ++i)
    if (t.shape[i] > 1 && t.strides[i] < 0) return t.numel > 0;
  return false;
}

std::pair<std::int64_t, std::int64_t> pair_from(std::string_view argument, nb::handle object) {
  if (!is_list(object) || nb::len(object) != 2) throw_wrong("__dlpack__", argument, "a tuple of two integers", object);
  return {integer_from("__dlpack__", object[0]), integer_from("__dlpack__", object[1])};
}

bool wants_version_1(const nb::object& max_version) {
  if (max_version.is_none()) return false;
  return pair_from("max_version", max_version).first >= 1;
}

nb::object to_dlpack(const Operand& x, const nb::object& stream, const nb::object& max_version,
                     const nb::object& dl_device, const nb::object& copy) {
  TensorRef t = without_gil([&] { return x.evaluated(); });
  const std::optional<bool> wanted = flag_from("__dlpack__", "copy", copy);
  bool copied = false;
  const dlpack::Device on = detail::dlpack_device(*t);
  const std::pair<std::int64_t, std::int64_t> own(static_cast<int>(on.device_type), on.device_id), cpu(1, 0);
  const auto target = dl_device.is_none() ? own : pair_from("dl_device", dl_device);
  if (target != own) {
    if (target != cpu)
      throw DeviceError(fmt::format("__dlpack__: the tensor is {}, and can only be copied to (1, 0), the CPU",
                                    runtime::describe(*t)));
    if (wanted == false)
      throw Error("__dlpack__: to move to the CPU the tensor must be copied: omit copy, or set it to True");
    t = without_gil([&] { return jit::to(*t, t->dtype, Device()); });
    copied = true;
  }
  DLPackExport options{.stream = stream_from(stream, t->device)};
  const bool flipped = has_negative_strides(*t);
  if (flipped && wanted == false)
    throw nb::buffer_error(
        fmt::format("__dlpack__: the tensor {} has strides {}, but libraries such as PyTorch do not take negative "
                    "strides: it must be copied. Omit copy, or set it to True",
                    runtime::describe(*t), to_string(t->strides))
            .c_str());
  options.copy = flipped || (!copied && wanted == true);
  const bool versioned = wants_version_1(max_version);
  TensorRef source = without_gil([&] { return detail::dlpack_source(*t, options); });
  options.copy |= copied;
  if (versioned) return capsule_of(detail::to_dlpack(std::move(source), options));
  return capsule_of(detail::to_dlpack_unversioned(std::move(source), options));
}

/// A producer's structure, kept until its tensor is no longer used.
template <class M>
void release(void* managed) {
  release_with_gil(managed, [](void* m) { detail::CallDeleter()(static_cast<M*>(m)); });
}

template <class M>
TensorRef take(nb::handle capsule, const DLPackImport& options) {
  auto* const managed = static_cast<M*>(PyCapsule_GetPointer(capsule.ptr(), Names<M>::fresh));
  auto importer = without_gil([&] { return std::make_unique<detail::DLPackImporter>(managed, options); });
  const TensorRef tensor = importer->tensor();
  if (PyCapsule_SetName(capsule.ptr(), Names<M>::used) != 0) nb::raise_python_error();
  importer->take(managed, release<M>);
  return tensor;
}

TensorRef take_capsule(nb::handle capsule, const DLPackImport& options) {
  if (PyCapsule_IsValid(capsule.ptr(), Names<dlpack::ManagedTensorVersioned>::fresh))
    return take<dlpack::ManagedTensorVersioned>(capsule, options);
  if (PyCapsule_IsValid(capsule.ptr(), Names<dlpack::ManagedTensor>::fresh))
    return take<dlpack::ManagedTensor>(capsule, options);
  const char* const name = PyCapsule_GetName(capsule.ptr());
  PyErr_Clear();
  throw Error(
      fmt::format("from_dlpack: the capsule's name is '{}', but a tensor that was not yet consumed is in a 'dltensor'",
                  name ? name : ""));
}

/// From new producers or old ones.
nb::object capsule_from(nb::handle producer, const nb::object& stream) {
  nb::dict arguments;
  if (!stream.is_none()) arguments["stream"] = stream;
  const nb::object method = producer.attr("__dlpack__");
  try {
    return method(**arguments, nb::arg("max_version") = nb::make_tuple(dlpack::version.major, dlpack::version.minor));
  } catch (const nb::python_error& e) {
    if (!e.matches(PyExc_TypeError)) throw;
  }
  return method(**arguments);
}

}  // namespace

TensorRef tensor_of_dlpack(nb::handle object, std::optional<bool> copy) {
  DLPackImport options{.copy = copy};
  if (PyCapsule_CheckExact(object.ptr())) return take_capsule(object, options);
  if (!has_dlpack(object)) throw_wrong("from_dlpack", "x", "an object that has __dlpack__", object);
  nb::object stream = nb::none();
  if (nb::hasattr(object, "__dlpack_device__")) {
    const nb::object on = object.attr("__dlpack_device__")();
    const auto type = static_cast<dlpack::DeviceType>(integer_from("from_dlpack", on[0]));
    if (type == dlpack::DeviceType::Cuda || type == dlpack::DeviceType::CudaManaged) {
      const Device device = detail::device_from({type, static_cast<std::int32_t>(integer_from("from_dlpack", on[1]))});
      stream = nb::int_(1);  // orders the producer's work before CUDA's default stream's, and that before ours
      options.stream = Stream::from_native(nullptr, device);
    }
  }
  const nb::object capsule = capsule_from(object, stream);
  if (!PyCapsule_CheckExact(capsule.ptr()))
    throw_type_error(fmt::format("from_dlpack: __dlpack__ returned {}, not a capsule", describe(capsule)));
  return take_capsule(capsule, options);
}

void add_dlpack(nb::module_& m, nb::class_<Operand>& operand) {
  operand.def("__dlpack_device__", dlpack_device)
      .def("__dlpack__", to_dlpack, nb::kw_only(), nb::arg("stream") = nb::none(), nb::arg("max_version") = nb::none(),
           nb::arg("dl_device") = nb::none(), nb::arg("copy") = nb::none());
  m.def(
      "from_dlpack",
      [](const nb::object& x, const nb::object& copy) {
        return object_of(tensor_of_dlpack(x, flag_from("from_dlpack", "copy", copy)));
      },
      nb::arg("x").none(), nb::kw_only(), nb::arg("copy") = nb::none(),
      "A tensor over the memory of an object that has `__dlpack__`, such as arrays of PyTorch, JAX, CuPy and NumPy.");
}

}  // namespace sinter::python
