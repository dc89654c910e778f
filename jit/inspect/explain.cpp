// A report as text.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include <sinter/jit/inspect.hpp>
#include <sinter/runtime/float_environment.hpp>
#include "kernel_words.hpp"
#include "report.hpp"
#include "words.hpp"

namespace sinter::inline v1::jit {

namespace {

using report::Report;

class Explanation {
 public:
  explicit Explanation(const Report& r) : report_(r) {}

  std::string text() {
    head();
    for (std::size_t k = 0; k < report_.kernels.size(); ++k) kernel(k);
    memory();
    temporaries();
    boundaries();
    communication();
    repeated();
    as_written();
    return std::move(text_);
  }

 private:
  template <class... A>
  void line(fmt::format_string<A...> format, A&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<A>(arguments)...);
    text_ += '\n';
  }
  /// The heading the first time, then blanks.
  void item(std::string& heading, std::string_view what) {
    line("    {:<10} {}", heading, what);
    heading.clear();
  }

  void head() {
    for (const report::Result& r : report_.results)
      line("{} {} on {}", name(r.dtype), to_string(r.shape), to_string(report_.device));
    // Composite operations count once, as the user wrote them.
    const report::Counts& c = report_.counts;
    const std::size_t shown = c.in_all == c.written ? c.fused : c.written - c.merged;
    line("{} in {}{}", counted(shown, "operation"), counted(report_.kernels.size(), "kernel"),
         report_.ranks > 0 ? fmt::format(" on each of {}", counted(static_cast<std::size_t>(report_.ranks), "rank"))
                           : "");
  }

  void kernel(std::size_t number) {
    const report::Kernel& k = report_.kernels[number];
    const bool numbered = report_.kernels.size() > 1;
    line("  {}{} over {}", numbered ? fmt::format("{}. ", number + 1) : "", k.name, to_string(k.shape));
    std::string heading = "computes";
    item(heading, computed(k));
    if (k.rows) rows(*k.rows);
    if (k.has_compiled_loops) line("    {:<10} {}", "loops", "compiled by the host's compiler");
    if (!k.library.empty()) line("    {:<10} {}", "by", k.library);
    heading = "reads";
    constexpr std::size_t shown = 10;
    const std::size_t listed = k.inputs.size() <= shown + 1 ? k.inputs.size() : shown;
    for (std::size_t i = 0; i < listed; ++i) item(heading, described(k.inputs[i]));
    if (listed < k.inputs.size()) item(heading, counted(k.inputs.size() - listed, "more array"));
    if (k.numbers > 0) item(heading, counted(k.numbers, "number") + ", passed at each launch");
    heading = "writes";
    for (const report::Output& o : k.outputs) item(heading, described(o));
    line("    {:<10} {}", "costs", cost(report_, k));
  }

  void rows(const RowReport& plan) {
    std::string heading = "rows";
    item(heading,
         fmt::format("{} of {}, {} over each", plan.rows, counted(static_cast<std::size_t>(plan.columns), "element"),
                     counted(static_cast<std::size_t>(plan.passes), "pass")));
    if (report_.runs_on_cpu) return;
    heading = "threads";
    item(heading, plan.scheme);
    if (plan.launches > 1)
      item(heading, fmt::format("{} launches, since blocks that share a row combine partial results", plan.launches));
  }

  void memory() {
    const double bytes = report_.bytes();
    const std::size_t kernels = report_.kernels.size();
    line("memory: {} read and written in {}{}", in_bytes(bytes), counted(kernels, "kernel"),
         report_.ranks > 0 ? ", by the first rank" : "");
    // A lower bound on the time with cold caches.
    if (report_.bandwidth > 0)
      line("        {} at {}/s memory bandwidth, if nothing is cached", in_time(bytes / report_.bandwidth),
           in_bytes(report_.bandwidth));
    if (report_.bandwidth > 0 && report_.arithmetic_rate > 0)
      line("        a float32 kernel is memory-bound up to {:.3g} operations per byte, at {} operations/s",
           report_.arithmetic_rate / report_.bandwidth, in_thousands(report_.arithmetic_rate));
    if (report_.eager_kernels <= kernels) return;
    line("        one kernel per operation would move {} in {}{}", in_bytes(report_.eager_bytes),
         counted(report_.eager_kernels, "kernel"),
         bytes > 0 ? fmt::format(", {:.1f} times as much", report_.eager_bytes / bytes) : "");
  }

  void temporaries() {
    if (report_.temporaries == 0) return line("temporaries: none");
    line("temporaries: {} ({}), values that one kernel stores for a later one", report_.temporaries,
         in_bytes(report_.temporary_bytes));
    if (report_.ranks == 0)
      line("        at most {} are allocated at the same time, with the results", in_bytes(report_.peak_bytes));
  }

  /// Groups boundaries by reason.
  void boundaries() {
    constexpr std::size_t shown = 12;
    std::vector<std::pair<std::string_view, std::vector<std::string>>> reasons;
    for (const Boundary& b : report_.boundaries) {
      auto known = std::ranges::find(reasons, b.reason, &decltype(reasons)::value_type::first);
      if (known == reasons.end()) known = reasons.insert(reasons.end(), {b.reason, {}});
      known->second.push_back(fmt::format("{} and {}", b.before + 1, b.after + 1));
    }
    for (auto& [reason, pairs] : reasons) {
      const std::size_t more = pairs.size() - std::min(pairs.size(), shown);
      pairs.resize(pairs.size() - more);
      line("not fused: kernels {}{}", fmt::join(pairs, ", "),
           more > 0 ? fmt::format(" and {}", counted(more, "more pair")) : "");
      line("        {}", reason);
    }
  }

  void communication() {
    if (report_.ranks == 0) return;
    if (report_.collectives.empty()) return line("communication: none, each rank uses only its own shards");
    double bytes = 0;
    for (const Collective& c : report_.collectives) bytes += bytes_of(c);
    line("communication: {} from each of {} ranks", in_bytes(bytes), report_.ranks);
    for (const Collective& c : report_.collectives)
      line("        {} of {} for {}: {}", collective_name(c),
           counted(static_cast<std::size_t>(c.elements), fmt::format("{} element", name(c.dtype))),
           c.values == 1 ? std::string(name(c.op)) : fmt::format("{} sums", c.values), in_bytes(bytes_of(c)));
  }

  /// Values that would be computed once if stored in a Tensor.
  void repeated() {
    constexpr std::size_t shown = 5;
    const auto& all = report_.repeated;
    for (std::size_t i = 0; i < std::min(all.size(), shown); ++i) {
      const report::Repeated& r = all[i];
      line("recomputed: {} in {}{}", r.name, counted(r.kernels, "kernel"),
           r.operations == 0 ? "" : ", with " + counted(r.operations, "operation") + " before it");
      line("        a Tensor of it would be computed once, for at most {} to write and to read {} times",
           in_bytes(r.bytes), r.kernels);
      line("        {}", exchange(report_, r));
    }
    if (all.size() > shown) line("        and {}", counted(all.size() - shown, "more value"));
  }

  void as_written() {
    const report::Counts& c = report_.counts;
    if (c.composite > 0)
      line("composite: {} composed of others, {} in total", counted(c.composite, "operation"), c.in_all);
    if (c.on_complex > 0)
      line("complex: {} on real and imaginary parts, {} in total", counted(c.on_complex, "operation"), c.in_all);
    if (c.in_all == c.fused && c.merged == 0 && c.contracted == 0) return;
    line("simplified: {} {}, {} left", counted(c.in_all, "operation"),
         c.in_all == c.written ? "as written" : "in total", c.fused);
    if (c.merged > 0) line("  {}, computed once", counted(c.merged, "common subexpression"));
    if (c.contracted > 0) line("  {} contracted to fma: x * y + z, rounded once", counted(c.contracted, "product"));
  }

  const Report& report_;
  std::string text_;
};

}  // namespace

std::string report_text(const report::Report& report) { return Explanation(report).text(); }

std::string explain(const Recorded& expression) {
  const runtime::DefaultFloatEnvironment floats;
  return report_text(report::report_of(expression));
}

}  // namespace sinter::inline v1::jit
