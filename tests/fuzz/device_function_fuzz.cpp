// Any bytes as the definition of a device function: it is read, or refused with one of our errors. What is read is
// written again and must read the same.
#include <cstdint>
#include <cstdlib>

#include <fmt/format.h>
#include <jit/functions/functions.hpp>
#include <jit/functions/source_check.hpp>
#include <sinter/dsl/device_function.hpp>
#include <sinter/dsl/parse.hpp>

using namespace sinter;

namespace {

void check(bool right) {
  if (!right) std::abort();
}

std::string written(const jit::FunctionSource& f) {
  std::string text = fmt::format("{} {}(", jit::c_type(f.result), f.name);
  for (const jit::FunctionSource::Parameter& p : f.parameters)
    text += fmt::format("{}{} {}", text.ends_with('(') ? "" : ", ", jit::c_type(p.dtype), p.name);
  return text + ") {" + f.body + "}";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const jit::FunctionSource read = detail::parse_function(text);
    const jit::FunctionSource again = detail::parse_function(written(read));
    check(again.name == read.name && again.parameters == read.parameters && again.body == read.body);
    jit::check_source(read);
    // A body that was accepted does not leave its function.
    check(jit::end_of_body(read.body + "}") == read.body.size() || read.body.find("//") != std::string::npos);
  } catch (const ParseError& e) {
    check(e.position() <= text.size());
  } catch (const Error&) {
  }
  return 0;
}
