// Operations by name, text, evaluation, and inspection of expressions.
#include <fmt/format.h>

#include <algorithm>

#include <dsl/text/call.hpp>
#include <jit/evaluate/lazy_node.hpp>
#include <sinter/dsl/evaluate.hpp>
#include <sinter/dsl/parse.hpp>
#include <sinter/jit/inspect.hpp>
#include <sinter/runtime/float_environment.hpp>
#include "convert.hpp"
#include "spelling.hpp"

namespace sinter::python {

ArgumentValues read_arguments(std::string_view function, const nb::tuple& positional, const nb::dict& keywords) {
  ArgumentValues a;
  for (const nb::handle argument : positional) {
    a.objects.push_back(frozen(argument));
    a.values.push_back(value_from(function, a.objects.back()));
  }
  for (const auto [name, argument] : keywords) {
    a.names.push_back(string_from(name));
    a.objects.push_back(frozen(argument));
    a.values.push_back(value_from(function, a.names.back(), a.objects.back()));
  }
  return a;
}

namespace {

/// A Tensor for a tensor in memory, an Expression for an expression, a tuple for several.
nb::object result_of(const TextValue& made) {
  if (made.kind == TextValue::Kind::None) return nb::none();
  if (made.kind != TextValue::Kind::List) return nb::cast(made.array ? object_of(made.array) : object_of(made));
  nb::list results;
  for (const TextValue& item : made.items) results.append(result_of(item));
  return nb::tuple(results);
}

nb::object call(const std::string& name, bool is_method, const nb::tuple& positional, const nb::dict& keywords) {
  const ArgumentValues a = read_arguments(name, positional, keywords);
  std::optional<TextValue> made;
  try {
    made = without_gil([&] {
      const std::vector<std::string_view> names(a.names.begin(), a.names.end());
      return detail::call({"", detail::no_range, name, is_method, true}, a.values, names);
    });
  } catch (const ParseError& e) {  // like a Python function
    throw_type_error(said_by(name, in_python(e.what())));
  } catch (const Error&) {
    raised_by(name);
    throw;
  }
  if (!made) throw nb::attribute_error(fmt::format("there is no operation '{}'", name).c_str());
  return result_of(*made);
}

/// Whether an operator may take the object: if not, Python should ask the other operand.
bool is_operand(std::string_view function, nb::handle object) {
  return operand_in(object) || number_from(function, object) || PyObject_CheckBuffer(object.ptr()) ||
         has_dlpack(object);
}

/// Whether an operation on these operands may evaluate them, since it would depend on too many others.
bool may_evaluate(std::span<const TextValue> operands) {
  std::size_t size = 0;
  for (const TextValue& v : operands)
    if (v.node && !v.array) size += jit::LazyAccess::snapshot(v.node)->size;
  return size >= jit::max_lazy_nodes / 2;
}

/// An operation's result, as call() makes it. Releasing the GIL would take as long as the operation.
nb::object apply(const std::string& function, Op op, std::span<const TextValue> operands) {
  const auto make = [&] {
    const runtime::DefaultFloatEnvironment floats;
    return expression_value(detail::applied(op, operands));
  };
  try {
    return made<ExpressionObject>(may_evaluate(operands) ? without_gil(make) : make());
  } catch (const Error&) {
    raised_by(function);
    throw;
  }
}

/// A Python function of one operand, which is all that the operation takes.
nb::object unary(const std::string& function) {
  const auto function_of = [function,
                            operation = detail::operation_named(detail::without_alias(function))](nb::handle x) {
    const TextValue operand = value_from(function, x);
    return operand.is_operand() ? apply(function, operation->op, {&operand, 1})
                                : call(function, false, nb::make_tuple(x), {});  // throws
  };
  return nb::cpp_function(function_of, nb::name(function.c_str()), nb::arg().none());
}

/// Python's operator for a function of two operands, with these in reverse order if it is `reflected`.
nb::object binary(nb::handle type, const std::string& function, const std::string& symbol, bool reflected) {
  const detail::TextOperation* const operation = detail::operation_named(function);  // null for matmul
  const auto function_of = [function, operation, reflected](nb::handle self, nb::handle other) -> nb::object {
    if (!is_operand(function, other)) return nb::borrow(Py_NotImplemented);
    const nb::handle a = reflected ? other : self, b = reflected ? self : other;
    const TextValue operands[] = {value_from(function, a), value_from(function, b)};
    const bool is_direct = operation && std::ranges::all_of(operands, &TextValue::is_operand);
    return is_direct ? apply(function, operation->op, operands) : call(function, false, nb::make_tuple(a, b), {});
  };
  nb::object made = nb::cpp_function(function_of, nb::name(symbol.c_str()), nb::scope(type), nb::is_method(),
                                     nb::arg("other").none());
  explain_refusals(made);
  return made;
}

/// Evaluates together, in one kernel if shapes agree; tensors are returned unchanged.
nb::object evaluate(const nb::tuple& operands) {
  std::vector<jit::LazyRef> nodes;
  std::vector<std::size_t> places;
  nb::list results;
  for (const nb::handle x : operands) {
    if (!nb::isinstance<Operand>(x)) throw_wrong("evaluate", "operands", "tensors or expressions", x);
    results.append(x);
    if (nb::isinstance<TensorObject>(x)) continue;
    nodes.push_back(detail::node_of(nb::cast<const Operand&>(x).value()));
    places.push_back(results.size() - 1);
  }
  std::vector<TensorRef> made(nodes.size());
  if (!nodes.empty()) without_gil([&] { jit::evaluate(nodes, made.data()); });
  for (std::size_t i = 0; i < made.size(); ++i) results[places[i]] = nb::cast(object_of(made[i]));
  if (results.size() == 1) return results[0];
  return nb::tuple(results);
}

std::unique_ptr<Operand> parsed(const std::string& text, const nb::kwargs& operands) {
  std::vector<NamedOperand> named;
  for (const auto [name, operand] : operands) {
    const TextValue v = value_from("parse", operand);
    if (!v.is_operand()) throw_wrong("parse", string_from(name), "a tensor, an expression or a number", operand);
    named.emplace_back(string_from(name), Lazy<AnyType>(detail::node_of(v)));
    named.back().is_number = !v.is_tensor();
  }
  return without_gil([&] { return object_of(TextValue::tensor(parse(text, named))); });
}

template <class F>
std::string inspected(const Operand& x, F f) {
  return without_gil([&] { return f(jit::Recorded(detail::node_of(x.value()))); });
}

nb::list operations() {
  nb::list all;
  for (const detail::CallSignature& s : detail::call_signatures()) {
    nb::list parameters;
    for (const std::string& p : s.parameters) parameters.append(p);
    all.append(nb::make_tuple(s.name, parameters, s.doc, s.returns, s.is_method, s.is_elementwise));
  }
  return all;
}

}  // namespace

TensorRef ExpressionObject::evaluated() const {
  const jit::LazyRef node = detail::node_of(value_);
  TensorRef result;
  jit::evaluate(std::span(&node, 1), &result);
  return result;
}

TextValue expression_value(TextValue operand) {
  operand.place = detail::no_range;
  if (operand.kind != TextValue::Kind::Number) return operand;
  return {.kind = TextValue::Kind::Scalar, .node = detail::node_of(operand), .place = detail::no_range};  // as in C++
}

std::unique_ptr<Operand> object_of(TextValue operand) {
  return std::make_unique<ExpressionObject>(expression_value(std::move(operand)));
}

void add_expressions(nb::module_& m, nb::class_<Operand>& operand) {
  m.def("_call", call);
  m.def("_unary", unary);
  m.def("_binary", binary);
  m.def("_operations", operations);
  m.def(
      "evaluate", [](const nb::args& operands) { return evaluate(operands); }, nb::arg("operands"),
      "Evaluates expressions together: a Tensor, or a tuple of Tensors.");
  m.def("parse", parsed, nb::arg(), nb::arg("operands"), nb::sig("def parse(text: str, /, **operands) -> Expression"),
        "Parses a text as an expression: parse(\"exp(z + 2) * y\", z=z, y=y).");
  operand
      .def(
          "eval", [](const nb::object& x) { return evaluate(nb::make_tuple(x)); },
          "The tensor that the expression evaluates to; of a tensor itself.")
      .def(
          "explain", [](const Operand& x) { return inspected(x, [](const auto& r) { return jit::explain(r); }); },
          "Describes in words what evaluation would do. Nothing runs.")
      .def(
          "explain_html",
          [](const Operand& x) { return inspected(x, [](const auto& r) { return jit::explain_html(r); }); },
          "The plan that explain() describes, as one HTML page that needs no other file. Nothing runs.")
      .def(
          "cuda_source",
          [](const Operand& x) { return inspected(x, [](const auto& r) { return jit::cuda_source(r); }); },
          "The CUDA text of its kernels.")
      .def(
          "ptx",
          [](const Operand& x, const std::string& architecture) {
            return inspected(x, [&](const auto& r) { return jit::ptx(r, architecture); });
          },
          nb::arg("architecture") = "sm_90", "The PTX of its kernels. Needs NVRTC, no GPU.")
      .def(
          "to_dot", [](const Operand& x) { return inspected(x, [](const auto& r) { return jit::to_dot(r); }); },
          "Its graph in Graphviz's DOT language.");
}

}  // namespace sinter::python
