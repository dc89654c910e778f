// IDX files: the format of MNIST and Fashion-MNIST.
#pragma once
#include <sinter/data/dataset.hpp>
#include <sinter/dsl/file_name.hpp>

namespace sinter::inline v1 {

/// The array of an IDX file, possibly gzipped: uint8, int8, int16, int32, float32 or float64 with at most eight axes.
/// Only the result takes memory, and never more than the file's size can justify. Throws FormatError with the position
/// (the file cannot be read, is malformed, truncated or too long), OutOfMemory, DeviceError.
AnyTensor load_idx(const detail::FileName& name, Device device = {});

/// Images, uint8 (n, 28, 28), and labels, int64 (n).
using ImageDataset = TensorDataset<Tensor<std::uint8_t, Cpu>, Tensor<std::int64_t, Cpu>>;

/// MNIST, or a data set in files of the same names, such as Fashion-MNIST: train-images-idx3-ubyte and
/// train-labels-idx1-ubyte in the folder, or those that begin with t10k; gzipped files end with .gz. Throws FormatError
/// if one is missing or holds something else, and what load_idx throws; ShapeError if the numbers of images and labels
/// differ.
ImageDataset mnist(const detail::FileName& folder, bool train = true);

}  // namespace sinter::inline v1
