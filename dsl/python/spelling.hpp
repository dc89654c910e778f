// The library's messages as Python users write and read them.
#pragma once
#include <string>
#include <string_view>

namespace sinter::python {

/// With Python's spelling of conversions, types and names: x.to(float32) for cast<float>(x).
std::string in_python(std::string_view message);
/// With the name of the function that was called in place of an inner one's, or before a message without a name.
std::string said_by(std::string_view function, const std::string& message);

}  // namespace sinter::python
