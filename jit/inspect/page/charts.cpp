#include "charts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "../words.hpp"
#include "html.hpp"

namespace sinter::inline v1::jit::page {
namespace {

constexpr double left = 64, right = 620, top = 16, bottom = 300;

/// A logarithmic axis over whole powers of ten.
class Axis {
 public:
  Axis(double least, double most, double from, double to)
      : first_(std::floor(std::log10(least))),
        last_(std::max(std::ceil(std::log10(most)), first_ + 1)),
        from_(from),
        to_(to) {}

  double at(double value) const { return from_ + (to_ - from_) * (std::log10(value) - first_) / (last_ - first_); }
  double least() const { return std::pow(10, first_); }
  double most() const { return std::pow(10, last_); }
  /// At most as many labels as stay readable.
  std::vector<double> ticks() const {
    const double step = std::ceil((last_ - first_) / 8);
    std::vector<double> all;
    for (double t = first_; t <= last_; t += step) all.push_back(std::pow(10, t));
    return all;
  }

 private:
  double first_, last_, from_, to_;
};

/// Kernels whose points coincide.
struct Spot {
  double x, y;
  std::vector<std::size_t> kernels;
};

class Roofline {
 public:
  Roofline(const report::Report& r, std::vector<std::size_t> kernels)
      : report_(r),
        kernels_(std::move(kernels)),
        rates_(rates()),
        across_(least_intensity(), max_intensity(), left, right),
        up_(r.bandwidth * across_.least(), *rates_.rbegin(), bottom, top) {}

  std::string svg() const {
    std::string out = "<svg viewBox=\"0 0 640 350\" role=\"img\" aria-label=\"Roofline\">\n";
    for (const double t : across_.ticks()) out += tick(across_.at(t), t);
    for (const double t : up_.ticks()) out += level(up_.at(t), t);
    out += text((left + right) / 2, 340, "middle", "operations per byte");
    for (const double rate : rates_) out += roof(rate);
    for (const Spot& s : spots()) out += point(s);
    return out + "</svg>";
  }

 private:
  std::set<double> rates() const {
    std::set<double> all{report_.arithmetic_rate};
    for (const std::size_t k : kernels_) all.insert(report_.kernels[k].arithmetic_rate);
    return all;
  }
  double least_intensity() const {
    double least = *rates_.begin() / report_.bandwidth / 10;
    for (const std::size_t k : kernels_) least = std::min(least, report_.kernels[k].intensity());
    return least;
  }
  double max_intensity() const {
    double most = *rates_.rbegin() / report_.bandwidth * 5;
    for (const std::size_t k : kernels_) most = std::max(most, report_.kernels[k].intensity());
    return most;
  }

  static std::string text(double x, double y, std::string_view anchor, std::string_view what) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, escaped(what));
  }
  static std::string tick(double x, double value) {
    return fmt::format("<path class=\"grid\" d=\"M{0:.1f},{1}V{2}\"/>", x, top, bottom) +
           text(x, bottom + 18, "middle", fmt::format("{:g}", value));
  }
  static std::string level(double y, double value) {
    return fmt::format("<path class=\"grid\" d=\"M{0},{1:.1f}H{2}\"/>", left, y, right) +
           text(left - 8, y + 4, "end", in_thousands(value));
  }

  std::string roof(double rate) const {
    const double ridge = rate / report_.bandwidth;
    return fmt::format("<path class=\"roof\" d=\"M{:.1f},{:.1f}L{:.1f},{:.1f}H{}\"/>", across_.at(across_.least()),
                       up_.at(report_.bandwidth * across_.least()), across_.at(ridge), up_.at(rate), right);
  }

  /// Sorted by position, so that neighbors that coincide are merged.
  std::vector<Spot> spots() const {
    constexpr double apart = 30;
    std::vector<Spot> all;
    for (const std::size_t k : kernels_) {
      const report::Kernel& kernel = report_.kernels[k];
      const double reached = std::min(kernel.intensity() * report_.bandwidth, kernel.arithmetic_rate);
      all.push_back({across_.at(kernel.intensity()), up_.at(reached), {k + 1}});
    }
    std::ranges::sort(all, {}, [](const Spot& s) { return std::pair(s.x, s.kernels[0]); });
    std::vector<Spot> apart_ones;
    for (Spot& s : all) {
      const auto near = std::ranges::find_if(
          apart_ones, [&](const Spot& o) { return std::abs(o.x - s.x) < apart && std::abs(o.y - s.y) < apart; });
      if (near == apart_ones.end())
        apart_ones.push_back(std::move(s));
      else
        near->kernels.push_back(s.kernels[0]);
    }
    return apart_ones;
  }

  static std::string point(const Spot& s) {
    constexpr std::size_t shown = 2;
    const auto listed = std::span(s.kernels).first(std::min(shown, s.kernels.size()));
    const std::string more = s.kernels.size() > shown ? fmt::format(" +{}", s.kernels.size() - shown) : "";
    return fmt::format("<a href=\"#kernel-{}\"><circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\"/>{}</a>", s.kernels[0], s.x,
                       s.y, text(s.x, s.y + 20, "middle", fmt::format("{}{}", fmt::join(listed, ", "), more)));
  }

  const report::Report& report_;
  const std::vector<std::size_t> kernels_;
  const std::set<double> rates_;
  const Axis across_, up_;
};

}  // namespace

std::string roofline(const report::Report& report) {
  if (report.bandwidth <= 0 || report.arithmetic_rate <= 0) return "";
  std::vector<std::size_t> known;
  for (std::size_t k = 0; k < report.kernels.size(); ++k)
    if (report.kernels[k].arithmetic_rate > 0 && report.kernels[k].intensity() > 0) known.push_back(k);
  return known.empty() ? "" : Roofline(report, std::move(known)).svg();
}

std::string byte_bars(const report::Report& report) {
  constexpr std::size_t shown = 40;
  double most = 1;
  for (const report::Kernel& k : report.kernels) most = std::max(most, k.bytes());
  std::string out = "<ol class=\"bars\">\n";
  for (std::size_t i = 0; i < std::min(report.kernels.size(), shown); ++i) {
    const report::Kernel& k = report.kernels[i];
    out +=
        fmt::format("<li><a href=\"#kernel-{0}\">{1}</a> <span>{2}</span><div style=\"width:{3:.2f}%\"></div></li>\n",
                    i + 1, escaped(k.name), in_bytes(k.bytes()), 100 * k.bytes() / most);
  }
  out += "</ol>\n";
  if (report.kernels.size() > shown)
    out += fmt::format("<p>and {}</p>\n", counted(report.kernels.size() - shown, "more kernel"));
  return out;
}

}  // namespace sinter::inline v1::jit::page
