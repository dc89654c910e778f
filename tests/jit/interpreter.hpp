// Interprets graphs and plans element by element, compares and prints them, for tests of transformations.
#pragma once
#include <fmt/format.h>

#include <random>
#include <span>
#include <string>
#include <vector>

#include <jit/plan/plan.hpp>
#include <sinter/runtime/error.hpp>
#include "reference.hpp"

namespace sinter::testing {

using jit::Graph;
using jit::Node;
using jit::NodeId;
using jit::Operand;
using test::to_bits;

inline constexpr DType i8 = DType::Int8, u8 = DType::UInt8, i32 = DType::Int32, i64 = DType::Int64,
                       f16 = DType::Float16, bf16 = DType::BFloat16, f32 = DType::Float32, f64 = DType::Float64,
                       c64 = DType::Complex64, c128 = DType::Complex128;

/// The number of nodes with operands.
inline std::size_t operations(const Graph& g) {
  std::size_t n = 0;
  for (const Node& node : g.nodes()) n += node.arity > 0;
  return n;
}

inline std::uint64_t converted_bits(std::uint64_t bits, DType from, DType to) {
  return test::convert_bits(bits, from, to);
}

/// Equal bits; any NaN equals any other.
inline bool same_value(DType t, std::uint64_t a, std::uint64_t b) {
  if (a == b) return true;
  if (category(t) != Category::Float) return false;
  const auto is_nan = [t](std::uint64_t v) {
    return std::isnan(test::as<double>(converted_bits(v, t, DType::Float64)));
  };
  return is_nan(a) && is_nan(b);
}

template <class T>
T special(std::mt19937_64& random) {
  if constexpr (std::is_same_v<T, bool>) {
    return random() % 2 != 0;
  } else if constexpr (test::is_16_bit_float<T>) {
    if (random() % 2) return T(special<float>(random));
    return T::from_bits(static_cast<std::uint16_t>(random()));
  } else if constexpr (std::is_floating_point_v<T>) {
    using Limits = std::numeric_limits<T>;
    const T values[] = {T(0),
                        -T(0),
                        T(1),
                        T(-1),
                        T(2),
                        T(0.5),
                        T(-1.5),
                        T(3),
                        T(1e10),
                        Limits::infinity(),
                        -Limits::infinity(),
                        Limits::quiet_NaN(),
                        Limits::max(),
                        Limits::lowest(),
                        Limits::min(),
                        Limits::denorm_min(),
                        T(2147483648.0),
                        T(-9223372036854775808.0)};
    if (random() % 2) return values[random() % std::size(values)];
    return std::uniform_real_distribution<T>(-100, 100)(random);
  } else {
    const T values[] = {0,
                        1,
                        static_cast<T>(-1),
                        2,
                        3,
                        static_cast<T>(-7),
                        std::numeric_limits<T>::max(),
                        std::numeric_limits<T>::min()};
    return random() % 2 ? values[random() % std::size(values)]
                        : static_cast<T>(static_cast<T>(random()) % static_cast<T>(sizeof(T) == 1 ? 100 : 1000));
  }
}

/// A value that tends to cause errors.
inline std::uint64_t special_bits(DType t, std::mt19937_64& random) {
  return sinter::test::visit_real(t, [&]<class T>(std::type_identity<T>) { return to_bits(special<T>(random)); });
}

/// The values of the outputs. `leaves` by leaf number, `scalars` by number, as they arrive: bool, int64 or double.
inline std::vector<std::uint64_t> outputs_of(const Graph& graph, std::span<const std::uint64_t> leaves,
                                             std::span<const std::uint64_t> scalars,
                                             test::Rounding rounding = test::Rounding::Outputs) {
  return test::interpret(
      graph, [&](std::uint64_t number) { return leaves[number]; },
      [&](const Node& n) {
        constexpr DType arrives[] = {DType::Bool, DType::Int64, DType::Float64};
        const auto [number, category] = jit::scalar_use(n);
        return converted_bits(scalars[number], arrives[static_cast<int>(category)], test::held(n.dtype));
      },
      rounding);
}

/// The same for a plan: kernel by kernel, through its temporaries.
inline std::vector<std::uint64_t> outputs_of(const jit::Plan& plan, std::span<const std::uint64_t> leaves,
                                             std::span<const std::uint64_t> scalars) {
  std::vector<std::uint64_t> outputs(plan.graph.outputs().size()), temporaries(plan.temporaries.size());
  for (const jit::Kernel& k : plan.kernels) {
    std::vector<std::uint64_t> inputs;
    for (const jit::Slot& s : k.inputs)
      inputs.push_back(s.kind == jit::Slot::Kind::Leaf ? leaves[s.number] : temporaries[s.number]);
    const std::vector<std::uint64_t> values = outputs_of(k.graph, inputs, scalars);
    for (std::size_t i = 0; i < values.size(); ++i)
      (k.outputs[i].kind == jit::Slot::Kind::Output ? outputs : temporaries)[k.outputs[i].number] = values[i];
  }
  return outputs;
}

/// One line per node, such as "%2 = add(%0, %1) float32", then "output %2" for each output.
inline std::string to_text(const Graph& graph) {
  std::string text;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& n = graph.nodes()[i];
    text += fmt::format("%{} = {}", i, name(n.op));
    if (n.op == Op::leaf || n.op == Op::iota || n.op == Op::array) text += fmt::format(" {}", n.attribute);
    if (n.op == Op::scalar) text += fmt::format(" {}", jit::scalar_use(n).number);
    if (n.op == Op::constant)
      sinter::test::visit_real(n.dtype, [&]<class T>(std::type_identity<T>) {
        text += fmt::format(" {}", test::shown(test::as<T>(n.attribute)));
      });
    std::string operands;
    for (const Operand o : graph.operands(n)) operands += fmt::format("{}%{}", operands.empty() ? "" : ", ", o.node);
    text += operands.empty() ? "" : fmt::format("({})", operands);
    text += fmt::format(" {}\n", name(n.dtype));
  }
  for (const Operand o : graph.outputs()) text += fmt::format("output %{}\n", o.node);
  return text;
}

}  // namespace sinter::testing
