// One step of a random program: a call, what it means, and how far rounding may carry its result.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "choices.hpp"
#include "reference.hpp"

namespace sinter::fuzz {

using Any = Lazy<AnyType>;

/// What a step's result depends on, for the bound of its error.
enum class Kind {
  Moves,     // elements, or the choice among them, or a function that is no steeper than x: operands' errors stay
  Adds,      // errors add up; exact for whole numbers
  Products,  // errors times the other operands; exact for whole numbers
  Smooth,    // a function no steeper than x, which rounds
  Other,     // whatever; operands are exact. Rounds
  Decides,   // whatever, but the result is exact where the operands are: comparisons, floor, positions
};

struct Step {
  std::string text;
  std::vector<std::size_t> operands;  // numbers of values
  Kind kind = Kind::Other;
  double terms = 1;     // how many are added up or multiplied
  bool rounds = false;  // even where operands and result are whole numbers
  std::function<Any(std::span<const Any>)> run{};
  std::function<Reference(std::span<const Plain>)> reference{};  // may be empty
};

/// What is known of a value that a step may take.
struct Known {
  DType dtype;
  Shape shape;
  bool exact = true;   // each way of evaluating gives the same number
  double largest = 0;  // of the finite elements' magnitudes
  bool has_nan = false;
};

/// A step on some of these values: the text's names are v0, v1, ... A step may be one that is refused.
Step random_step(Choices& choices, std::span<const Known> known);

// What random_step chooses among.
Step elementwise_step(Choices& choices, std::span<const Known> known);
Step cast_step(Choices& choices, std::span<const Known> known);
Step reduction_step(Choices& choices, std::span<const Known> known);
Step product_step(Choices& choices, std::span<const Known> known);
Step view_step(Choices& choices, std::span<const Known> known);
Step gathering_step(Choices& choices, std::span<const Known> known);
Step ordering_step(Choices& choices, std::span<const Known> known);
Step selection_step(Choices& choices, std::span<const Known> known);
Step joining_step(Choices& choices, std::span<const Known> known);
Step writing_step(Choices& choices, std::span<const Known> known);

/// The step that is a text.
Step text_step(std::string text, std::vector<std::size_t> operands, Kind kind);
/// "v3".
std::string name_of(std::size_t value);
/// A value, one of the latest more often.
std::size_t any_value(Choices& choices, std::size_t count);
/// An axis of the shape, or rarely one that it has not.
int any_axis(Choices& choices, const Shape& shape);
/// Counted from the start; -1 where there is none.
int positive_axis(int axis, int rank);
/// "(2, 3)", which a text reads.
std::string tuple(const Shape& shape);

}  // namespace sinter::fuzz
