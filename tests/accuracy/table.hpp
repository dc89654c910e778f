// The table of the largest errors: tests/data/accuracy.tsv, which tests check, and docs/accuracy.md, for readers.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "measure.hpp"

namespace sinter::accuracy {

inline constexpr DType measured_dtypes[] = {DType::Float32, DType::Float64, DType::Float16, DType::BFloat16};

using Table = std::map<DType, Errors>;

/// Throws Error for a file that cannot be read or written.
Table read_table(const std::string& path);
void write_table(const std::string& path, const Table& table);
void write_page(const std::string& path, const Table& table, Depth depth);

/// "1.53 at 0.1, 2.5".
std::string shown(DType dtype, const Largest& error);

/// What is worse now than in the table, one line each, by more than processors and libraries may differ.
std::vector<std::string> worse(const Table& table, const Table& now);

}  // namespace sinter::accuracy
