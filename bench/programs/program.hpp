// Random programs over what users write: elementwise operations, reductions, norms, products, views, gathers, casts and
// random numbers.
#pragma once
#include <cstdint>
#include <random>
#include <sinter/sinter.hpp>
#include <span>
#include <string>
#include <vector>

namespace bench {

namespace sn = sinter;

/// Lines such as "a = exp(x) + v" over tensors. The seed determines all of it.
class Program {
 public:
  explicit Program(unsigned seed);

  /// Its results, as expressions that nothing has evaluated yet.
  std::vector<sn::jit::LazyRef> record() const;
  /// The tensors, the lines, and what is returned.
  std::string text() const;

 private:
  using Extents = std::vector<std::int64_t>;
  struct Value {
    std::string name;
    Extents extents;
    bool is_read = false;
  };
  struct Line {
    std::string to;
    sn::ParsedExpression from;
    bool is_needed = false;
  };

  std::size_t draw(std::size_t below) { return random_() % below; }
  const char* one_of(std::span<const char* const> texts) { return texts[draw(texts.size())]; }
  void declare(const std::string& name, const Extents& extents, const char* dtype);
  void add_floats(const std::string& name, const Extents& extents, double scale);
  void add_indices(const std::string& name, const Extents& extents, std::int64_t below);
  void add_tensors();

  Value& recent();
  Value& fitting(const Extents& extents);
  const std::string& read(Value& value);
  void add_line(const std::string& text, const Extents& extents);
  void add_operation();
  void add_elementwise();
  void add_reduction();
  void add_norm();
  void add_product();
  void add_gather();
  void add_view();
  void choose_results();

  std::mt19937_64 random_;
  std::int64_t rows_ = 0, columns_ = 0;
  std::vector<std::string> declarations_;
  std::vector<sn::NamedOperand> tensors_;
  std::vector<Value> values_;
  std::vector<Line> lines_;
  std::vector<std::string> results_;
};

}  // namespace bench
