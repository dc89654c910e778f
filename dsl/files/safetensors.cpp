#include <sinter/dsl/safetensors.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include <runtime/atomic_file_writer.hpp>
#include <runtime/bools.hpp>
#include <sinter/jit/evaluate.hpp>
#include <sinter/runtime/error.hpp>
#include <sinter/runtime/transfer.hpp>
#include "duplicate.hpp"
#include "element_bytes.hpp"
#include "file.hpp"
#include "safetensors_format.hpp"

namespace sinter::inline v1 {

namespace {

using detail::FileName;
using detail::FileSource;
using detail::first_duplicate;
using detail::for_each_chunk;
using detail::Mapping;
using runtime::AtomicFileWriter;
using runtime::TensorRef;
namespace safetensors = detail::safetensors;
using safetensors::TensorEntry;

static_assert(std::endian::native == std::endian::little,
              "elements have the same byte order in memory and in the file");

TensorRef tensor_at(const TensorEntry& part, std::span<std::byte> bytes, std::shared_ptr<const Mapping> mapping,
                    Device device) {
  if (device.is_mesh()) return jit::to(*tensor_at(part, bytes, std::move(mapping), Device()), part.dtype, device);
  if (part.dtype == DType::Bool) runtime::make_bools(bytes);  // pages without other bytes stay shared with the file
  if (device.is_cpu() && runtime::is_aligned(bytes.data(), part.dtype))
    return runtime::wrap_memory(part.shape, part.dtype, bytes.data(), std::move(mapping));
  TensorRef t = runtime::empty(part.shape, part.dtype, device);
  if (bytes.empty()) return t;
  if (device.is_cpu())
    std::memcpy(t->data, bytes.data(), bytes.size());
  else
    runtime::upload({t->buffer.get(), t->data}, bytes.data(), bytes.size());
  return t;
}

/// The tensors in file order, with their offsets.
std::vector<TensorEntry> laid_out(const StateDict& state) {
  std::vector<TensorEntry> entries;
  for (const auto& [name, tensor] : state) {
    if (name == "__metadata__")
      throw Error("no tensor of a safetensors file can be called '__metadata__': the format reserves this name");
    if (!tensor.defined()) throw Error(fmt::format("cannot save '{}': the tensor is undefined", name));
    if (safetensors::dtype_code(tensor.dtype()).empty())
      throw DTypeError(
          fmt::format("cannot save '{}': a safetensors file holds no {}: save real() and imag(), or convert "
                      "it with .to<std::complex<float>>()",
                      name, sinter::name(tensor.dtype())));
    entries.push_back({.name = name, .dtype = tensor.dtype(), .shape = tensor.shape()});
  }
  std::ranges::sort(entries, [](const TensorEntry& a, const TensorEntry& b) {
    const int rank = safetensors::dtype_rank(a.dtype), other = safetensors::dtype_rank(b.dtype);
    return rank != other ? rank > other : a.name < b.name;
  });
  std::uint64_t end = 0;
  for (TensorEntry& part : entries) {
    part.begin = end;
    end += static_cast<std::uint64_t>(part.shape.numel()) * size_of(part.dtype);
    part.end = end;
  }
  return entries;
}

void check_metadata(const Metadata& metadata) {
  if (const std::string* key = first_duplicate(metadata, &Metadata::value_type::first))
    throw Error(fmt::format("the metadata has the key '{}' twice", *key));
}

}  // namespace

StateDict load_safetensors(const FileName& name, Device device) {
  FileSource file(name.text);
  safetensors::Header header = safetensors::read_header(file);
  const auto mapping = std::make_shared<const Mapping>(file.map());
  const std::span<std::byte> data = mapping->bytes().subspan(header.data_offset);
  std::vector<StateDict::Entry> entries;
  entries.reserve(header.entries.size());
  for (TensorEntry& part : header.entries) {
    TensorRef t = tensor_at(part, data.subspan(part.begin, part.end - part.begin), mapping, device);
    entries.push_back({std::move(part.name), AnyTensor(std::move(t))});
  }
  return StateDict(std::move(entries));
}

Metadata load_safetensors_metadata(const FileName& name) {
  FileSource file(name.text);
  return safetensors::read_header(file).metadata;
}

void save_safetensors(const FileName& name, const StateDict& state, const Metadata& metadata) {
  check_metadata(metadata);
  const std::vector<TensorEntry> entries = laid_out(state);
  const std::string header = safetensors::header_text(entries, metadata);
  AtomicFileWriter file(name.text);
  file.write(header);
  for (const TensorEntry& part : entries)
    for_each_chunk(*jit::contiguous(state.at(part.name).impl()),
                   [&](std::span<const std::byte> bytes) { file.write(bytes); });
  file.commit();
}

}  // namespace sinter::inline v1
