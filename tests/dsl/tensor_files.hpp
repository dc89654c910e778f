// Files of several tensors, compared with tables of their content (tests/data/safetensors, tests/data/npz).
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include <sinter/dsl/state_dict.hpp>
#include "npy_bytes.hpp"
#include "table.hpp"

namespace sinter::testing {

/// The elements in row-major order as in the tables: bits in hex.
inline std::string hex_of(const AnyTensor& tensor) {
  const runtime::TensorRef t = jit::contiguous(tensor.to(cpu).impl());
  const std::size_t size = size_of(t->dtype);
  std::string text;
  for (std::size_t i = 0; i < static_cast<std::size_t>(t->numel); ++i) {
    if (i > 0) text += ' ';
    for (std::size_t byte = size; byte-- > 0;)
      text += fmt::format("{:02x}", std::to_integer<int>(t->data[i * size + byte]));
  }
  return text;
}

/// The rows about one file in a folder's files.tsv.
inline std::vector<Row> rows_of(const std::string& folder, const std::string& file) {
  std::vector<Row> rows = read_table(folder + "/files.tsv");
  std::erase_if(rows, [&](const Row& row) { return row[0] != file; });
  for (Row& row : rows) row.resize(5);
  return rows;
}

/// The files in files.tsv that are not rejected.
inline std::vector<std::string> files_of(const std::string& folder) {
  std::vector<std::string> files;
  for (const Row& row : read_table(folder + "/files.tsv"))
    if (!row[0].starts_with("refused_") && (files.empty() || files.back() != row[0])) files.push_back(row[0]);
  return files;
}

inline void expect_rows(const StateDict& state, const std::vector<Row>& rows, Device device) {
  ASSERT_EQ(state.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& [name, tensor] = state.begin()[i];
    SCOPED_TRACE(name);
    EXPECT_EQ(name, rows[i][1]);
    EXPECT_EQ(tensor.dtype(), dtype_named(rows[i][2]));
    EXPECT_EQ(tensor.shape(), parse_shape(rows[i][3]));
    EXPECT_EQ(tensor.device(), device);
    EXPECT_EQ(hex_of(tensor), rows[i][4]);
  }
}

/// The message of the E that f throws.
template <class E, class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    ADD_FAILURE() << "another exception: " << e.what();
    return "";
  }
  ADD_FAILURE() << "no exception";
  return "";
}

}  // namespace sinter::testing
