// The expressions by name: what a result says of them, and what is right.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace bench {

struct Expression {
  const char* name;
  const char* family;
  int operations;  // for each element of the result, as written: what is done once for a row is not counted
  int bytes;       // for each element, that must cross memory: read or written, whole cache lines
  double (*value)(std::size_t i, std::size_t n);  // element i in double precision, independent of all libraries
  const char* dtype = "float32";                  // of the large operands; but for uint8, of the result too
  double tolerance() const;                       // of the result, for numbers around 1
};
const std::vector<Expression>& expressions();
const Expression& find_expression(const std::string& name);

/// What is wrong with a result, empty if nothing is. Of many elements it looks at 65,536 that are spread over all.
std::string fault_of(const Expression& e, std::span<const float> result);

}  // namespace bench
