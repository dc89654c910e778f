#include "source.hpp"

#include <fmt/format.h>

#include "expression.hpp"
#include "prelude.hpp"
#include "row_source.hpp"

namespace sinter::inline v1::jit::cuda {
namespace {

/// An output or input, as the kernel's loops see it.
struct Access {
  std::string name;  // y0, x3
  std::string type;  // in memory
  bool output;
  bool memory;
  bool array;  // read at computed places
  Pattern pattern;

  bool is_row() const noexcept { return pattern == Pattern::Rows; }
  bool is_uniform() const noexcept { return pattern == Pattern::Uniform && !array; }
  bool has_offset() const noexcept { return pattern != Pattern::Linear && pattern != Pattern::Uniform && !array; }
};

class Printer {
 public:
  Printer(const Kernel& kernel, const KernelTraits& traits, const KernelClass& c)
      : kernel_(kernel),
        c_(c),
        params_(kernel.name + "_params"),
        index_(c.wide ? "unsigned long long" : "unsigned"),
        offset_(c.wide ? "long long" : "int"),
        faults_(traits.faults) {
    for (std::size_t k = 0; k < traits.operands.size(); ++k) {
      const bool output = k < kernel.outputs.size();
      const KernelTraits::Access& a = traits.operands[k];
      accesses_.push_back({fmt::format("{}{}", output ? 'y' : 'x', output ? k : k - kernel.outputs.size()),
                           std::string(storage_type(a.dtype)), output, a.memory, a.array, c.patterns[k]});
    }
  }

  std::string text() {
    const std::string own = params() + "\nnamespace sinter {\n\n" + element_function(kernel_, params_) +
                            "\n}  // namespace sinter\n\n" + entry();
    return "namespace sinter {\n\n" + prelude_for(own) + "}  // namespace sinter\n\n" + own;
  }

 private:
  std::string params() const {
    std::string out = fmt::format("struct {} {{\n", params_);
    if (faults_.any()) out += "  unsigned* fault;\n";
    for (const Access& a : accesses_) {
      if (a.memory)
        out += fmt::format("  {}{}* {};\n", a.output ? "" : "const ", a.type, a.name);
      else
        out += fmt::format("  void* {};  // computed\n", a.name);
    }
    out += fmt::format("  alignas(8) {} count;\n", index_);
    for (int d = c_.ndim - 1; d >= 1; --d)
      out += fmt::format("  alignas(8) {} extent{};\n  alignas(8) sinter::{} divide{};\n", index_, d, divider(), d);
    for (const Access& a : accesses_)
      for (int d = 0; d < strides(a.pattern); ++d)
        out += fmt::format("  alignas(8) {} {}_stride{};\n", offset_, a.name, d);
    int scalars = 0;
    for (const Node& n : kernel_.graph.nodes())
      if (n.op == Op::scalar) out += fmt::format("  alignas(8) {} s{};\n", info(n.dtype).cuda_name, scalars++);
    for (const Access& a : accesses_)
      if (!a.memory) out += fmt::format("  long long {}_first;\n", a.name);
    if (faults_.division) out += "  alignas(8) unsigned fault_code;\n";
    if (faults_.position) out += "  alignas(8) unsigned outside_code;\n";
    return out + "};\n";
  }

  const char* divider() const noexcept { return c_.wide ? "WideDivider" : "Divider"; }

  int strides(Pattern p) const noexcept { return stride_count(p, c_.ndim); }

  /// One resident block is asked for: told nothing, ptxas may spill to have more of them.
  std::string entry() const {
    std::string out =
        fmt::format("extern \"C\" __global__ void __launch_bounds__({}, 1) {}(const __grid_constant__ {} p) {{\n",
                    block_threads, kernel_.name, params_);
    for (const Access& a : accesses_) {
      if (!a.memory || a.is_uniform()) continue;
      out += fmt::format("  {}{}* {}{} = p.{};\n", a.output ? "" : "const ", a.type, c_.aliased ? "" : "__restrict__ ",
                         a.name, a.name);
    }
    for (const Access& a : accesses_)
      if (a.is_uniform() || !a.memory)
        out += a.memory ? fmt::format("  const {} {} = *p.{};\n", a.type, a.name, a.name)
                        : fmt::format("  const long long {} = p.{}_first;\n", a.name, a.name);
    if (faults_.division) out += "  bool fault = false;\n";
    if (faults_.position) out += "  bool outside = false;\n";
    out += fmt::format(
        "  const {0} threads = {1}gridDim.x * blockDim.x, thread = {1}blockIdx.x * blockDim.x + threadIdx.x;\n", index_,
        c_.wide ? "1ull * " : "");
    if (c_.lanes > 1 && c_.ndim == 1) {
      out += fmt::format("  const {} vectors = p.count / {};\n", index_, c_.lanes);
      out += loop("thread", "vectors", c_.lanes) + loop(fmt::format("vectors * {} + thread", c_.lanes), "p.count", 1);
    } else {
      out += loop("thread", "p.count", c_.lanes);
    }
    if (faults_.division) out += "  if (fault) sinter::report(p.fault, p.fault_code);\n";
    if (faults_.position) out += "  if (outside) sinter::report(p.fault, p.outside_code);\n";
    return out + "}\n";
  }

  std::string loop(std::string_view first, std::string_view end, int lanes) const {
    std::string out = "#pragma unroll 1\n";
    out += fmt::format("  for ({} i = {}; i < {}; i += threads) {{\n", index_, first, end);
    out += coordinates(lanes);
    if (lanes == 1) return out + "    " + call(1) + "  }\n";
    for (const Access& a : accesses_) {
      if (a.memory && a.pattern == Pattern::RowUniform)
        out += fmt::format("    const {0} {1}_row = {1}[{1}_at];\n", a.type, a.name);
      if (!is_vector(a)) continue;
      const std::string type = fmt::format("sinter::Lanes<{}, {}>", a.type, lanes);
      out += a.output ? fmt::format("    {} {}_lanes;\n", type, a.name)
                      : fmt::format("    const {} {}_lanes = {};\n", type, a.name, vector(a, type));
    }
    out += fmt::format("#pragma unroll\n    for (int l = 0; l < {}; ++l)\n      {}", lanes, call(lanes));
    for (const Access& a : accesses_)
      if (a.output)
        out +=
            fmt::format("    {} = {}_lanes;\n", vector(a, fmt::format("sinter::Lanes<{}, {}>", a.type, lanes)), a.name);
    return out + "  }\n";
  }

  static bool is_vector(const Access& a) noexcept {
    return a.memory && !a.array && (a.pattern == Pattern::Linear || a.pattern == Pattern::Rows);
  }

  /// The vector of an operand, as an lvalue.
  static std::string vector(const Access& a, std::string_view type) {
    const std::string cast = fmt::format("reinterpret_cast<{}{}*>", a.output ? "" : "const ", type);
    return a.is_row() ? fmt::format("*{}({} + {}_at)", cast, a.name, a.name) : fmt::format("{}({})[i]", cast, a.name);
  }

  /// The position in the nest, where some operand asks for it, and each operand's offset.
  std::string coordinates(int lanes) const {
    std::string out;
    bool needed = false;
    for (const Access& a : accesses_) needed |= a.has_offset();
    if (!needed) return out;
    std::string rest = "i";
    for (int d = c_.ndim - 1; d >= 1; --d) {
      out += fmt::format("    const {0} q{1} = sinter::{2}({3}, p.divide{1});\n", index_, d,
                         c_.wide ? "wide_divide" : "divide", rest);
      out += fmt::format("    const {} c{} = {}({} - q{} * p.extent{});\n", offset_, d, as_offset(), rest, d, d);
      rest = fmt::format("q{}", d);
    }
    out += fmt::format("    const {} c0 = {}({});\n", offset_, as_offset(), rest);
    for (const Access& a : accesses_)
      if (a.has_offset()) out += fmt::format("    const {} {}_at = {};\n", offset_, a.name, offset(a, lanes));
    return out;
  }

  std::string as_offset() const { return c_.wide ? "static_cast<long long>" : "int"; }

  std::string offset(const Access& a, int lanes) const {
    std::string out;
    for (int d = 0; d < strides(a.pattern); ++d) {
      const bool inner = d == c_.ndim - 1 && lanes > 1;
      out += fmt::format("{}c{}{} * p.{}_stride{}", out.empty() ? "" : " + ", d,
                         inner ? fmt::format(" * {}", lanes) : "", a.name, d);
    }
    if (a.is_row()) out += fmt::format(" + c{}{}", c_.ndim - 1, lanes > 1 ? fmt::format(" * {}", lanes) : "");
    return out;
  }

  /// element(...) for lane l.
  std::string call(int lanes) const {
    std::string out = "sinter::element(p";
    for (const bool outputs : {false, true})
      for (const Access& a : accesses_)
        if (a.output == outputs) out += ", " + value(a, lanes);
    if (faults_.division) out += ", fault";
    if (faults_.position) out += ", outside";
    return out + ");\n";
  }

  std::string value(const Access& a, int lanes) const {
    if (a.pattern == Pattern::Uniform || a.array) return a.name;
    if (lanes > 1 && is_vector(a)) return a.name + "_lanes.at[l]";
    if (lanes > 1 && a.memory && a.pattern == Pattern::RowUniform) return a.name + "_row";
    const std::string at = position(a, lanes);
    return a.memory ? fmt::format("{}[{}]", a.name, at) : fmt::format("{} + {}", a.name, at);
  }

  /// Elements between an operand's first one and lane l.
  std::string position(const Access& a, int lanes) const {
    if (a.pattern == Pattern::Linear) return lanes > 1 ? fmt::format("i * {} + l", lanes) : "i";
    std::string at = a.name + "_at";
    if (lanes > 1 && a.pattern == Pattern::Strided) at += fmt::format(" + l * p.{}_stride{}", a.name, c_.ndim - 1);
    if (lanes > 1 && a.is_row()) at += " + l";
    return at;
  }

  const Kernel& kernel_;
  const KernelClass& c_;
  std::string params_;
  std::string_view index_, offset_;
  Faults faults_;
  std::vector<Access> accesses_;
};

}  // namespace

std::string source(const Kernel& kernel, const KernelTraits& traits, const KernelClass& c) {
  return kernel.rows ? row_source(kernel, traits, c) : Printer(kernel, traits, c).text();
}

}  // namespace sinter::inline v1::jit::cuda
