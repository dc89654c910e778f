#include "row_loops.hpp"

#include <algorithm>

namespace sinter::inline v1::jit::cuda {

void RowLoops::load_kept() {
  bool any = false;
  for (const RowOperand& a : layout_.operands)
    if (layout_.is_kept(a)) {
      out_.line("{} {}_kept[{}];", vectors_.type(a, c_.lanes), a.name, scheme_.steps);
      if (scheme_.tail) out_.line("{} {}_tail[{}];", vectors_.type(a, 1), a.name, tail_steps());
      any = true;
    }
  if (!any) return;
  kept_loop("t", [&](int lanes, std::string_view where) {
    vectors_.coordinates(out_, lanes);
    for (const RowOperand& a : layout_.operands)
      if (layout_.is_kept(a))
        out_.line("{0}_{1}[k] = inside ? {2} : {3}{{}};", a.name, where, vectors_.fetched(a, lanes),
                  vectors_.type(a, lanes));
  });
}

int RowLoops::tail_steps() const noexcept {
  const int team = scheme_.team > 0 ? scheme_.team : 32;
  return (c_.lanes - 1 + team - 1) / team;
}

/// Loops over the vectors of a kept row, and over the elements after them.
template <class F>
void RowLoops::kept_loop(std::string_view thread, F body) {
  out_.unroll();
  out_.line("for (int k = 0; k < {}; ++k) {{", scheme_.steps);
  out_.open();
  out_.line("const {} c = {} + k * {};", layout_.index, thread, layout_.team);
  out_.line("const bool inside = c < end;");
  body(c_.lanes, "kept");
  out_.close();
  if (!scheme_.tail) return;
  tail_head();
  body(1, "tail");
  out_.close();
}

/// Up to where c and inside say which element it is.
void RowLoops::tail_head() {
  out_.unroll();
  out_.line("for (int k = 0; k < {}; ++k) {{", tail_steps());
  out_.open();
  out_.line("const {} c = vectors * {} + t + k * {};", layout_.index, c_.lanes, layout_.team);
  out_.line("const bool inside = {}c < p.columns{};", layout_.may_be_outside() ? "here && " : "",
            scheme_.split ? " && split == p.splits - 1" : "");
}

void RowLoops::declare(std::string_view type, int stage, std::string_view name) {
  if (!scheme_.across) return out_.line("sinter::{0}{1} {2} = sinter::{0}{1}::identity();", type, stage, name);
  out_.line("sinter::{}{} {}{};", type, stage, name, layout_.rows());
  out_.for_rows(false, fmt::format("{}{{}} = sinter::{}{}::identity();", name, type, stage));
}

void RowLoops::pass(std::size_t number) {
  const int stage = static_cast<int>(number);
  const std::string part = fmt::format("a{}", number);
  if (is_online(number)) {
    declare("Online", stage, fmt::format("o{}", number));
    looped_pass(number, part, false);
    if (scheme_.across) out_.line("sinter::Part{0} a{0}{1};", stage, layout_.rows());
    out_.for_rows(false, fmt::format("{1}a{0}{{}} = sinter::whole(o{0}{{}});", stage,
                                     scheme_.across ? "" : fmt::format("sinter::Part{} ", stage)));
    return;
  }
  const bool adds_long = reduces(number) && layout_.sums_exactly(stage);
  if (reduces(number)) {
    declare("Part", stage, part);
    if (adds_long) out_.line("sinter::Part{0} compensation{0}{1}{{}};", number, layout_.rows());
  }
  if (scheme_.kept)
    kept_pass(number, part, adds_long);
  else
    looped_pass(number, part, adds_long);
  if (adds_long) out_.for_rows(false, fmt::format("sinter::finalize(a{0}{{}}, compensation{0}{{}});", number));
}

void RowLoops::kept_pass(std::size_t number, const std::string& part, bool adds_long) {
  const bool later = number > 0 && !reduces(number);
  if (later) out_.line("const unsigned again = sinter::again(t);");
  kept_loop(later ? "again" : "t", [&](int lanes, std::string_view where) {
    const bool guarded = layout_.functions.must_be_inside() || where == "tail";
    if (guarded) out_.line("if (inside) {{"), out_.open();
    vector(number, {lanes, fmt::format("_{}[k]", where), "_in", !guarded, part, adds_long});
    if (guarded) out_.close();
  });
}

void RowLoops::looped_pass(std::size_t number, const std::string& part, bool adds_long) {
  out_.line("{{");
  out_.open();
  out_.line("{} base = {}t;", layout_.index, scheme_.split ? "begin + " : "");
  if (scheme_.steps > 1) batches(number, part, adds_long);
  out_.no_unroll();
  out_.line("for (; base < end; base += {}) {{", layout_.team);
  out_.open();
  out_.line("const {} c = base;", layout_.index);
  vector(number, {c_.lanes, "", "_in", false, part, adds_long});
  out_.close();
  if (scheme_.tail) {
    tail_head();
    out_.line("if (inside) {{");
    out_.open();
    vector(number, {1, "", "_in", false, part, adds_long});
    out_.close();
    out_.close();
  }
  out_.close();
}

/// Whether a pass asks for the place of a vector that has been read.
bool RowLoops::needs_c(std::size_t number) const {
  if (!reduces(number) || c_.reduced > 1) return true;
  const bool computes = std::ranges::any_of(
      layout_.operands, [&](const RowOperand& a) { return layout_.reads_here(a, number) && !a.memory; });
  return computes || layout_.functions.gives_position(static_cast<int>(number));
}

/// As many vectors at once as hide what memory takes.
void RowLoops::batches(std::size_t number, const std::string& part, bool adds_long) {
  out_.no_unroll();
  out_.line("for (; base + {} * {} < end; base += {} * {}) {{", scheme_.steps - 1, layout_.team, scheme_.steps,
            layout_.team);
  out_.open();
  reads_.batch(number);
  if (is_online(number)) {
    online_batch(number);
  } else {
    if (adds_long) declare("Part", static_cast<int>(number), "batch");
    batch_loop(number, [&] { vector(number, {c_.lanes, "", "_in[k]", false, adds_long ? "batch" : part, false}); });
    if (adds_long)
      out_.for_rows(false, fmt::format("sinter::add_long({0}{{}}, compensation{1}{{}}, batch{{}});", part, number));
  }
  out_.close();
}

template <class F>
void RowLoops::batch_loop(std::size_t number, F body) {
  out_.unroll();
  out_.line("for (int k = 0; k < {}; ++k) {{", scheme_.steps);
  out_.open();
  if (needs_c(number)) out_.line("const {} c = base + k * {};", layout_.index, layout_.team);
  body();
  out_.close();
}

/// The pivots of all vectors first, so that sums about them move once at most.
void RowLoops::online_batch(std::size_t number) {
  const Place place{c_.lanes, "", "_in[k]", false, "", false};
  const std::string l = scheme_.across ? "[l]" : "";
  const auto gather = [&](const std::string& type, const std::string& name, const Values& values) {
    declare(type, static_cast<int>(number), name);
    batch_loop(number, [&] {
      reads_.vector(number, place.lanes, place.read != "_in", false);
      each_value(number, place, values,
                 [&](const std::string& v) { return fmt::format("sinter::add({}{}, {});", name, l, v); });
    });
  };
  gather("Pivot", "batch", pivots(number, place));
  const int elements = scheme_.steps * (scheme_.across ? 1 : c_.lanes);
  out_.for_rows(false, fmt::format("sinter::advance(o{}{{}}, batch{{}}, {});", number, elements));
  gather("Centered", "close", centered(number));
  out_.for_rows(false, fmt::format("sinter::add(o{}{{}}, close{{}});", number));
}

/// What one vector adds to the pass's part, or the outputs that it is.
void RowLoops::vector(std::size_t number, const Place& place) {
  reads_.vector(number, place.lanes, place.read != "_in", place.may_be_outside);
  if (is_online(number))
    add_online(number, place);
  else if (reduces(number))
    add_vector(number, place);
  else
    write_vector(number, place);
}

/// p, r, and the values of lane l.
std::string RowLoops::arguments(std::size_t number, const Place& place) const {
  std::string out = fmt::format("p, r{}", scheme_.across ? "[l]" : "");
  for (const RowOperand& a : layout_.operands) {
    if (!layout_.reads(a, number)) continue;
    if (a.is_same_in_row())
      out += fmt::format(", {}_row{}", a.name, scheme_.across ? ".at[l]" : "");
    else
      out += fmt::format(", {}{}.at[l]", a.name, layout_.is_kept(a) ? place.kept : a.memory ? place.read : "_at");
  }
  return out;
}

/// Where in its row the element of lane l is, where the stage asks for it.
std::string RowLoops::position(std::size_t number, const Place& place) const {
  if (!layout_.functions.gives_position(static_cast<int>(number))) return "";
  const bool vectors_of_row = place.lanes > 1 && !scheme_.across;
  return fmt::format(", c{}", vectors_of_row ? fmt::format(" * {}u + l", place.lanes) : "");
}

RowLoops::Values RowLoops::values(std::size_t number, const Place& place) const {
  return {fmt::format("Part{}", number), fmt::format("stage{}", number), position(number, place)};
}
RowLoops::Values RowLoops::pivots(std::size_t number, const Place& place) const {
  return {fmt::format("Pivot{}", number), fmt::format("pivot{}", number), position(number, place)};
}
RowLoops::Values RowLoops::centered(std::size_t number) const {
  return {fmt::format("Centered{}", number), fmt::format("centered{}", number),
          fmt::format(", o{}{}", number, scheme_.across ? "[l]" : "")};
}

/// What is `added` for each lane, where lanes are rows, or for the sum of all lanes.
template <class F>
void RowLoops::each_value(std::size_t number, const Place& place, const Values& values, F added) {
  const std::string one = fmt::format("sinter::{}({}{}{})", values.function, arguments(number, place), values.more,
                                      layout_.fault_arguments());
  if (place.lanes == 1 || scheme_.across) return out_.for_lanes(place.lanes, added(one));
  out_.line("sinter::{} lane[{}];", values.type, place.lanes);
  out_.for_lanes(place.lanes, fmt::format("lane[l] = {};", one));
  out_.line("{}", added("sinter::in_pairs(lane)"));
}

void RowLoops::add_vector(std::size_t number, const Place& place) {
  each_value(number, place, values(number, place), [&](const std::string& value) {
    const std::string safe =
        place.may_be_outside ? fmt::format("inside ? {} : sinter::Part{}::identity()", value, number) : value;
    const std::string_view l = scheme_.across ? "[l]" : "";
    return place.adds_long
               ? fmt::format("sinter::add_long({}{}, compensation{}{}, {});", place.into, l, number, l, safe)
               : fmt::format("sinter::add({}{}, {});", place.into, l, safe);
  });
}

void RowLoops::add_online(std::size_t number, const Place& place) {
  const std::string o = fmt::format("o{}{}", number, scheme_.across ? "[l]" : "");
  const int elements = scheme_.across ? 1 : place.lanes;
  out_.line("{{");
  out_.open();
  each_value(number, place, pivots(number, place),
             [&](const std::string& v) { return fmt::format("sinter::advance({}, {}, {});", o, v, elements); });
  out_.close();
  out_.line("{{");
  out_.open();
  each_value(number, place, centered(number),
             [&](const std::string& v) { return fmt::format("sinter::add({}, {});", o, v); });
  out_.close();
}

void RowLoops::write_vector(std::size_t number, const Place& place) {
  const auto is_written = [](const RowOperand& a) { return a.output && !a.per_row; };
  std::string outputs;
  for (const RowOperand& a : layout_.operands) {
    if (!is_written(a)) continue;
    out_.line("{} {}_out;", vectors_.type(a, place.lanes), a.name);
    outputs += fmt::format(", {}_out.at[l]", a.name);
  }
  out_.for_lanes(place.lanes,
                 fmt::format("sinter::element({}{}{});", arguments(number, place), outputs, layout_.fault_arguments()));
  if (place.may_be_outside) out_.line("if (inside) {{"), out_.open();
  for (const RowOperand& a : layout_.operands) {
    if (!is_written(a)) continue;
    if (place.lanes > 1)
      out_.line("{} = {}_out;", vectors_.at(a, place.lanes), a.name);
    else
      out_.line("{}[{}] = {}_out.at[0];", a.name, vectors_.offset(a, place.lanes), a.name);
  }
  if (place.may_be_outside) out_.close();
}

}  // namespace sinter::inline v1::jit::cuda
