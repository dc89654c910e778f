// Compile-time integers from Boost.Hana: pow(x, 2_c), sum(x, 1_c).
#pragma once
#include <boost/hana/integral_constant.hpp>

namespace sinter::inline v1 {

/// `using namespace sinter::literals;` brings 2_c.
namespace literals {
using boost::hana::literals::operator""_c;
}

}  // namespace sinter::inline v1
