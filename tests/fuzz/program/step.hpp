// One step of a random program: a call, its meaning, and a bound of its rounding errors.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "choices.hpp"
#include "reference.hpp"

namespace sinter::fuzz {

using Any = Lazy<AnyType>;

/// How the bound of a step's error follows from its operands.
enum class Kind {
  Moves,     // selects elements, or has a slope of at most 1: keeps the operands' errors
  Adds,      // errors add up; exact for integers
  Products,  // errors times the other operands; exact for integers
  Smooth,    // has a slope of at most 1, and rounds
  Other,     // anything else: needs exact operands, and rounds
  Decides,   // anything, but exact for exact operands: comparisons, floor, positions
};

struct Step {
  std::string text;
  std::vector<std::size_t> operands;  // indices of values
  Kind kind = Kind::Other;
  double terms = 1;     // number of terms that are added or multiplied
  bool rounds = false;  // even if operands and result are integers
  std::function<Any(std::span<const Any>)> run{};
  std::function<Reference(std::span<const Plain>)> reference{};  // may be empty
};

/// What is known of a value that a step may use.
struct Known {
  DType dtype;
  Shape shape;
  bool exact = true;   // every way of evaluating gives the same number
  double largest = 0;  // of the magnitudes of finite elements
  bool has_nan = false;
};

/// A step on some of these values, named v0, v1, ... in the text. The step may be invalid.
Step random_step(Choices& choices, std::span<const Known> known);

// The choices of random_step.
Step elementwise_step(Choices& choices, std::span<const Known> known);
Step function_step(Choices& choices, std::span<const Known> known);
Step cast_step(Choices& choices, std::span<const Known> known);
Step reduction_step(Choices& choices, std::span<const Known> known);
Step product_step(Choices& choices, std::span<const Known> known);
Step view_step(Choices& choices, std::span<const Known> known);
Step gathering_step(Choices& choices, std::span<const Known> known);
Step ordering_step(Choices& choices, std::span<const Known> known);
Step selection_step(Choices& choices, std::span<const Known> known);
Step joining_step(Choices& choices, std::span<const Known> known);
Step writing_step(Choices& choices, std::span<const Known> known);

/// A step written as text.
Step text_step(std::string text, std::vector<std::size_t> operands, Kind kind);
/// "v3".
std::string name_of(std::size_t value);
/// A value; recent ones are more likely.
std::size_t any_value(Choices& choices, std::size_t count);
/// An axis of the shape, or rarely an invalid one.
int any_axis(Choices& choices, const Shape& shape);
/// Counted from the start; -1 if it does not exist.
int positive_axis(int axis, int ndim);
/// "(2, 3)", as read in texts.
std::string tuple(const Shape& shape);

}  // namespace sinter::fuzz
