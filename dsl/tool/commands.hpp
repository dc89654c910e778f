// The commands of `sinter`. Each returns the exit status.
#pragma once
#include "command_line.hpp"

namespace sinter::tool {

int export_kernels(const Parsed& given);
int run_expression(const Parsed& given);
int explain_expression(const Parsed& given);
int bench_expression(const Parsed& given);
int look_after_cache(const Parsed& given);
int list_devices(const Parsed& given);

}  // namespace sinter::tool
