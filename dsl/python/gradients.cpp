// Derivatives, as in dsl/grad.hpp.
#include <fmt/format.h>

#include <sinter/dsl/history.hpp>
#include <sinter/jit/grad.hpp>
#include <sinter/runtime/error.hpp>
#include "convert.hpp"
#include "release.hpp"

namespace sinter::python {
namespace {

using jit::LazyRef;

std::unique_ptr<Operand> expression_of(const LazyRef& node, const Shape& shape) {
  return object_of(TextValue::tensor(Lazy<AnyType>(node), shape));
}

/// The operand of a gradient's function, for an argument that may be a number.
LazyRef node_from(std::string_view function, std::string_view argument, const nb::object& object) {
  const TextValue value = value_from(function, object);
  if (!value.is_operand()) throw_wrong(function, argument, "a tensor or a number", object);
  return detail::node_of(value);
}

/// The gradients of a value with respect to tensors: an expression, or a tuple of them, also for a list.
nb::object gradients(const char* function, const Operand& value, const nb::args& given, const nb::object& seed,
                     Flag allow_unused) {
  const nb::object first = given.size() == 1 ? nb::object(given[0]) : nb::none();
  const bool is_given_list = is_list(first);
  const nb::tuple tensors = is_given_list ? nb::tuple(first) : nb::borrow<nb::tuple>(given);
  if (tensors.size() == 0)
    throw_type_error(fmt::format("{0} takes the tensors to differentiate with respect to: {0}(loss, x)", function));
  std::vector<TensorRef> held;
  std::vector<TensorImpl*> wrt;
  for (const nb::handle x : tensors) {
    if (!nb::isinstance<TensorObject>(x))
      throw_type_error(
          fmt::format("{}: the argument 'tensors' must be tensors, but got {}{}", function, describe(x),
                      nb::isinstance<Operand>(x) ? ": evaluate it first, and compute the value from the tensor" : ""));
    held.push_back(nb::cast<const TensorObject&>(x).tensor);
    wrt.push_back(held.back().get());
  }
  const LazyRef of = detail::node_of(value.value());
  const LazyRef from = seed.is_none() ? LazyRef() : node_from("grad", "seed", seed);
  const std::vector<LazyRef> found = without_gil([&] {
    return jit::gradients(of, wrt, from ? jit::lazy_cast(from, of->dtype()) : from,
                          allow_unused ? jit::UnusedInput::Zeros : jit::UnusedInput::Error);
  });
  nb::list results;
  for (std::size_t i = 0; i < found.size(); ++i) results.append(nb::cast(expression_of(found[i], wrt[i]->shape)));
  if (results.size() == 1 && !is_given_list) return results[0];
  return nb::tuple(results);
}

nb::object grad(const Operand& value, const nb::args& tensors, const nb::object& seed, Flag allow_unused) {
  return gradients("grad", value, tensors, seed, allow_unused);
}

nb::tuple value_and_grad(nb::typed<nb::object, Operand> value, const nb::args& tensors, Flag allow_unused) {
  const auto& of = nb::cast<const Operand&>(value);
  const nb::object found = gradients("value_and_grad", of, tensors, nb::none(), allow_unused);
  nb::list results;
  results.append(value);
  if (nb::isinstance<nb::tuple>(found))
    results.extend(found);
  else
    results.append(found);
  return nb::tuple(results);
}

std::unique_ptr<Operand> jvp(const Operand& value, const TensorObject& x, const nb::object& tangent) {
  const LazyRef of = detail::node_of(value.value()), along = node_from("jvp", "tangent", tangent);
  const LazyRef made = without_gil([&] { return jit::jvp(of, *x.tensor, jit::lazy_cast(along, x.tensor->dtype)); });
  return expression_of(made, value.shape());
}

std::unique_ptr<Operand> jacobian(const Operand& value, const TensorObject& x) {
  const LazyRef of = detail::node_of(value.value());
  return object_of(without_gil([&] { return jit::jacobian(of, *x.tensor); }));
}

std::unique_ptr<Operand> checkpoint(const Operand& value) {
  const LazyRef node = detail::node_of(value.value());
  return expression_of(without_gil([&] { return detail::in_memory(Lazy<AnyType>(node)).leaf.node(); }), value.shape());
}

/// A Python function that any thread may release.
class Callable {
 public:
  explicit Callable(nb::object function) : function_(function.release().ptr()) {}
  Callable(const Callable&) = delete;
  Callable& operator=(const Callable&) = delete;
  ~Callable() {
    release_with_gil(function_, [](void* f) { Py_DECREF(static_cast<PyObject*>(f)); });
  }
  nb::object operator()(const nb::object& argument) const { return nb::handle(function_)(argument); }

 private:
  PyObject* const function_;
};

/// What the backward function of custom_vjp returned for an input: an expression that broadcasts to its shape, of its
/// dtype. Null for None.
LazyRef gradient_of(nb::handle object, const LazyRef& input, const Shape& shape) {
  if (object.is_none()) return {};
  const TextValue value = value_from("custom_vjp", object);
  if (!value.is_operand())
    throw_type_error(
        fmt::format("custom_vjp: a gradient must be a tensor, an expression, a number or None, but backward "
                    "returned {}",
                    describe(object)));
  Shape together = shape;
  if (!broadcast(together, value.shape) || together != shape)
    throw ShapeError(fmt::format("custom_vjp: backward returned a gradient of shape {} for an input of shape {}",
                                 to_string(value.shape), to_string(shape)));
  return jit::lazy_cast(detail::node_of(value), input->dtype());
}

std::unique_ptr<Operand> custom_vjp(const Operand& result, nb::callable backward, const nb::args& inputs) {
  if (inputs.empty()) throw_type_error("custom_vjp takes the inputs of the result: custom_vjp(result, backward, x)");
  std::vector<LazyRef> nodes;
  std::vector<Shape> shapes;
  for (const nb::handle x : inputs) {
    if (!nb::isinstance<Operand>(x)) throw_wrong("custom_vjp", "inputs", "tensors or expressions", x);
    nodes.push_back(detail::node_of(nb::cast<const Operand&>(x).value()));
    shapes.push_back(nb::cast<const Operand&>(x).shape());
  }
  const auto function = std::make_shared<const Callable>(std::move(backward));
  const Shape shape = result.shape();
  const auto pullback = [function, nodes, shapes, shape](const LazyRef& gradient) {
    const nb::gil_scoped_acquire gil;
    const nb::object made = (*function)(nb::cast(expression_of(gradient, shape)));
    const bool is_sequence = nb::isinstance<nb::tuple>(made) || nb::isinstance<nb::list>(made);
    const nb::tuple gradients = is_sequence ? nb::tuple(made) : nb::make_tuple(made);
    if (gradients.size() != nodes.size())
      throw_type_error(
          fmt::format("custom_vjp: backward returned {} gradients for {} inputs", gradients.size(), nodes.size()));
    std::vector<LazyRef> found;
    for (std::size_t i = 0; i < nodes.size(); ++i) found.push_back(gradient_of(gradients[i], nodes[i], shapes[i]));
    return found;
  };
  const Lazy<AnyType> value(detail::node_of(result.value()));
  return expression_of(without_gil([&] {
                         const TensorRef array = detail::array_of(value);
                         // A leaf of its own, in case the result is an input.
                         const TensorRef leaf = runtime::view(*array, array->shape, array->strides);
                         return detail::with_history(leaf, nodes, pullback);
                       }),
                       shape);
}

}  // namespace

void add_gradients(nb::module_& m) {
  m.def("grad", grad, nb::arg("value"), nb::arg("tensors"), nb::kw_only(), nb::arg("seed") = nb::none(),
        nb::arg("allow_unused") = false,
        "The gradients of a value of one element with respect to tensors: an Expression for each, of its shape and "
        "dtype. A seed is the gradient of a value of several elements. Without allow_unused, a tensor that the value "
        "does not depend on is an error. Tensors may be given as a list, such as net.parameters().");
  m.def("value_and_grad", value_and_grad, nb::arg("value"), nb::arg("tensors"), nb::kw_only(),
        nb::arg("allow_unused") = false,
        "The value and its gradients, for evaluating them together: evaluate(*value_and_grad(loss, x, w)).");
  m.def("jvp", jvp, nb::arg("value"), nb::arg("x"), nb::arg("tangent"),
        "The derivative of a value at the tensor x along a tangent that broadcasts to x's shape: an Expression of the "
        "value's shape, 0 if it does not depend on x. For floats.");
  m.def("jacobian", jacobian, nb::arg("value"), nb::arg("x"),
        "The derivative of each element of a value with respect to each of a tensor's: a Tensor of the value's shape "
        "and then x's, 0 if it does not depend on x. The Hessian is jacobian(grad(loss, x), x).");
  m.def("checkpoint", checkpoint, nb::arg("value"),
        "The value, evaluated now. A gradient through it computes again what it was computed from instead of keeping "
        "that in memory.");
  m.def(
      "custom_vjp", custom_vjp, nb::arg("result"), nb::arg("backward"), nb::arg("inputs"),
      "A result with a derivative of its own: backward(gradient) returns the gradients of sum(gradient * result) with "
      "respect to the inputs, one or a tuple, each of which broadcasts to its input's shape. The result is evaluated "
      "now.");
}

}  // namespace sinter::python
