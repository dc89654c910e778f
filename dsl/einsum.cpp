#include <sinter/dsl/einsum.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include <runtime/different_devices.hpp>
#include <runtime/text.hpp>
#include <sinter/dsl/matmul.hpp>
#include <sinter/dsl/reduce.hpp>
#include <sinter/dsl/view.hpp>
#include <sinter/runtime/error.hpp>
#include "files/excerpt.hpp"
#include "text/text_range.hpp"

namespace sinter::inline v1::detail {
namespace {

using runtime::is_digit;

/// A character for each axis: letters, and digits for the axes of "...", counted from 0 for the last.
using Labels = std::string;
bool has(const Labels& labels, char label) { return labels.find(label) != Labels::npos; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

constexpr std::size_t max_operands = 64;

class Equation {
 public:
  Equation(std::string_view text, const std::vector<TensorRef>& operands) : text_(text), operands_(operands) {
    check_characters();
    if (operands.size() > max_operands)
      throw Error(
          fmt::format("einsum(\"{}\"): {} operands are given, but it takes at most {}: split it into several einsums",
                      shown(), operands.size(), max_operands));
    std::string plain(text);
    std::erase(plain, ' ');
    const std::size_t arrow = plain.find("->");
    std::string left = plain.substr(0, arrow);
    for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
      end = left.find(',', begin);
      terms_.push_back(left.substr(begin, end == std::string::npos ? end : end - begin));
    }
    if (terms_.size() != operands.size())
      refuse(fmt::format("it has subscripts for {} operands, but {} are given", terms_.size(), operands.size()));
    for (std::size_t i = 0; i < terms_.size(); ++i) terms_[i] = expanded(terms_[i], operands[i]->ndim());
    result_ = arrow == std::string::npos ? implicit_result() : explicit_result(plain.substr(arrow + 2));
  }

  const std::vector<Labels>& terms() const noexcept { return terms_; }
  const Labels& result() const noexcept { return result_; }
  template <class E = Error>
  [[noreturn]] void refuse(std::string_view why) const {
    throw E(fmt::format("einsum(\"{}\"): {}\n  the operands are{}", shown(), why, operand_lines()));
  }
  [[noreturn]] void refuse_devices(Device one, Device other) const {
    runtime::throw_different_devices(
        one, other, fmt::format("in einsum(\"{}\"), where the operands are{}", shown(), operand_lines()));
  }

 private:
  std::string shown() const { return runtime::shortened(text_); }
  std::string operand_lines() const {
    std::string lines;
    for (const TensorRef& t : operands_) lines += fmt::format("\n    {}", runtime::describe(*t));
    return lines;
  }
  /// The message shows the place.
  [[noreturn]] void refuse_at(std::size_t place, std::string_view why) const {
    refuse(std::string(why) + with_caret(text_, {place}));
  }
  /// Rejects anything but letters, commas, spaces, "..." and one arrow.
  void check_characters() const {
    bool had_arrow = false;
    for (std::size_t i = 0; i < text_.size(); ++i) {
      const char c = text_[i];
      if (is_letter(c) || c == ' ') continue;
      if (text_.substr(i, 3) == "...") {
        i += 2;
      } else if (text_.substr(i, 2) == "->") {
        if (std::exchange(had_arrow, true)) refuse_at(i, "there is a second arrow, but only one result");
        ++i;
      } else if (c == ',') {
        if (had_arrow) refuse_at(i, "there is a comma after the arrow, but only one result");
      } else if (is_digit(c)) {
        refuse_at(i, fmt::format("'{}' is a digit: subscripts are letters, and one \"...\" per operand", c));
      } else if (c == '-' || c == '>') {
        refuse_at(i, fmt::format("'{}' is not an arrow: write \"->\" before the result's subscripts", c));
      } else {
        refuse_at(i, fmt::format("'{}' is not a subscript: subscripts are letters, and one \"...\" per operand",
                                 excerpt(text_.substr(i, 1))));
      }
    }
  }
  /// Replaces "..." by one digit for each remaining axis.
  Labels expanded(const std::string& term, int ndim) {
    const std::size_t dots = term.find("...");
    const auto letters = static_cast<int>(std::ranges::count_if(term, [](char c) { return c != '.'; }));
    if (dots == std::string::npos ? letters != ndim : letters > ndim)
      refuse(fmt::format("\"{}\" has {} subscripts, for an operand of {} dimensions", runtime::shortened(term), letters,
                         ndim));
    const int extra = dots == std::string::npos ? 0 : ndim - letters;
    max_extra_ = std::max(max_extra_, extra);
    return with_digits(term, extra);
  }
  Labels with_digits(std::string term, int extra) const {
    if (const std::size_t dots = term.find("..."); dots != std::string::npos) {
      std::string digits;
      for (int i = extra; i-- > 0;) digits += static_cast<char>('0' + i);
      term.replace(dots, 3, digits);
    }
    if (has(term, '.')) refuse("there is a second \"...\" in one operand");
    return term;
  }

  Labels implicit_result() const {
    Labels result = with_digits("...", max_extra_);
    for (char c = 'A'; c <= 'z'; ++c) {
      std::ptrdiff_t times = 0;
      for (const Labels& term : terms_) times += std::ranges::count(term, c);
      if (is_letter(c) && times == 1) result += c;
    }
    return result;
  }
  Labels explicit_result(const std::string& written) const {
    const Labels result = with_digits(written, max_extra_);
    for (const char c : result) {
      if (std::ranges::count(result, c) > 1) refuse(fmt::format("the result names '{}' twice", c));
      if (std::ranges::none_of(terms_, [&](const Labels& term) { return has(term, c); }))
        refuse(fmt::format("the result names '{}', which no operand has", c));
    }
    return result;
  }

  std::string_view text_;
  const std::vector<TensorRef>& operands_;
  std::vector<Labels> terms_;
  Labels result_;
  int max_extra_ = 0;
};

using Value = Lazy<AnyType>;

struct Labelled {
  Value x;
  Labels labels;

  std::int64_t axis(char label) const { return static_cast<std::int64_t>(labels.find(label)); }
  std::int64_t extent(char label) const { return x.shape()[static_cast<int>(labels.find(label))]; }
};

/// Takes the diagonal of axes with the same label.
Labelled without_repeats(const Equation& equation, Labelled of) {
  for (std::size_t i = 0; i < of.labels.size();) {
    const std::size_t j = of.labels.find(of.labels[i], i + 1);
    if (j == Labels::npos) {
      ++i;
      continue;
    }
    const char label = of.labels[i];
    const std::int64_t one = of.x.shape()[static_cast<int>(i)], other = of.x.shape()[static_cast<int>(j)];
    if (one != other) equation.refuse<ShapeError>(fmt::format("'{}' is {} and {} in one operand", label, one, other));
    of.x = of.x.diagonal(0, static_cast<std::int64_t>(i), static_cast<std::int64_t>(j));
    of.labels.erase(j, 1), of.labels.erase(i, 1);
    of.labels += label;  // the diagonal is the last axis
  }
  return of;
}

/// In the operands' dtype, which differs from that of a sum of integers.
Value summed(const Value& x, const std::vector<std::int64_t>& axes) {
  return Value(jit::lazy_cast(sum(x, axes).node(), x.node()->dtype()));
}

/// Sums over the labels that are not in `kept`.
Labelled without(const Labelled& of, const Labels& kept) {
  std::vector<std::int64_t> axes;
  Labels left;
  for (const char label : of.labels)
    if (has(kept, label))
      left += label;
    else
      axes.push_back(of.axis(label));
  return axes.empty() ? of : Labelled{summed(of.x, axes), left};
}

/// The axes in this order; a missing label becomes an axis of extent 1.
Value arranged(const Labelled& of, const Labels& order) {
  Value x = of.x;
  std::vector<std::int64_t> axes;
  Labels there = of.labels;
  for (const char label : order) {
    if (!has(there, label)) x = x.unsqueeze(-1), there += label;
    axes.push_back(static_cast<std::int64_t>(there.find(label)));
  }
  return view_of(x, [&](const TensorImpl& t) { return permute(t, axes); });
}

/// The labels of two operands, split by use; those in `later` are kept.
struct Split {
  Split(const Labels& a, const Labels& b, const Labels& later) {
    for (const char label : a)
      if (has(later, label))
        (has(b, label) ? batch : left) += label;
      else if (has(b, label))
        inner += label;
    for (const char label : b)
      if (!has(a, label) && has(later, label)) right += label;
  }
  Labels product() const { return batch + left + right; }
  bool multiplies(DType dtype) const {
    return !inner.empty() && !(left.empty() && right.empty()) && category(dtype) >= Category::Float;
  }
  /// Number of axes of the intermediate tensors.
  std::size_t axes(DType dtype) const {
    const std::size_t made = product().size();
    return multiplies(dtype) ? std::max(batch.size() + 2, made) : made + inner.size();
  }

  Labels batch, left, right, inner;
};

/// The product of two operands, with the labels that the result or later operands need.
class Pair {
 public:
  Pair(const Labelled& a, const Labelled& b, const Labels& later)
      : split_(a.labels, b.labels, later), a_(without(a, later + b.labels)), b_(without(b, later + a.labels)) {}

  Labelled product() const {
    return {split_.multiplies(a_.x.node()->dtype()) ? by_matmul() : by_sum(), split_.product()};
  }

 private:
  std::int64_t extent(char label) const {
    const std::int64_t in_a = has(a_.labels, label) ? a_.extent(label) : 1;
    return has(b_.labels, label) && in_a == 1 ? b_.extent(label) : in_a;
  }
  std::int64_t extent(const Labels& labels) const {
    std::int64_t n = 1;
    for (const char label : labels) n *= extent(label);
    return n;
  }

  /// As a batch of matrices: the axes of each group of labels are merged, and an inner axis of extent 1 is broadcast.
  Value matrices(const Labelled& of, const Labels& rows, const Labels& columns) const {
    Value x = arranged(of, split_.batch + rows + columns);
    Shape expanded, merged;
    for (const char label : split_.batch) expanded.push_back(of.extent(label)), merged.push_back(of.extent(label));
    for (const char label : rows + columns) expanded.push_back(extent(label));
    merged.push_back(extent(rows)), merged.push_back(extent(columns));
    return x.expand(expanded).reshape(merged);
  }
  Value by_matmul() const {
    const Value made = matmul(matrices(a_, split_.left, split_.inner), matrices(b_, split_.inner, split_.right));
    Shape shape;
    for (const char label : split_.product()) shape.push_back(extent(label));
    return made.reshape(shape);
  }
  /// If there is no BLAS for the dtype, or no matrix product: one kernel.
  Value by_sum() const {
    const Labels all = split_.product() + split_.inner;
    const Value made = arranged(a_, all) * arranged(b_, all);
    std::vector<std::int64_t> axes;
    for (std::size_t i = split_.product().size(); i < all.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    return axes.empty() ? made : summed(made, axes);
  }

  Split split_;
  Labelled a_, b_;
};

/// Which two operands to multiply in each step; the product replaces the first.
using Order = std::vector<std::pair<std::size_t, std::size_t>>;

/// The labels of two operands to keep when they are multiplied.
Labels later(std::span<const Labels> terms, std::size_t i, std::size_t k, const Labels& result) {
  Labels labels = result;
  for (std::size_t other = 0; other < terms.size(); ++other)
    if (other != i && other != k) labels += terms[other];
  return labels;
}

/// Finds an order in which no step exceeds the maximum number of axes: from the left as far as possible.
class OrderSearch {
 public:
  OrderSearch(const Labels& result, DType dtype) : result_(result), dtype_(dtype) {}

  bool find(const std::vector<Labels>& terms) {
    if (terms.size() < 2) return true;
    for (std::size_t i = 0; i < terms.size(); ++i)
      for (std::size_t k = i + 1; k < terms.size(); ++k) {
        const Split split(terms[i], terms[k], later(terms, i, k, result_));
        if (split.axes(dtype_) > max_ndim || ++tried_ > max_tried) continue;
        order_.emplace_back(i, k);
        if (find(joined(terms, i, k, split.product()))) return true;
        order_.pop_back();
      }
    return false;
  }
  const Order& order() const noexcept { return order_; }

 private:
  static constexpr int max_tried = 1000;  // five operands have fewer orders
  static std::vector<Labels> joined(std::vector<Labels> terms, std::size_t i, std::size_t k, Labels product) {
    terms[i] = std::move(product);
    terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(k));
    return terms;
  }

  const Labels& result_;
  DType dtype_;
  int tried_ = 0;
  Order order_;
};

Order order_of(const Equation& equation, const std::vector<Labels>& terms, DType dtype) {
  OrderSearch search(equation.result(), dtype);
  if (search.find(terms)) return search.order();
  equation.refuse<ShapeError>(
      fmt::format("in every order that was tried, an intermediate product has more than {} dimensions, the most that a "
                  "tensor can have: split it into several einsums, which sum earlier",
                  max_ndim));
}

/// Extents of one letter must be equal, or 1.
void check_extents(const Equation& equation, const std::vector<Labelled>& operands) {
  for (const Labelled& one : operands)
    for (const Labelled& other : operands)
      for (const char label : one.labels) {
        if (!has(other.labels, label)) continue;
        const std::int64_t a = one.extent(label), b = other.extent(label);
        if (a != b && a != 1 && b != 1)
          equation.refuse<ShapeError>(fmt::format("'{}' is {} in one operand and {} in another", label, a, b));
      }
}

void check_alike(const Equation& equation, const std::vector<TensorRef>& operands) {
  for (const TensorRef& t : operands) {
    if (t->device != operands[0]->device) equation.refuse_devices(operands[0]->device, t->device);
    if (t->dtype != operands[0]->dtype)
      equation.refuse<DTypeError>("it takes operands of one dtype: convert one with cast<T>(x)");
  }
}

}  // namespace

jit::LazyRef einsum(std::string_view text, const std::vector<TensorRef>& arrays,
                    const std::vector<jit::LazyRef>& leaves) {
  const Equation equation(text, arrays);
  check_alike(equation, arrays);
  std::vector<Labelled> operands;
  std::vector<Labels> terms;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    operands.push_back(without_repeats(equation, {Value(leaves[i]), equation.terms()[i]}));
    terms.push_back(operands.back().labels);
  }
  check_extents(equation, operands);
  for (const auto& [i, k] : order_of(equation, terms, arrays[0]->dtype)) {
    operands[i] = Pair(operands[i], operands[k], later(terms, i, k, equation.result())).product();
    terms[i] = operands[i].labels;
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(k));
    terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(k));
  }
  return arranged(without(operands[0], equation.result()), equation.result()).node();
}

}  // namespace sinter::inline v1::detail
