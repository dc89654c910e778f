// How products are measured: "case/implementation/extents", for each shape passed to main.
#pragma once
#include <string>

#include "../expressions/suite.hpp"
#include "cases.hpp"

namespace bench {

/// Calls `measure(case, shape, end of the name)` for each case of each shape.
template <class Measure>
void for_each_product(const Measure& measure) {
  for (const std::string& text : options().shapes) {
    const ProductShape of = shape_of(text);
    for (const ProductCase& c : product_cases())
      if (of.kind == c.kind) measure(c, of, "/" + of.extents());
  }
}

/// Warms up, and checks the first and the last result, each after poison.
template <class Subject>
void measure_product(benchmark::State& state, Subject& subject, const ProductCase& c, const ProductShape& of) {
  subject.run();
  subject.poison();
  subject.run();
  std::string fault = fault_of(c, Subject::narrow, of, subject.read());
  subject.poison();
  repeat(state, subject);
  if (fault.empty()) fault = fault_of(c, Subject::narrow, of, subject.read());
  if (!fault.empty()) state.SkipWithError(fault.c_str());
  state.SetLabel(std::string(c.name) + (Subject::narrow ? " bfloat16" : " float32"));
  state.counters["operations"] = c.operations(of);
}

/// Loads the library that multiplies matrices on this device and describes it in the context. False if it is missing;
/// the context then holds the reason.
bool open_library_of_products();

}  // namespace bench
