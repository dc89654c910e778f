// The whole library: tensors, expressions, evaluation, devices, files.
#pragma once
#if __cplusplus < 202002L
#error "Sinter needs C++20: compile with -std=c++20"
#else
// First, so that an error in an operator or an index is reported only two includes away from the user's file.
#include <sinter/dsl/axis.hpp>
#include <sinter/dsl/indexing_methods.hpp>
#include <sinter/dsl/order_methods.hpp>
#include <sinter/dsl/reduction_methods.hpp>
#include <sinter/dsl/view.hpp>

#include <sinter/dsl/functions.hpp>
#include <sinter/dsl/operators.hpp>
#include <sinter/dsl/scatter.hpp>

#include <sinter/dsl/in_place.hpp>

#include <sinter/dsl/tensor.hpp>

#include <sinter/dsl/evaluate.hpp>

#include <sinter/dsl/constants.hpp>
#include <sinter/dsl/device_function.hpp>
#include <sinter/dsl/dlpack.hpp>
#include <sinter/dsl/einsum.hpp>
#include <sinter/dsl/export.hpp>
#include <sinter/dsl/factory.hpp>
#include <sinter/dsl/files.hpp>
#include <sinter/dsl/from_blob.hpp>
#include <sinter/dsl/function.hpp>
#include <sinter/dsl/grad.hpp>
#include <sinter/dsl/indexing.hpp>
#include <sinter/dsl/join.hpp>
#include <sinter/dsl/lazy.hpp>
#include <sinter/dsl/let.hpp>
#include <sinter/dsl/loss.hpp>
#include <sinter/dsl/mask.hpp>
#include <sinter/dsl/matmul.hpp>
#include <sinter/dsl/normalize.hpp>
#include <sinter/dsl/parse.hpp>
#include <sinter/dsl/print.hpp>
#include <sinter/dsl/random.hpp>
#include <sinter/dsl/reduce.hpp>
#include <sinter/dsl/scan.hpp>
#include <sinter/dsl/sharded.hpp>
#include <sinter/dsl/sort.hpp>
#include <sinter/jit/cache.hpp>
#include <sinter/jit/cpu_jit.hpp>
#include <sinter/runtime/memory.hpp>
#include <sinter/runtime/precision.hpp>
#include <sinter/runtime/stream.hpp>
#endif
