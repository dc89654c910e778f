#include "row_source.hpp"

#include <algorithm>

#include "prelude.hpp"
#include "row_loops.hpp"
#include "row_params.hpp"

namespace sinter::inline v1::jit::cuda {
namespace {

/// Blocks that one multiprocessor is to run at once. A kept row is unrolled, for which ptxas takes as many registers
/// as it may: where 64 suffice by far, 1024 threads are asked for. Long functions need more, and else it may spill.
int resident_blocks(const RowLayout& layout) {
  constexpr int enough_words = 40;
  const RowText& scheme = layout.scheme;
  const int lanes = layout.c.lanes;
  const RowTraits traits(layout.kernel);
  const int rows = scheme.across ? lanes : 1;
  const int largest = traits.part_bytes.empty() ? 0 : *std::ranges::max_element(traits.part_bytes) / 4;
  const int operands = static_cast<int>(layout.operands.size());
  const int of_rows = static_cast<int>(std::ranges::count_if(layout.operands, &RowOperand::per_row));
  const int words = scheme.steps * lanes * traits.kept_bytes / 4 + traits.live_words +
                    3 * (rows * std::max(1, largest) - 1) + 2 * rows * of_rows + 2 * std::max(0, operands - 4);
  return scheme.kept && !traits.calls_long_functions && words <= enough_words ? 1024 / scheme.block : 1;
}

/// Prints the entry: which rows a block handles, and the stages of each.
class EntryPrinter {
 public:
  explicit EntryPrinter(const RowLayout& layout)
      : layout_(layout), scheme_(layout.scheme), c_(layout.c), out_(layout), loops_(layout, out_) {}

  std::string text() {
    const std::string head =
        (layout_.row_caches() ? "extern __shared__ __align__(16) unsigned char row_cache[];\n\n" : "") +
        fmt::format("extern \"C\" __global__ void __launch_bounds__({}, {}) {}(const __grid_constant__ {} p) {{\n",
                    scheme_.block, resident_blocks(layout_), layout_.kernel.name, layout_.params);
    out_.open();
    if (layout_.shares_memory())
      for (int s = 0; s < layout_.stages(); ++s)
        out_.line("__shared__ sinter::Part{0} shared{0}[{1}];", s, scheme_.across ? c_.lanes * scheme_.block : 32);
    for (const RowOperand& a : layout_.operands)
      if (a.memory && !a.array)
        out_.line("{0}{1}* {2}{3}_rows = p.{3};", a.output ? "" : "const ", a.type, c_.aliased ? "" : "__restrict__ ",
                  a.name);
    if (layout_.faults.division) out_.line("bool fault = false;");
    if (layout_.faults.position) out_.line("bool outside = false;");
    threads();
    items();
    if (layout_.faults.division) out_.line("if (fault) sinter::report(p.fault, p.fault_code);");
    if (layout_.faults.position) out_.line("if (outside) sinter::report(p.fault, p.outside_code);");
    out_.close();
    return head + out_.take();
  }

 private:
  /// t: the number of the thread in its team.
  void threads() {
    if (scheme_.across)
      out_.line("const unsigned t = threadIdx.x / {0}, team = threadIdx.x % {0};", layout_.side);
    else if (scheme_.team > 0)
      out_.line("const unsigned t = threadIdx.x % {0}, team = threadIdx.x / {0};", scheme_.team);
    else
      out_.line("const unsigned t = threadIdx.x;");
    out_.line("const {} vectors = p.columns{};", layout_.index,
              scheme_.across || c_.lanes == 1 ? "" : fmt::format(" / {}", c_.lanes));
  }

  void items() {
    out_.no_unroll();
    out_.line("for (long long item = blockIdx.x; item < p.items; item += gridDim.x) {{");
    out_.open();
    row();
    for (int s = 0; s < layout_.stages(); ++s) stage(s);
    if (scheme_.split) {
      out_.line("if (p.pass == {}) {{", layout_.stages());
      out_.open();
    }
    write();
    if (scheme_.split) out_.close();
    if (layout_.shares_memory() && (layout_.stages() == 1 || scheme_.split)) out_.line("__syncthreads();");
    out_.close();
  }

  // ---- Rows

  /// Which row, where it is, and what is one for it.
  void row() {
    if (scheme_.split) out_.line("const long long tile = item / p.spread, split = item - tile * p.spread;");
    const std::string_view tile = scheme_.split ? "tile" : "item";
    if (!layout_.may_be_outside())
      out_.line("const long long row = {};", tile);
    else if (scheme_.across)
      out_.line("const long long row = ({} * {} + team){};", tile, layout_.side,
                c_.lanes > 1 ? fmt::format(" * {}", c_.lanes) : "");
    else
      out_.line("const long long row = {} * {} + team;", tile, scheme_.block / scheme_.team);
    if (layout_.may_be_outside()) out_.line("const bool here = row < p.rows;");
    const std::string_view all = layout_.may_be_outside() ? "here ? vectors : 0" : "vectors";
    if (scheme_.split) {
      out_.line("const {0} begin = static_cast<{0}>(split) * p.part, whole = {1};", layout_.index, all);
      out_.line("const {} end = begin + p.part < whole ? begin + p.part : whole;", layout_.index);
    } else {
      out_.line("const {} end = {};", layout_.index, all);
    }
    row_position();
    for (const RowOperand& a : layout_.operands)
      if (!a.array && !layout_.is_for_writing(a)) row_operand(a);
    out_.line("sinter::Row r{};", layout_.rows());
    for (const RowOperand& a : layout_.operands)
      if (!a.output && layout_.functions.is_row_input(a.number)) row_input(a);
    for (const RowOperand& a : layout_.operands)
      if (a.is_same_in_row()) same_in_row(a);
    follow(0);
    if (scheme_.kept) loops_.load_kept();
  }

  void row_position() {
    std::string rest = "row";
    for (int d = layout_.row_ndim - 1; d >= 1; --d) {
      out_.line("const unsigned long long q{0} = sinter::wide_divide({1}, p.row_divide{0});", d, rest);
      out_.line("const long long r{0} = {1} - q{0} * p.row_extent{0};", d, rest);
      rest = fmt::format("q{}", d);
    }
    out_.line("const long long r0 = {};", rest);
  }

  void row_operand(const RowOperand& a) {
    std::string offset;
    for (int d = 0; d < layout_.row_ndim; ++d)
      offset += fmt::format("{}r{} * p.{}_row{}", d ? " + " : "", d, a.name, d);
    if (a.memory)
      out_.line("{0}{1}* {2} = {2}_rows + ({3});", a.output ? "" : "const ", a.type, a.name, offset);
    else
      out_.line("const long long {0} = p.{0}_first + {1};", a.name, offset);
  }

  void row_input(const RowOperand& a) {
    const std::string step = scheme_.across ? fmt::format("l * {}", layout_.row_step(a)) : "0";
    out_.for_rows(true, a.memory ? fmt::format("r{{}}.{0} = {0}[{1}];", a.name, step)
                                 : fmt::format("r{{}}.{0} = {0} + {1};", a.name, step));
  }

  void same_in_row(const RowOperand& a) {
    if (scheme_.across) {
      const std::string type = RowVectors(layout_).type(a, c_.lanes);
      out_.line("{} {}_row{{}};", type, a.name);
      out_.line("if (here) {0}_row = sinter::{1}<{2}>({0}, {3});", a.name,
                a.memory ? "strided_lanes" : "position_lanes", type, layout_.row_step(a));
    } else if (a.memory) {
      out_.line("{} {}_row{{}};", a.type, a.name);
      out_.line("{0}{1}_row = *{1};", layout_.may_be_outside() ? "if (here) " : "", a.name);
    } else {
      out_.line("const long long {0}_row = {0};", a.name);
    }
  }

  /// What follows for the row when so many stages are over.
  void follow(int stages) {
    if (!layout_.functions.has_row_function(stages)) return;
    out_.for_rows(true, fmt::format("sinter::row{}(p{}, r{{}}{});", stages,
                                    stages > 0 ? fmt::format(", a{}{{}}", stages - 1) : "", layout_.fault_arguments()));
  }

  // ---- Stages

  void stage(int s) {
    if (scheme_.split) return shared_stage(s);
    loops_.pass(static_cast<std::size_t>(s));
    combine(s);
    follow(s + 1);
  }

  void combine(int s) {
    if (scheme_.across && layout_.side < scheme_.block)
      out_.line("sinter::combine_columns(a{0}, shared{0}, {1});", s, layout_.side);
    else if (!scheme_.across && scheme_.team == 0)
      out_.line("sinter::combine_block(a{0}, shared{0});", s);
    else if (!scheme_.across && scheme_.team > 1)
      out_.line("sinter::combine_lanes<{1}>(a{0});", s, scheme_.team);
  }

  /// One launch leaves the parts of a stage, one for each block of a row; later ones start from them.
  void shared_stage(int s) {
    const std::string at = scheme_.across ? "split * p.rows + row + l" : "row * p.splits + split";
    out_.line("if (p.pass == {}) {{", s);
    out_.open();
    loops_.pass(static_cast<std::size_t>(s));
    combine(s);
    out_.line("if (t == 0{}) {{", layout_.may_be_outside() ? " && here" : "");
    out_.open();
    out_.for_rows(false, fmt::format("p.parts{0}[{1}] = a{0}{{}};", s, at));
    out_.close();
    out_.close();
    out_.line("if (p.pass > {}) {{", s);
    out_.open();
    loops_.declare("Part", s, fmt::format("a{}", s));
    if (layout_.may_be_outside()) out_.line("if (here)");
    out_.line("for (long long split = t; split < p.splits; split += {}) {{", layout_.team);
    out_.open();
    out_.for_rows(false, fmt::format("sinter::add(a{0}{{}}, p.parts{0}[{1}]);", s, at));
    out_.close();
    combine(s);
    follow(s + 1);
    out_.close();
  }

  void write() {
    for (const RowOperand& a : layout_.operands)
      if (layout_.is_for_writing(a)) row_operand(a);
    if (layout_.passes.writes_elements) loops_.pass(layout_.passes.passes.size() - 1);
    if (!layout_.functions.has_row_outputs()) return;
    // The team has read what is one for the row before it may be written in place.
    if (c_.aliased && scheme_.across)
      out_.line("__syncthreads();");
    else if (c_.aliased && (scheme_.team != 1))
      out_.line("{}", scheme_.team == 0 ? "__syncthreads();" : "__syncwarp();");
    out_.line("if (t == 0{}{}) {{", layout_.may_be_outside() ? " && here" : "", scheme_.split ? " && split == 0" : "");
    out_.open();
    std::string outputs;
    for (const RowOperand& a : layout_.operands)
      if (a.output && a.per_row)
        outputs += fmt::format(", {}[{}]", a.name, scheme_.across ? fmt::format("l * {}", layout_.row_step(a)) : "0");
    out_.for_rows(false, fmt::format("sinter::finish(p, r{{}}{});", outputs));
    out_.close();
  }

  const RowLayout& layout_;
  const RowText& scheme_;
  const KernelClass& c_;
  RowLines out_;
  RowLoops loops_;
};

}  // namespace

std::string row_source(const Kernel& kernel, const KernelTraits& traits, const KernelClass& c) {
  const RowLayout layout(kernel, traits, c);
  const std::string own = "namespace sinter {\n\n" + layout.functions.structs() + "\n}  // namespace sinter\n\n" +
                          row_params(layout) + "\nnamespace sinter {\n\n" + layout.functions.functions() +
                          "}  // namespace sinter\n\n" + EntryPrinter(layout).text();
  return "namespace sinter {\n\n" + prelude_for(own) + "}  // namespace sinter\n\n" + own;
}

}  // namespace sinter::inline v1::jit::cuda
