// Names that generated C may have.
#pragma once
#include <string>

namespace sinter::inline v1::jit {

/// A name that C and C++ accept, and that exported functions do not use themselves. Throws Error, which says that it is
/// `what`.
void check_name(const std::string& name, const std::string& what);

}  // namespace sinter::inline v1::jit
