// Reads the tables in tests/data: lines of tab-separated fields; '#' begins a comment.
#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <sinter/runtime/error.hpp>
#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::testing {

using Row = std::vector<std::string>;

/// The parts between the separators; none for an empty text.
inline Row split(std::string_view text, char separator) {
  Row parts;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
    if (text.empty()) parts.emplace_back();
  }
  return parts;
}

inline std::string data_path(const std::string& name) { return SINTER_TEST_DATA "/" + name; }

inline std::vector<Row> read_table(const std::string& name) {
  std::ifstream file(data_path(name));
  if (!file) throw Error("cannot read " + data_path(name));
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);)
    if (!line.starts_with('#')) rows.push_back(split(line, '\t'));
  return rows;
}

inline DType dtype_named(std::string_view text) {
  for (int i = 0; i < dtype_count; ++i)
    if (name(static_cast<DType>(i)) == text) return static_cast<DType>(i);
  throw Error("no dtype is called " + std::string(text));
}

inline Shape parse_shape(const std::string& text) {
  Shape shape;
  for (const std::string& extent : split(text, ',')) shape.push_back(std::stoll(extent));
  return shape;
}

/// A contiguous host tensor. The elements, as bits, repeat if there are too few.
inline runtime::TensorRef host_tensor(DType dtype, const Shape& shape, const std::vector<std::uint64_t>& bits) {
  runtime::TensorRef t = runtime::empty(shape, dtype, Device());
  const std::size_t size = size_of(dtype);
  for (std::size_t i = 0; i < static_cast<std::size_t>(t->numel); ++i)
    std::memcpy(t->data + i * size, &bits[i % bits.size()], size);
  return t;
}

/// Hexadecimal numbers separated by spaces.
inline std::vector<std::uint64_t> parse_bits(const std::string& text) {
  std::vector<std::uint64_t> bits;
  for (const std::string& token : split(text, ' ')) bits.push_back(std::stoull(token, nullptr, 16));
  return bits;
}

}  // namespace sinter::testing
