// The largest error of every operation of a dtype: operations with as many operands are evaluated together, and each
// result is held against the wider reference, or bit by bit against the plain one where an operation is exact.
#pragma once
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <jit/cpu/tile_program.hpp>
#include <sinter/runtime/device.hpp>
#include "arguments.hpp"

namespace sinter::accuracy {

/// What evaluates: the CPU's loops for an instruction set, or the CUDA text on a virtual GPU.
struct Target {
  std::string name;
  Device device;
  std::optional<jit::cpu::Isa> isa;
};
std::vector<Target> targets();

struct Largest {
  double ulps = 0;
  bool exact = false;          // no result is rounded but for the last step, if at all: compared bit by bit
  std::vector<Bits> operands;  // where
};
using Key = std::pair<Op, std::string>;  // of a target
using Errors = std::map<Key, Largest>;

/// The operations that take floats of this dtype, but for random numbers, choices and logic.
std::vector<Op> measured_ops(DType dtype);
/// Operands that are given; the others are the defaults.
std::size_t given_operands(Op op);
const std::vector<double>& defaults(Op op);

/// `more` are further operands; `only` names operations, where not all are measured.
Errors measure(DType dtype, Depth depth, const std::vector<Target>& on, const std::vector<std::vector<Bits>>& more = {},
               const std::vector<std::string>& only = {});

}  // namespace sinter::accuracy
