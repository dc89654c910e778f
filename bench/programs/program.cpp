#include "program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace bench {
namespace {

constexpr const char* of_one[] = {
    "{0} * 2 + 1",         "relu({0})",           "abs({0}) - 1",        "{0} * {0}",
    "floor({0} * 4)",      "exp(-abs({0}))",      "tanh({0})",           "erf({0})",
    "gelu({0})",           "sigmoid({0})",        "log1p(abs({0}))",     "lgamma(abs({0}) + 1)",
    "digamma({0}**2 + 1)", "(abs({0}) + 1)**1.7", "sin({0}) * cos({0})", "sqrt(abs({0}))",
    "silu({0})",           "{0}.to(bfloat16)",    "{0}.to(float16) * 3", "{0}.to(float64)",
    "{0}.to(float32)"};
constexpr const char* of_two[] = {"{0} + {1}",          "{0} - {1}",       "{0} * {1}",
                                  "maximum({0}, {1})",  "atan2({0}, {1})", "{0} / (abs({1}) + 1)",
                                  "hypot({0}, {1} + 1)"};
constexpr const char* of_three[] = {"where({0} > {1}, {0}, {2})", "{0} * {1} + {2}", "lerp({0}, {1}, sigmoid({2}))"};
constexpr const char* reductions[] = {"sum", "mean", "amax", "amin", "var", "logsumexp"};
constexpr const char* norms[] = {"softmax({0}, -1)", "log_softmax({0}, -1)", "softmax({0}, 0)", "layer_norm({0}, {1})",
                                 "rms_norm({0}, {1})"};

}  // namespace

Program::Program(unsigned seed) : random_(seed) {
  add_tensors();
  for (std::size_t i = 3 + draw(14); i > 0; --i) add_operation();
  choose_results();
}

void Program::declare(const std::string& name, const Extents& extents, const char* dtype) {
  declarations_.push_back(fmt::format("{}: {}[{}]", name, dtype, fmt::join(extents, ", ")));
}

void Program::add_floats(const std::string& name, const Extents& extents, double scale) {
  const sn::Shape shape(std::span<const std::int64_t>{extents});
  const sn::Tensor<float> made = ((sn::arange<float>(shape.numel()) * 0.37f).sin() * scale).reshape(shape);
  declare(name, extents, "f32");
  tensors_.emplace_back(name, made);
}

void Program::add_indices(const std::string& name, const Extents& extents, std::int64_t below) {
  const sn::Shape shape(std::span<const std::int64_t>{extents});
  const sn::Tensor<std::int64_t> made = (sn::arange<std::int64_t>(shape.numel()) * 7919 % below).reshape(shape);
  declare(name, extents, "i64");
  tensors_.emplace_back(name, made);
}

/// 10^4 to 4 * 10^6 elements, in a few long or many short rows.
void Program::add_tensors() {
  const double elements = std::pow(10, 4 + 2.6 * static_cast<double>(draw(1000)) / 1000);
  constexpr std::int64_t lengths[] = {16, 64, 200, 256, 1000, 4096, 20'000, 300'000};
  do columns_ = lengths[draw(std::size(lengths))];
  while (columns_ * 4 > static_cast<std::int64_t>(elements));
  rows_ = static_cast<std::int64_t>(elements) / columns_;
  const Extents matrix{rows_, columns_};
  for (const char* name : {"x", "y"}) add_floats(name, matrix, 2), values_.push_back({name, matrix});
  add_floats("v", {columns_}, 1), values_.push_back({"v", {columns_}});
  add_floats("c", {rows_, 1}, 1), values_.push_back({"c", {rows_, 1}});
  values_.push_back({"noise", matrix});
  declare("noise", matrix, "random f32");
  add_indices("ids", {rows_}, 500);
  if (columns_ > 1000) return;
  add_floats("w", {columns_, columns_}, 1 / std::sqrt(static_cast<double>(columns_)));
  add_floats("table", {500, columns_}, 1);
}

/// The newest values are read most.
Program::Value& Program::recent() {
  const std::size_t count = values_.size(), back = std::min(draw(count), draw(count));
  return values_[count - 1 - (draw(2) ? std::min<std::size_t>(back, 2) : back)];
}
/// A value that broadcasts to these extents.
Program::Value& Program::fitting(const Extents& extents) {
  const auto fits = [&](const Value& v) {
    if (v.extents.size() > extents.size()) return false;
    for (std::size_t i = 1; i <= v.extents.size(); ++i)
      if (v.extents[v.extents.size() - i] != 1 && v.extents[v.extents.size() - i] != extents[extents.size() - i])
        return false;
    return true;
  };
  for (;;)
    if (Value& v = recent(); fits(v)) return v;
}
const std::string& Program::read(Value& value) {
  value.is_read = true;
  return value.name;
}

void Program::add_line(const std::string& text, const Extents& extents) {
  const std::string name(1, static_cast<char>('A' + lines_.size()));
  lines_.push_back({name, sn::ParsedExpression(text)});
  values_.push_back({name, extents});
}

void Program::add_operation() {
  constexpr int elementwise = 60, reduction = 12, norm = 10, product = 6, gather = 6;
  auto which = static_cast<int>(draw(100));
  if ((which -= elementwise) < 0) return add_elementwise();
  if ((which -= reduction) < 0) return add_reduction();
  if ((which -= norm) < 0) return add_norm();
  if ((which -= product) < 0) return add_product();
  if ((which -= gather) < 0) return add_gather();
  add_view();
}

void Program::add_elementwise() {
  Value& first = recent();
  const Extents extents = first.extents;
  const std::size_t arity = 1 + draw(3);
  const std::string second = arity > 1 ? read(fitting(extents)) : "", third = arity > 2 ? read(fitting(extents)) : "";
  const char* text = arity == 1 ? one_of(of_one) : arity == 2 ? one_of(of_two) : one_of(of_three);
  add_line(fmt::format(fmt::runtime(text), read(first), second, third), extents);
}

void Program::add_reduction() {
  Value& of = recent();
  Extents extents = of.extents;
  const std::size_t axis = draw(extents.size());
  extents[axis] = 1;
  add_line(fmt::format("{}({}, axis={}, keepdim=True)", one_of(reductions), read(of), axis), extents);
}

void Program::add_norm() {
  Value& of = recent();
  const Extents extents = of.extents;
  add_line(fmt::format(fmt::runtime(one_of(norms)), read(of), extents.back()), extents);
}

void Program::add_product() {
  Value& of = recent();
  if (columns_ > 1000 || of.extents != Extents{rows_, columns_}) return add_elementwise();
  const Extents extents = of.extents;
  add_line(fmt::format("matmul({}.to(float32), w)", read(of)), extents);
}

void Program::add_gather() {
  if (columns_ > 1000) return add_elementwise();
  add_line("table[ids]", {rows_, columns_});
}

void Program::add_view() {
  Value& of = recent();
  Extents extents = of.extents;
  if (draw(2) || extents.back() < 2) return add_line(fmt::format("flip({}, -1)", read(of)), extents);
  --extents.back();
  add_line(fmt::format("{0}[..., 1:] - {0}[..., :-1]", read(of)), extents);
}

/// What nothing reads, and sometimes another value. Only the last two are returned if there are many; lines that no
/// result needs are dropped.
void Program::choose_results() {
  const std::size_t given = values_.size() - lines_.size();
  for (std::size_t i = values_.size(); i-- > given && results_.size() < 3;)
    if (!values_[i].is_read || draw(8) == 0) results_.push_back(values_[i].name);
  const auto need = [&](const std::string& name) {
    for (Line& line : lines_) line.is_needed |= line.to == name;
  };
  std::ranges::for_each(results_, need);
  for (std::size_t i = lines_.size(); i-- > 0;)
    if (lines_[i].is_needed) std::ranges::for_each(lines_[i].from.names(), need);
  std::erase_if(lines_, [](const Line& line) { return !line.is_needed; });
}

std::vector<sn::jit::LazyRef> Program::record() const {
  std::vector<sn::NamedOperand> known = tensors_;
  const sn::Tensor<float> x(sn::Lazy<float>(tensors_[0].value.node()));
  known.emplace_back("noise", sn::rand_like<float>(x * 1.0f));
  for (const Line& line : lines_) known.emplace_back(line.to, line.from(known));
  std::vector<sn::jit::LazyRef> found;
  for (const std::string& name : results_)
    found.push_back(std::ranges::find(known, name, &sn::NamedOperand::name)->value.node());
  return found;
}

std::string Program::text() const {
  std::string all = fmt::format("{}\n", fmt::join(declarations_, ", "));
  for (const Line& line : lines_) all += fmt::format("{} = {}\n", line.to, line.from.text());
  return all + fmt::format("return {}\n", fmt::join(results_, ", "));
}

}  // namespace bench
