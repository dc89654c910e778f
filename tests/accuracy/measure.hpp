// The largest error of every operation of a dtype. Operations with equal numbers of operands are evaluated together;
// each result is compared with the wider reference, or bit for bit with the plain one if an operation is exact.
#pragma once
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <jit/cpu/isa.hpp>
#include <sinter/runtime/device.hpp>
#include "arguments.hpp"

namespace sinter::accuracy {

/// What evaluates: the CPU's loops for an instruction set, or the CUDA source on a virtual GPU.
struct Target {
  std::string name;
  Device device;
  std::optional<jit::cpu::Isa> isa;
};
std::vector<Target> targets();

struct Largest {
  double ulps = 0;
  bool exact = false;          // at most the last step rounds, so results are compared bit for bit
  std::vector<Bits> operands;  // where it occurs
};
using Key = std::pair<Op, std::string>;  // on a target
using Errors = std::map<Key, Largest>;

/// The operations on floats of this dtype, except random numbers, choices and logic.
std::vector<Op> measured_ops(DType dtype);
/// Number of operands to pass; the others have defaults.
std::size_t given_operands(Op op);
const std::vector<double>& defaults(Op op);

/// `more` holds further operands; `only`, unless empty, names the operations to measure.
Errors measure(DType dtype, Depth depth, const std::vector<Target>& on, const std::vector<std::vector<Bits>>& more = {},
               const std::vector<std::string>& only = {});

}  // namespace sinter::accuracy
