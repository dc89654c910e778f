// A report as a self-contained page without scripts; links to #kernel-1 show that kernel.
#include <fmt/format.h>

#include <algorithm>

#include <sinter/jit/inspect.hpp>
#include <sinter/runtime/float_environment.hpp>
#include "../../cuda/source.hpp"
#include "../../evaluate/evaluator.hpp"
#include "../kernel_words.hpp"
#include "../words.hpp"
#include "charts.hpp"
#include "drawing.hpp"
#include "graphviz.hpp"
#include "html.hpp"

namespace sinter::inline v1::embedded {
extern const std::string_view page_style;
}

namespace sinter::inline v1::jit {
namespace {

using page::escaped;
using report::Report;

class Page {
 public:
  /// `texts` are the kernels' CUDA sources, in order, without library calls; `words` is explain()'s text.
  Page(const Report& r, std::vector<runtime::KernelSource> texts, std::string words)
      : report_(r), texts_(std::move(texts)), words_(std::move(words)) {}

  std::string html() {
    head();
    plan();
    kernels();
    costs();
    section("words", "In words", fmt::format("<pre tabindex=\"0\">{}</pre>\n", escaped(words_)));
    out_ += "</main>\n</body>\n</html>\n";
    return std::move(out_);
  }

 private:
  template <class... A>
  void put(fmt::format_string<A...> format, A&&... arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<A>(arguments)...);
  }
  void section(std::string_view id, std::string_view title, std::string_view content) {
    put("<section id=\"{}\"><h2>{}</h2>\n{}</section>\n", id, title, content);
  }

  std::string results() const {
    constexpr std::size_t shown = 4;
    std::string all;
    for (std::size_t i = 0; i < std::min(report_.results.size(), shown); ++i)
      all += fmt::format("{}{} {}", i > 0 ? ", " : "", name(report_.results[i].dtype),
                         to_string(report_.results[i].shape));
    if (report_.results.size() > shown)
      all += fmt::format(" and {}", counted(report_.results.size() - shown, "more output"));
    return fmt::format("{} on {}", all, to_string(report_.device));
  }

  void head() {
    const std::string title = escaped(fmt::format("{} in {}", results(), counted(report_.kernels.size(), "kernel")));
    put("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n<style>\n",
        title);
    out_ += embedded::page_style;
    for (std::size_t k = 1; k <= std::min(report_.kernels.size(), max_marked); ++k)
      put("body:has(#kernel-{0}:target) [*|href=\"#kernel-{0}\"]>:is(polygon,rect){{stroke-width:3}}\n", k);
    put("</style>\n</head>\n<body>\n<header><h1>{}</h1>\n<p>{} read and written{}. {}</p></header>\n<main>\n", title,
        in_bytes(report_.bytes()), fused_share(), time());
  }
  std::string fused_share() const {
    if (report_.eager_kernels <= report_.kernels.size() || report_.bytes() <= 0) return "";
    return fmt::format("; one kernel per operation would move {}, {:.1f} times as much", in_bytes(report_.eager_bytes),
                       report_.eager_bytes / report_.bytes());
  }
  std::string time() const {
    if (report_.bandwidth <= 0) return "";
    return fmt::format("At {}/s memory bandwidth that takes {}, if nothing is cached.", in_bytes(report_.bandwidth),
                       in_time(report_.bytes() / report_.bandwidth));
  }

  void plan() {
    const page::Drawing with_steps = page::drawing_of(report_, page::Detail::Steps);
    std::string svg = page::graphviz_svg(page::dot_text(with_steps));
    if (svg.empty()) svg = page::layered_svg(page::drawing_of(report_, page::Detail::Kernels));
    std::string content =
        "<p class=\"legend\"><span class=\"leaf\">argument</span> <span class=\"step\">operation</span> "
        "<span class=\"repeated\">computed by several kernels</span> <span class=\"output\">output</span></p>\n";
    content += fmt::format(
        "<div class=\"area graph\" tabindex=\"0\" role=\"group\" aria-label=\"The plan as a graph\">{}</div>\n", svg);
    if (with_steps.left_out > 0)
      content += fmt::format("<p>{} not drawn; see the table.</p>\n",
                             counted(with_steps.left_out, "more kernel") + (with_steps.left_out == 1 ? " is" : " are"));
    section("plan", "Plan", content);
  }

  void kernels() {
    put("<section id=\"kernels\"><h2>Kernels</h2>\n<div class=\"area\" tabindex=\"0\"><table>\n<thead><tr><th>kernel"
        "<th>over<th>computes<th class=\"n\">reads<th class=\"n\">writes<th class=\"n\">operations per "
        "byte{}</tr></thead>\n"
        "<tbody>\n",
        knows_bounds_ ? "<th>bound by" : "");
    for (std::size_t k = 0; k < report_.kernels.size(); ++k) row(k);
    put("</tbody>\n</table></div>\n</section>\n<div class=\"panels\">\n");
    std::size_t next = 0;
    for (std::size_t k = 0; k < report_.kernels.size(); ++k) {
      const bool has_text = next < texts_.size() && report_.kernels[k].library.empty() &&
                            texts_[next].name.starts_with(report_.kernels[k].name);
      panel(k, has_text ? &texts_[next++].text : nullptr);
    }
    put("</div>\n");
  }

  static bool knows_bounds(const Report& r) {
    return std::ranges::any_of(
        r.kernels, [&](const report::Kernel& k) { return report::bound_of(r, k) != report::Bound::Unknown; });
  }

  void row(std::size_t number) {
    constexpr std::string_view bounds[] = {"<td>not known", "<td>memory", "<td>arithmetic"};
    const report::Kernel& k = report_.kernels[number];
    put("<tr><td><a href=\"#kernel-{0}\">{0}. {1}</a><td>{2}<td>{3}<td class=\"n\">{4}<td class=\"n\">{5}<td "
        "class=\"n\">{6:.3g}{7}</tr>\n",
        number + 1, escaped(k.name), escaped(to_string(k.shape)), escaped(computed(k)), in_bytes(k.bytes_read),
        in_bytes(k.bytes_written), k.intensity(),
        knows_bounds_ ? bounds[static_cast<std::size_t>(report::bound_of(report_, k))] : "");
  }

  void panel(std::size_t number, const std::string* text) {
    const report::Kernel& k = report_.kernels[number];
    put("<section class=\"panel\" id=\"kernel-{0}\" tabindex=\"-1\"><h2>{0}. {1}</h2>\n<dl>\n", number + 1,
        escaped(k.name));
    fact("over", to_string(k.shape));
    fact("computes", computed(k));
    if (k.has_compiled_loops) fact("loops", "compiled by the host's compiler");
    if (k.rows && !report_.runs_on_cpu && !k.rows->scheme.empty()) fact("threads", k.rows->scheme);
    if (!k.library.empty()) fact("by", k.library);
    for (const report::Input& i : k.inputs) fact("reads", fmt::format("{}; {}", described(i), in_bytes(i.bytes)));
    for (const report::Output& o : k.outputs) fact("writes", fmt::format("{}; {}", described(o), in_bytes(o.bytes)));
    fact("costs", cost(report_, k));
    put("</dl>\n");
    if (text)
      put("<pre tabindex=\"0\">{}</pre>\n", escaped(*text));
    else
      put("<p>{}</p>\n", k.library.empty() ? "No source: nothing to compute." : "Computed by a library: no source.");
    put("</section>\n");
  }
  void fact(std::string_view name, std::string_view what) { put("<dt>{}<dd>{}\n", name, escaped(what)); }

  void costs() {
    const std::string roof = page::roofline(report_);
    if (roof.empty()) return section("bytes", "Bytes of each kernel", page::byte_bars(report_));
    section(
        "roofline", "Roofline",
        fmt::format("<div class=\"area\" tabindex=\"0\" role=\"group\" aria-label=\"Roofline\">{}</div>\n<p>Operations "
                    "per second over operations per byte: the most that each kernel can reach, not a measurement. "
                    "Matrix products are not shown, since the rate of tensor cores is not known.</p>\n",
                    roof));
  }

  static constexpr std::size_t max_marked = 64;  // kernels whose boxes are highlighted when they are selected
  const Report& report_;
  const bool knows_bounds_ = knows_bounds(report_);
  const std::vector<runtime::KernelSource> texts_;
  const std::string words_;
  std::string out_;
};

}  // namespace

std::string explain_html(const Recorded& expression) {
  const runtime::DefaultFloatEnvironment floats;
  const Report report = report::report_of(expression);
  return Page(report, kernel_texts(expression, cuda::source), report_text(report)).html();
}

}  // namespace sinter::inline v1::jit
