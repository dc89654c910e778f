#include <sinter/dsl/einsum.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include <runtime/different_devices.hpp>
#include <sinter/dsl/matmul.hpp>
#include <sinter/dsl/reduce.hpp>
#include <sinter/dsl/view.hpp>
#include <sinter/runtime/error.hpp>

namespace sinter::inline v1::detail {
namespace {

/// A character for each axis: letters, and digits for the axes of "...", of which 0 is the last.
using Labels = std::string;
bool has(const Labels& labels, char label) { return labels.find(label) != Labels::npos; }

class Equation {
 public:
  Equation(std::string_view text, const std::vector<TensorRef>& operands) : text_(text), operands_(operands) {
    std::string plain(text);
    std::erase(plain, ' ');
    const std::size_t arrow = plain.find("->");
    std::string left = plain.substr(0, arrow);
    for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
      end = left.find(',', begin);
      terms_.push_back(left.substr(begin, end == std::string::npos ? end : end - begin));
    }
    if (terms_.size() != operands.size())
      refuse(fmt::format("it has subscripts for {} operands, and {} are given", terms_.size(), operands.size()));
    for (std::size_t i = 0; i < terms_.size(); ++i) terms_[i] = expanded(terms_[i], operands[i]->rank());
    result_ = arrow == std::string::npos ? implicit_result() : explicit_result(plain.substr(arrow + 2));
  }

  const std::vector<Labels>& terms() const noexcept { return terms_; }
  const Labels& result() const noexcept { return result_; }
  template <class E = Error>
  [[noreturn]] void refuse(std::string_view why) const {
    std::string list;
    for (const TensorRef& t : operands_) list += fmt::format("\n    {}", runtime::describe(*t));
    throw E(fmt::format("einsum(\"{}\"): {}\n  the operands are{}", text_, why, list));
  }

 private:
  /// "..." becomes as many digits as axes are left for it.
  Labels expanded(const std::string& term, int rank) {
    const std::size_t dots = term.find("...");
    const auto letters = static_cast<int>(std::ranges::count_if(term, [](char c) { return c != '.'; }));
    if (dots == std::string::npos ? letters != rank : letters > rank)
      refuse(fmt::format("\"{}\" has {} subscripts, for an operand of {} dimensions", term, letters, rank));
    const int extra = dots == std::string::npos ? 0 : rank - letters;
    most_extra_ = std::max(most_extra_, extra);
    return with_digits(term, extra);
  }
  Labels with_digits(std::string term, int extra) const {
    if (std::ranges::any_of(term, [](char c) { return c >= '0' && c <= '9'; }))
      refuse(fmt::format("\"{}\" has a digit: letters are subscripts, and one \"...\" in an operand", term));
    if (const std::size_t dots = term.find("..."); dots != std::string::npos) {
      std::string digits;
      for (int i = extra; i-- > 0;) digits += static_cast<char>('0' + i);
      term.replace(dots, 3, digits);
    }
    for (const char c : term)
      if (std::isalpha(static_cast<unsigned char>(c)) == 0 && (c < '0' || c >= '0' + extra))
        refuse(fmt::format("'{}' is no subscript: letters are, and one \"...\" in an operand", c));
    return term;
  }

  Labels implicit_result() const {
    Labels result = with_digits("...", most_extra_);
    for (char c = 'A'; c <= 'z'; ++c) {
      std::ptrdiff_t times = 0;
      for (const Labels& term : terms_) times += std::ranges::count(term, c);
      if (std::isalpha(static_cast<unsigned char>(c)) != 0 && times == 1) result += c;
    }
    return result;
  }
  Labels explicit_result(const std::string& written) const {
    const Labels result = with_digits(written, most_extra_);
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
  int most_extra_ = 0;
};

struct Labelled {
  AnyTensor x;
  Labels labels;

  std::int64_t axis(char label) const { return static_cast<std::int64_t>(labels.find(label)); }
  std::int64_t extent(char label) const { return x.shape()[static_cast<int>(labels.find(label))]; }
};

/// Takes the diagonal of axes with one label.
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

/// In the dtype of the operands, which sums of integers leave.
AnyTensor summed(const AnyTensor& x, const std::vector<std::int64_t>& axes) {
  const AnyTensor sums = sum(x, axes);
  return AnyTensor(jit::to(sums.impl(), x.dtype(), x.device()));
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

/// The axes in this order; a label that is not there is an axis of one element.
AnyTensor arranged(const Labelled& of, const Labels& order) {
  AnyTensor x = of.x;
  std::vector<std::int64_t> axes;
  Labels there = of.labels;
  for (const char label : order) {
    if (!has(there, label)) x = x.unsqueeze(-1), there += label;
    axes.push_back(static_cast<std::int64_t>(there.find(label)));
  }
  return AnyTensor(permute(x.impl(), axes));
}

/// The product of two operands, with the labels that the result or later operands name.
class Pair {
 public:
  Pair(const Equation& equation, const Labelled& a, const Labelled& b, const Labels& later)
      : a_(without(a, later + b.labels)), b_(without(b, later + a.labels)) {
    for (const char label : a_.labels) (!has(b_.labels, label) ? left_ : has(later, label) ? batch_ : inner_) += label;
    for (const char label : b_.labels)
      if (!has(a_.labels, label)) right_ += label;
    const std::size_t axes = multiplies() ? std::max(batch_.size() + 2, batch_.size() + left_.size() + right_.size())
                                          : batch_.size() + left_.size() + right_.size() + inner_.size();
    if (axes > max_rank)
      equation.refuse<ShapeError>(fmt::format(
          "the product of \"{}\" and \"{}\" takes {} dimensions on the way, and tensors have {} at most: write "
          "several einsums, which sum earlier",
          a.labels, b.labels, axes, max_rank));
  }

  Labelled product() const { return {multiplies() ? by_matmul() : by_sum(), batch_ + left_ + right_}; }

 private:
  bool multiplies() const {
    const bool are_matrices = !inner_.empty() && !(left_.empty() && right_.empty());
    return are_matrices && category(a_.x.dtype()) >= Category::Float;
  }
  std::int64_t extent(char label) const {
    const std::int64_t in_a = has(a_.labels, label) ? a_.extent(label) : 1;
    return has(b_.labels, label) && in_a == 1 ? b_.extent(label) : in_a;
  }
  std::int64_t extent(const Labels& labels) const {
    std::int64_t n = 1;
    for (const char label : labels) n *= extent(label);
    return n;
  }

  /// As a stack of matrices: each label's axes are joined to one, and what is 1 along an inner axis is spread.
  AnyTensor matrices(const Labelled& of, const Labels& rows, const Labels& columns) const {
    AnyTensor x = arranged(of, batch_ + rows + columns);
    Shape spread, joined;
    for (const char label : batch_) spread.push_back(of.extent(label)), joined.push_back(of.extent(label));
    for (const char label : rows + columns) spread.push_back(extent(label));
    joined.push_back(extent(rows)), joined.push_back(extent(columns));
    return x.expand(spread).reshape(joined);
  }
  AnyTensor by_matmul() const {
    const AnyTensor made = matmul(matrices(a_, left_, inner_), matrices(b_, inner_, right_));
    Shape shape;
    for (const char label : batch_ + left_ + right_) shape.push_back(extent(label));
    return made.reshape(shape);
  }
  /// Where no BLAS multiplies, or there are no matrices: one kernel.
  AnyTensor by_sum() const {
    const Labels all = batch_ + left_ + right_ + inner_;
    const AnyTensor made = arranged(a_, all) * arranged(b_, all);
    std::vector<std::int64_t> axes;
    for (std::size_t i = all.size() - inner_.size(); i < all.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    return axes.empty() ? made : summed(made, axes);
  }

  Labelled a_, b_;
  Labels batch_, left_, right_, inner_;
};

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
    if (t->device != operands[0]->device) runtime::throw_different_devices(operands[0]->device, t->device, "in einsum");
    if (t->dtype != operands[0]->dtype)
      equation.refuse<DtypeError>("it takes operands of one dtype: convert one with cast<T>(x)");
  }
}

}  // namespace

TensorRef einsum(std::string_view text, std::vector<TensorRef> arrays) {
  const Equation equation(text, arrays);
  check_alike(equation, arrays);
  std::vector<Labelled> operands;
  for (std::size_t i = 0; i < arrays.size(); ++i)
    operands.push_back(without_repeats(equation, {AnyTensor(arrays[i]), equation.terms()[i]}));
  check_extents(equation, operands);
  Labelled made = operands[0];
  for (std::size_t i = 1; i < operands.size(); ++i) {
    Labels later = equation.result();
    for (std::size_t k = i + 1; k < operands.size(); ++k) later += operands[k].labels;
    made = Pair(equation, made, operands[i], later).product();
  }
  return arranged(without(made, equation.result()), equation.result()).ref();
}

}  // namespace sinter::inline v1::detail
