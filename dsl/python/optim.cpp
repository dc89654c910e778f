// The optimizers.
#include <fmt/format.h>

#include <sinter/optim.hpp>
#include "convert.hpp"

namespace sinter::python {
namespace {

std::vector<AnyTensor> parameters_from(const char* optimizer, const nb::object& parameters) {
  std::vector<AnyTensor> all;
  constexpr std::string_view expected = "a list of tensors, as [w, b] or net.parameters()";
  if (nb::isinstance<Operand>(parameters)) throw_wrong(optimizer, "parameters", expected, parameters);
  for (const nb::handle x : items_of(optimizer, "parameters", expected, parameters)) {
    if (!nb::isinstance<TensorObject>(x))
      throw_type_error(
          fmt::format("{}: the argument 'parameters' must be {}, but it holds {}", optimizer, expected, describe(x)));
    all.emplace_back(nb::cast<const TensorObject&>(x).tensor);
  }
  if (all.empty()) throw nb::value_error(fmt::format("{}: the list of parameters is empty", optimizer).c_str());
  return all;
}

Lazy<AnyType> loss_from(const Operand& loss) { return Lazy<AnyType>(detail::node_of(loss.value())); }

nb::object stepped(optim::Optimizer& o, const nb::object& loss) {
  if (loss.is_none()) return nb::cast(without_gil([&] { return o.step(); }));
  if (!nb::isinstance<Operand>(loss)) throw_wrong("step", "loss", "a tensor or an expression", loss);
  const auto& value = nb::cast<const Operand&>(loss);
  return nb::cast(object_of(without_gil([&] { return o.step(loss_from(value)).ref(); })));
}

nb::list list_of(const std::vector<AnyTensor>& tensors) {
  nb::list all;
  for (const AnyTensor& t : tensors) all.append(nb::cast(object_of(t.ref())));
  return all;
}

void add_base(nb::module_& m) {
  using optim::Optimizer;
  nb::class_<Optimizer> base(m, "Optimizer",
                             "Base of the optimizers, which write into the parameters that they are given.");
  refuse_construction(base, "Optimizer is the base class of SGD, Adam, AdamW and RMSprop");
  base.def(
          "backward",
          [](Optimizer& o, const Operand& loss) {
            return object_of(without_gil([&] { return o.backward(loss_from(loss)).ref(); }));
          },
          nb::arg("loss"), "Adds the gradients of a loss to those since the last step. Returns its value.")
      .def("step", stepped, nb::arg("loss") = nb::none(),
           "Updates the parameters by their gradients. With a loss, calls backward(loss) first and returns its value; "
           "without, returns whether it updated, which a loss scale may prevent.")
      .def("zero_grad", &Optimizer::zero_grad, "Drops the gradients since the last step.")
      .def(
          "gradient",
          [](const Optimizer& o, std::size_t i) -> nb::object {
            const AnyTensor g = o.gradient(i);
            return g.defined() ? nb::cast(object_of(g.ref())) : nb::none();
          },
          nb::arg("index"), "The gradient of a parameter since the last step, or None.")
      .def_prop_rw("lr", &Optimizer::lr, &Optimizer::set_lr, "The learning rate.")
      .def("set_max_norm", &Optimizer::set_max_norm, nb::arg("norm"),
           "Limits the norm of all gradients of a step together; 0 for no limit.")
      .def("use_master_weights", &Optimizer::use_master_weights,
           "Keeps 16-bit parameters, and the state, in float32 too.")
      .def(
          "set_loss_scale",
          [](Optimizer& o, double scale, double growth, double backoff, std::int64_t interval) {
            o.set_loss_scale({scale, growth, backoff, interval});
          },
          nb::arg("scale") = 65536.0, nb::arg("growth") = 2.0, nb::arg("backoff") = 0.5, nb::arg("interval") = 2000,
          "Multiplies losses against underflow in 16-bit gradients, and skips steps whose gradients are not finite.")
      .def_prop_ro("loss_scale", &Optimizer::loss_scale)
      .def_prop_ro("steps", &Optimizer::steps, "The number of steps so far.")
      .def_prop_ro("parameters", [](const Optimizer& o) { return list_of(o.parameters()); })
      .def(
          "state_dict", [](const Optimizer& o) { return dict_of(o.state_dict()); }, "The state: a dict of tensors.")
      .def(
          "load_state_dict",
          [](Optimizer& o, const nb::object& state) {
            const StateDict given = state_from("load_state_dict", "state", state);
            without_gil([&] { o.load_state_dict(given); });
          },
          nb::arg("state").none(), "Restores what state_dict() gave.");
}

/// A constructor that makes the optimizer without the GIL, since it may copy parameters.
template <class O, class Options>
void make(O* self, const char* name, const nb::object& parameters, const Options& options) {
  std::vector<AnyTensor> all = parameters_from(name, parameters);
  without_gil([&] { new (self) O(std::move(all), options); });
}

std::pair<double, double> betas_from(const char* name, const nb::object& betas) {
  constexpr std::string_view expected = "two numbers, as (0.9, 0.999)";
  const nb::list pair = items_of(name, "betas", expected, betas);
  double beta1 = 0, beta2 = 0;
  if (pair.size() != 2 || !nb::try_cast(pair[0], beta1) || !nb::try_cast(pair[1], beta2))
    throw_wrong(name, "betas", expected, betas);
  return {beta1, beta2};
}

template <class Adam>
void add_adam(nb::module_& m, const char* name, const char* doc, double weight_decay) {
  nb::class_<Adam, std::conditional_t<std::is_same_v<Adam, optim::AdamW>, optim::Adam, optim::Optimizer>>(m, name, doc)
      .def(
          "__init__",
          [name](Adam* self, const nb::object& parameters, double lr, const nb::object& betas, double eps,
                 double decay) {
            const auto [beta1, beta2] = betas_from(name, betas);
            make(self, name, parameters, optim::AdamOptions{lr, beta1, beta2, eps, decay});
          },
          nb::arg("parameters").none(), nb::arg("lr") = 1e-3, nb::arg("betas").none() = nb::make_tuple(0.9, 0.999),
          nb::arg("eps") = 1e-8, nb::arg("weight_decay") = weight_decay);
}

void add_kinds(nb::module_& m) {
  nb::class_<optim::SGD, optim::Optimizer>(m, "SGD", "Stochastic gradient descent, as torch.optim.SGD.")
      .def(
          "__init__",
          [](optim::SGD* self, const nb::object& parameters, double lr, double momentum, double dampening,
             double weight_decay, Flag nesterov) {
            make(self, "SGD", parameters, optim::SGDOptions{lr, momentum, dampening, weight_decay, nesterov});
          },
          nb::arg("parameters").none(), nb::arg("lr") = 1e-3, nb::arg("momentum") = 0.0, nb::arg("dampening") = 0.0,
          nb::arg("weight_decay") = 0.0, nb::arg("nesterov") = false);
  add_adam<optim::Adam>(m, "Adam", "Adam, as torch.optim.Adam.", 0);
  add_adam<optim::AdamW>(m, "AdamW", "Adam with decoupled weight decay, as torch.optim.AdamW.", 1e-2);
  nb::class_<optim::RMSprop, optim::Optimizer>(m, "RMSprop", "RMSprop, as torch.optim.RMSprop.")
      .def(
          "__init__",
          [](optim::RMSprop* self, const nb::object& parameters, double lr, double alpha, double eps,
             double weight_decay, double momentum) {
            make(self, "RMSprop", parameters, optim::RMSpropOptions{lr, alpha, eps, weight_decay, momentum});
          },
          nb::arg("parameters").none(), nb::arg("lr") = 1e-2, nb::arg("alpha") = 0.99, nb::arg("eps") = 1e-8,
          nb::arg("weight_decay") = 0.0, nb::arg("momentum") = 0.0);
}

void add_averages(nb::module_& m) {
  nb::class_<optim::EMA>(m, "EMA", "Exponential moving averages of parameters.")
      .def(
          "__init__",
          [](optim::EMA* self, const nb::object& parameters, double decay) { make(self, "EMA", parameters, decay); },
          nb::arg("parameters").none(), nb::arg("decay") = 0.999)
      .def(
          "update", [](optim::EMA& e) { without_gil([&] { e.update(); }); }, "Moves the averages to the parameters.")
      .def(
          "swap", [](optim::EMA& e) { without_gil([&] { e.swap(); }); }, "Exchanges parameters and averages.")
      .def_prop_ro("averages", [](const optim::EMA& e) { return list_of(e.averages()); })
      .def("state_dict", [](const optim::EMA& e) { return dict_of(e.state_dict()); })
      .def(
          "load_state_dict",
          [](optim::EMA& e, const nb::object& state) {
            const StateDict given = state_from("load_state_dict", "state", state);
            without_gil([&] { e.load_state_dict(given); });
          },
          nb::arg("state").none());
}

}  // namespace

/// Into the submodule _core.optim.
void add_optimizers(nb::module_& core) {
  nb::module_ m = core.def_submodule("optim");
  add_base(m);
  add_kinds(m);
  add_averages(m);
  m.def("step_decay", &optim::step_decay, nb::arg("lr"), nb::arg("step"), nb::arg("period"), nb::arg("gamma") = 0.1,
        "lr times gamma for every `period` steps that have passed.");
  m.def("cosine_decay", &optim::cosine_decay, nb::arg("lr"), nb::arg("step"), nb::arg("steps"), nb::arg("last") = 0.0,
        "From lr at step 0 to `last` at step `steps` and after it, along half a cosine.");
  m.def("warm_up", &optim::warm_up, nb::arg("lr"), nb::arg("step"), nb::arg("steps"),
        "lr after `steps` steps, and before that a fraction that grows linearly.");
}

}  // namespace sinter::python
