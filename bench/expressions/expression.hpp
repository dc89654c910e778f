// The expressions by name: their properties and correct values.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace bench {

struct Expression {
  const char* name;
  const char* family;
  int operations;  // per element of the result, as written; operations done once per row do not count
  int bytes;       // per element: bytes read from or written to memory, in whole cache lines
  double (*value)(std::size_t i, std::size_t n);  // element i in double precision, independent of all libraries
  const char* dtype = "float32";                  // of the large operands and, except for uint8, of the result
  double tolerance() const;                       // of the result, for numbers around 1
};
const std::vector<Expression>& expressions();
const Expression& find_expression(const std::string& name);

/// What is wrong with a result; empty if nothing is. Checks at most 65,536 elements, spread over all.
std::string fault_of(const Expression& e, std::span<const float> result);

}  // namespace bench
