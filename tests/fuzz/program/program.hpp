// A random program of tensors, evaluated in several ways that must agree.
#pragma once
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "step.hpp"

namespace sinter::fuzz {

/// Evaluations that do not agree, with the program.
struct Disagreement : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Evaluates a program's steps one by one, each compared with a reference if there is one, and several of them at once
/// as one expression: fused, with one kernel per operation, and on a GPU. Integers, bools and integral floats agree
/// exactly, others within the bound of a running error analysis; what one way rejects, the others reject too.
class Program {
 public:
  /// `gpu` is a GPU to evaluate on as well.
  explicit Program(std::span<const std::uint8_t> bytes, std::optional<Device> gpu = {});
  /// Throws Disagreement.
  void run();
  std::string listing() const;

 private:
  struct Value {
    std::string text;
    Any fused;
    AnyTensor alone;  // evaluated step by step
    double error = 0;
    Known known{};
    std::optional<Step> step{};  // nullopt for a leaf
    std::optional<Any> on_gpu{};
  };

  void add_leaf();
  void grow();
  void expect_refusal(const Step& step, const std::string& message);
  Value made(const Step& step, const AnyTensor& result, Any fused) const;
  void evaluate_together(std::span<const std::size_t> of);
  void replay_on_gpu();
  std::vector<Any> operands(const Step& step, bool alone) const;
  void agree(const Value& expected, const Plain& got, const char* way) const;
  void agree(const Plain& expected, const Plain& got, double bound, const std::string& what) const;
  [[noreturn]] void fail(const std::string& what) const;

  Choices choices_;
  std::optional<Device> gpu_;
  std::vector<Value> values_;
  std::vector<int> extents_;
};

}  // namespace sinter::fuzz
