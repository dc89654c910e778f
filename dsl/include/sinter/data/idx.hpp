// IDX files: arrays as MNIST and Fashion-MNIST come.
#pragma once
#include <sinter/data/dataset.hpp>
#include <sinter/dsl/file_name.hpp>

namespace sinter::inline v1 {

/// The array of an IDX file, or of one that is packed by gzip: uint8, int8, int16, int32, float32 or float64 of up to
/// eight axes. The result alone takes memory, and no more than the file can justify. Throws FormatError (the file
/// cannot be read, is malformed, truncated or too long: says where), OutOfMemory, DeviceError.
AnyTensor load_idx(const detail::FileName& name, Device device = {});

/// Images, uint8 (n, 28, 28), and labels, int64 (n).
using ImageDataset = TensorDataset<Tensor<std::uint8_t, Cpu>, Tensor<std::int64_t, Cpu>>;

/// MNIST, or what comes in files of the same names as Fashion-MNIST does: train-images-idx3-ubyte and
/// train-labels-idx1-ubyte of the folder, or those that begin by t10k; packed ones end by .gz. Throws FormatError where
/// one is missing or holds something else, and as load_idx; ShapeError where they are not equally many.
ImageDataset mnist(const detail::FileName& folder, bool train = true);

}  // namespace sinter::inline v1
