// The layout without Graphviz: kernels, and what they read and write, in layers from top to bottom.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "drawing.hpp"
#include "html.hpp"

namespace sinter::inline v1::jit::page {
namespace {

// In pixels. No monospaced font has wider characters.
constexpr double char_width = 7.0, line = 15, padding = 10, title = 20, gap = 24, between_rows = 56;

/// An edge from another unit.
struct Arrow {
  std::size_t unit;
  std::string label;
};

/// A kernel's box, or a node outside of boxes.
struct Unit {
  std::vector<std::size_t> nodes;
  int kernel = -1;
  int row = 0;
  double x = 0, y = 0, width = 0, height = 0;
  std::vector<Arrow> from;

  double middle() const noexcept { return x + width / 2; }
};

class Layout {
 public:
  explicit Layout(const Drawing& d) : drawing_(d), unit_of_(d.nodes.size()) {
    make_units();
    connect();
    for (Unit& u : units_) measure(u);
    choose_rows();
    place();
  }

  std::string svg() {
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
        "{1:.0f}\">\n",
        width_, height_);
    for (std::size_t u = 0; u < units_.size(); ++u)
      for (const Arrow& a : units_[u].from) out += curve(units_[a.unit], units_[u]);
    for (const Unit& u : units_) out += shape(u);
    for (const Unit& u : units_)
      for (const Arrow& a : u.from) out += label(units_[a.unit], u, a.label);
    return out + "</svg>";
  }

 private:
  void make_units() {
    std::vector<std::size_t> of_box(drawing_.boxes.size(), none);
    for (std::size_t i = 0; i < drawing_.nodes.size(); ++i) {
      const int kernel = drawing_.nodes[i].kernel;
      std::size_t own = kernel < 0 ? none : of_box[static_cast<std::size_t>(kernel)];
      if (own == none) {
        own = units_.size();
        units_.push_back({.nodes = {}, .kernel = kernel, .from = {}});
        if (kernel >= 0) of_box[static_cast<std::size_t>(kernel)] = own;
      }
      units_[own].nodes.push_back(i);
      unit_of_[i] = own;
    }
  }

  void connect() {
    for (const Drawing::Edge& e : drawing_.edges) {
      const std::size_t from = unit_of_[static_cast<std::size_t>(e.from)],
                        to = unit_of_[static_cast<std::size_t>(e.to)];
      std::vector<Arrow>& known = units_[to].from;
      if (from == to) continue;
      const auto arrow = std::ranges::find(known, from, &Arrow::unit);
      if (arrow == known.end())
        known.push_back({from, e.label});
      else if (!e.label.empty())
        arrow->label += (arrow->label.empty() ? "" : ", ") + e.label;
    }
  }

  void measure(Unit& u) const {
    std::size_t longest = u.kernel < 0 ? 0 : drawing_.boxes[static_cast<std::size_t>(u.kernel)].title.size();
    std::size_t lines = 0;
    for (const std::size_t n : u.nodes)
      for (const std::string& text : drawing_.nodes[n].lines) longest = std::max(longest, text.size()), ++lines;
    u.width = static_cast<double>(longest) * char_width + 2 * padding;
    u.height = static_cast<double>(lines) * line + 2 * padding + (u.kernel < 0 ? 0 : title);
  }

  /// The longest path from a source; a leaf is above its first reader. Values are computed before they are read, so
  /// there are no cycles, and each iteration settles at least one more unit.
  void choose_rows() {
    for (std::size_t pass = 0; pass < units_.size(); ++pass) {
      bool changed = false;
      for (Unit& u : units_)
        for (const Arrow& a : u.from)
          if (u.row <= units_[a.unit].row) u.row = units_[a.unit].row + 1, changed = true;
      if (!changed) break;
    }
    for (std::size_t f = 0; f < units_.size(); ++f) {
      if (!units_[f].from.empty()) continue;
      int first = -1;
      for (const Unit& u : units_)
        if (std::ranges::find(u.from, f, &Arrow::unit) != u.from.end())
          first = first < 0 ? u.row : std::min(first, u.row);
      if (first > 0) units_[f].row = first - 1;
    }
  }

  std::vector<std::vector<std::size_t>> rows() const {
    std::vector<std::vector<std::size_t>> all;
    for (std::size_t u = 0; u < units_.size(); ++u) {
      const auto row = static_cast<std::size_t>(units_[u].row);
      if (all.size() <= row) all.resize(row + 1);
      all[row].push_back(u);
    }
    return all;
  }

  /// Orders each layer by what its units read, and centers it below the widest one.
  void place() {
    std::vector<std::vector<std::size_t>> all = rows();
    double y = gap;
    for (std::vector<std::size_t>& row : all) {
      std::ranges::sort(row, {}, [&](std::size_t u) { return std::pair(wanted(units_[u]), u); });
      double x = gap, tallest = 0;
      for (const std::size_t u : row) {
        units_[u].x = x, units_[u].y = y;
        x += units_[u].width + gap;
        tallest = std::max(tallest, units_[u].height);
      }
      width_ = std::max(width_, x);
      y += tallest + between_rows;
    }
    height_ = y - between_rows + gap;
    for (const std::vector<std::size_t>& row : all) {
      const Unit& last = units_[row.back()];
      const double shift = (width_ - gap - last.x - last.width) / 2;
      for (const std::size_t u : row) units_[u].x += shift;
    }
  }
  double wanted(const Unit& u) const {
    if (u.from.empty()) return 0;
    const auto add = [&](double sum, const Arrow& a) { return sum + units_[a.unit].middle(); };
    return std::accumulate(u.from.begin(), u.from.end(), 0.0, add) / static_cast<double>(u.from.size());
  }

  static std::string curve(const Unit& from, const Unit& to) {
    const double y1 = from.y + from.height, y2 = to.y, bend = (y2 - y1) / 2;
    return fmt::format(
        "<g class=\"edge\"><path fill=\"none\" d=\"M{0:.1f},{1:.1f}C{0:.1f},{2:.1f} {3:.1f},{4:.1f} "
        "{3:.1f},{5:.1f}\"/><polygon points=\"{3:.1f},{5:.1f} {6:.1f},{7:.1f} {8:.1f},{7:.1f}\"/></g>\n",
        from.middle(), y1, y1 + bend, to.middle(), y2 - bend, y2, to.middle() - 4, y2 - 7, to.middle() + 4);
  }

  /// A place on its curve that is free of units and labels; none if there is no such place.
  std::string label(const Unit& from, const Unit& to, std::string_view text) {
    if (text.empty()) return "";
    const double width = static_cast<double>(text.size()) * char_width + 6;
    for (const double t : {0.5, 0.35, 0.65, 0.25, 0.75, 0.15, 0.85}) {
      // The curve's first two control points share an x, and so do the last two.
      const double x = from.middle() + (to.middle() - from.middle()) * t * t * (3 - 2 * t);
      const double y1 = from.y + from.height, bend = (to.y - y1) / 2;
      const double y = y1 + 3 * bend * t * (1 - t) * (1 - t) + 3 * bend * t * t * (1 - t) + 2 * bend * t * t * t;
      const Unit place{.nodes = {}, .x = x - width / 2, .y = y - line / 2, .width = width, .height = line, .from = {}};
      const auto meets = [&](const Unit& u) {
        return u.x < place.x + place.width && place.x < u.x + u.width && u.y < place.y + line &&
               place.y < u.y + u.height;
      };
      if (std::ranges::any_of(units_, meets) || std::ranges::any_of(labels_, meets)) continue;
      labels_.push_back(place);
      return fmt::format("<g class=\"edge\">{}</g>\n", text_at(x, y + 4, text));
    }
    return "";
  }

  static std::string rectangle(const Unit& u, double inset_top, double inset) {
    return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"6\"/>", u.x + inset,
                       u.y + inset_top, u.width - 2 * inset, u.height - inset_top - inset);
  }
  static std::string text_at(double x, double y, std::string_view text) {
    return fmt::format(
        "<text text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\" font-family=\"monospace\" "
        "font-size=\"11\">{}</text>",
        x, y, escaped(text));
  }

  std::string shape(const Unit& u) const {
    std::string out;
    const bool is_kernel = u.kernel >= 0;
    if (is_kernel) {
      const Drawing::Box& box = drawing_.boxes[static_cast<std::size_t>(u.kernel)];
      out += fmt::format("<g class=\"cluster kernel\"><a href=\"#kernel-{}\">{}{}</a></g>\n", box.number,
                         rectangle(u, 0, 0), text_at(u.middle(), u.y + 15, box.title));
    }
    const Drawing::Node& first = drawing_.nodes[u.nodes[0]];
    out += fmt::format("<g class=\"node {}\">{}", css_class(first.kind),
                       rectangle(u, is_kernel ? title : 0, is_kernel ? padding / 2 : 0));
    double y = u.y + (is_kernel ? title : 0) + padding + 8;
    for (const std::size_t n : u.nodes)
      for (const std::string& text : drawing_.nodes[n].lines) out += text_at(u.middle(), y, text), y += line;
    return out + "</g>\n";
  }

  static constexpr auto none = static_cast<std::size_t>(-1);
  const Drawing& drawing_;
  std::vector<Unit> units_;
  std::vector<std::size_t> unit_of_;  // by node
  std::vector<Unit> labels_;          // their boxes
  double width_ = 0, height_ = 0;
};

}  // namespace

std::string layered_svg(const Drawing& drawing) { return Layout(drawing).svg(); }

}  // namespace sinter::inline v1::jit::page
