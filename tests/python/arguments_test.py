"""Every function, constructor and method says which argument is of a wrong type, and what it was given."""
import ast
import pathlib
import pickle

import numpy as np

import sinter_jit as sn
from case import Case, main

PACKAGE = pathlib.Path(sn.__file__).parent
MODULES = [(sn, "__init__.pyi"), (sn.optim, "optim.pyi"), (sn.nn, "nn.py"), (sn.data, "data.py")]

x, index, batch = sn.ones(2, 2), sn.tensor([[0, 1], [1, 0]]), sn.ones(2, 2, 2)
# What is given for the other parameters, by their type.
VALUES = {"int": 1, "float": 1.0, "str": "a", "_bool": True, "Operand": x, "_Value": x, "Tensor": x, "_Number": 2, "_Path": "a",
          "int | Sequence[int]": 2, "Sequence[int]": [2], "Sequence[Operand]": [index], "Mesh": sn.Mesh(["cpu"]),
          "Mapping[str, Operand]": {"x": x}, "Mapping[str, Any]": {}, "Iterable[Tensor]": [x], "Callable[..., Any]": len,
          "Module": sn.nn.ReLU()}
# In functions that need others.
VALUES_IN = {"baddbmm": {"input": batch, "batch1": batch, "batch2": batch}, "masked_fill_": {"mask": x > 0}, "nan_to_num": {"posinf": 1}, "embedding": {"input": index}, "custom_vjp": {"backward": len},
             "clamp": {"min": 1}, "clip": {"min": 1}, "einsum": {"operands": x}, "scatter": {"src": 1}, "scatter_": {"src": 1},
             "flip": {"dims": 0}, "permute": {"dims": [0, 1]}, "permute_dims": {"dims": [0, 1]}, "tile": {"repeats": 2},
             **dict.fromkeys(["expand", "broadcast_to"], {"size": [2, 2]}), **dict.fromkeys(["reshape", "view"], {"shape": [4]})}
HINTED = {"evaluate": {"operand": "operands", "first": "operands", "second": "operands", "others": "operands"},  # in several ways
          "grad": {"tensor": "tensors", "first": "tensors", "second": "tensors", "others": "tensors"}}
OBJECTS = [x, x + 1, sn.Generator(1), sn.Mesh(["cpu"]), sn.float32, sn.device("cpu"), sn.optim.SGD([x]), sn.optim.EMA([x]),
           sn.nn.Linear(1, 1), sn.nn.ModuleList(), sn.data.DataLoader([1])]
FOREIGN = ("incompatible function arguments", "_core", "std::", "sn::", "nanobind", "overload", "NoneType")
ANY = ("", "Any", "object")  # the types of parameters that take everything


class Wrong:
    """An object that no function takes."""


def callables():
    """(what is called, as a message names it; its node) of all type hints."""
    for module, file in MODULES:
        for node in ast.parse((PACKAGE / file).read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name[0] != "_" and node.name != "torch_backend":  # which needs PyTorch
                yield getattr(module, node.name), node.name, node
            elif isinstance(node, ast.ClassDef) and node.name[0] != "_":
                yield from members(getattr(module, node.name), node)


def members(kind, body):
    objects = [made for made in OBJECTS if kind in type(made).__mro__]
    for node in body.body:
        if not isinstance(node, ast.FunctionDef) or any(ast.unparse(d) == "property" for d in node.decorator_list):
            continue
        if node.name == "__init__":
            yield kind, kind.__name__, node
        elif objects and node.name[0] != "_" and node.name != "forward":  # which operations check
            yield getattr(objects[0], node.name), node.name, node


def kind_of(parameter):
    return ast.unparse(parameter.annotation).replace(" | None", "") if parameter.annotation else ""


def calls(name, node):
    """(the parameter that is given a wrong object, the arguments by place and by name)."""
    a = node.args
    by_place = [p for p in a.posonlyargs + a.args if p.arg != "self"]
    required = by_place[:len(by_place) - len(a.defaults)] + ([a.vararg] if a.vararg else [])
    values = VALUES_IN.get(name, {})
    given = {p.arg: values.get(p.arg, VALUES.get(kind_of(p), x)) for p in required if p is not a.vararg or p.arg in values}
    optional = {p.arg: values[p.arg] for p in by_place if p.arg in values and p.arg not in given}
    for p in [*by_place, *a.kwonlyargs, *([a.vararg] if a.vararg else [])]:
        if kind_of(p) not in ANY:
            is_placed = p in required
            positional = {**given, p.arg: Wrong()} if is_placed else given
            yield p.arg, list(positional.values()), {**optional, **({} if is_placed else {p.arg: Wrong()})}


def message_of(function, args, kwargs):
    try:
        function(*args, **kwargs)
    except (TypeError, ValueError) as error:  # to_device's stream, which the array API requires to be checked
        return str(error)
    except Exception as error:
        return repr(error)
    return "it is accepted"


class Arguments(Case):
    def test_wrong_types(self):
        wrong = []
        checked = 0
        for function, name, node in callables():
            for parameter, args, kwargs in calls(name, node):
                message = message_of(function, args, kwargs)
                named = HINTED.get(name, {}).get(parameter, parameter)
                is_clear = message.startswith(f"{name}: the argument '{named}' must be ")
                wrong += [] if is_clear and not any(text in message for text in FOREIGN) else [(name, parameter, message)]
                checked += 1
        self.assertEqual(wrong, [])
        self.assertGreater(checked, 1200)

    def test_no_arguments(self):
        for function, name, node in callables():
            with self.subTest(name):
                message = message_of(function, [], {})
                self.assertFalse(any(text in message for text in FOREIGN), message)

    def test_the_array_apis_functions(self):
        xp = x.__array_namespace__()
        for name in xp.__all__:
            if callable(getattr(xp, name)) and not isinstance(getattr(xp, name), type):
                for count in range(1, 4):
                    message = message_of(getattr(xp, name), [Wrong()] * count, {})
                    with self.subTest(name, message=message):
                        self.assertFalse(any(text in message for text in FOREIGN))

    def test_texts(self):
        optimizer, array = sn.optim.SGD([x]), x.numpy()
        for call, text in [
                (lambda: sn.jvp(1, 2, 3), "jvp: the argument 'value' must be a tensor or an expression, but got 1 (int)"),
                (lambda: sn.jvp(x, x + 1, 3), "jvp: the argument 'x' must be a tensor, but got an object of type sinter_jit.Expression"),
                (lambda: sn.load_npy(), "load_npy: the argument 'file' is missing"),
                (lambda: sn.load_npy(None), "load_npy: the argument 'file' must be a str or a pathlib.Path, but got None"),
                (lambda: sn.load_npy("a", "cpu", 3), "load_npy takes 2 positional arguments, but 3 are given"),
                (lambda: sn.load_npy("a", file="b"), "load_npy: the argument 'file' is given twice"),
                (lambda: sn.load_npy("a", devise="cpu"), "load_npy has no argument 'devise': it takes file, device; did you mean 'device'?"),
                (lambda: sn.evaluate(x, y=x), "evaluate has no argument 'y': it takes none by name"),
                (lambda: sn.device_name(2**70), f"device_name: the argument 'index' is out of range: {2**70}"),
                (lambda: optimizer.gradient(-1), "gradient: the argument 'index' is out of range: -1"),
                (lambda: setattr(optimizer, "lr", "a"), "lr must be a number, but got 'a' (str)"),
                (lambda: sn.optim.Adam([x], betas=(1, "a")), "Adam: the argument 'betas' must be two numbers, as (0.9, 0.999), but got an "
                                                             "object of type tuple"),
                (lambda: sn.optim.SGD([array]), "SGD: the argument 'parameters' must be a list of tensors, as [w, b] or net.parameters(), but it "
                                                "holds an object of type numpy.ndarray"),
                (lambda: sn.save_npz("a", {"x": array}), "save_npz: the argument 'tensors' must be a dict of tensors by name, but it holds an object "
                                                         "of type numpy.ndarray under the name 'x'"),
                (lambda: sn.Operand.numpy(3), "numpy is a method of a tensor or an expression, but got 3 (int)"),
                (lambda: sn.Stream.wait(3), "wait is a method of a Stream, but got 3 (int)"),
                (lambda: x.__add__(), "__add__: the argument 'other' is missing"),
                (lambda: x.sum(object()), "sum: the argument 'axis' must be an axis or a list of axes, but got an object of type object"),
                (lambda: sn.zeros(2, dtype=3.5), 'zeros: the argument \'dtype\' must be a dtype, such as sinter_jit.float32 or "float32", but got 3.5 (float)'),
                (lambda: sn.nn.Linear("a", 2), "Linear: the argument 'in_features' must be an integer, but got 'a' (str)"),
                (lambda: sn.nn.Linear(2), "Linear: the argument 'out_features' is missing"),
                (lambda: sn.nn.Linear(2, 2, biass=False), "Linear has no argument 'biass': it takes in_features, out_features, bias, dtype, device; did you "
                                                          "mean 'bias'?"),
                (lambda: sn.data.TensorDataset(x, [1]), "TensorDataset: the argument 'tensors' must be a tensor, but got an object of type list")]:
            with self.subTest(text), self.assertRaises(TypeError) as caught:
                call()
            with self.subTest(text):
                self.assertEqual(str(caught.exception), text)

    def test_several_overloads_are_one_function(self):
        types = [p.annotation for p in sn._arguments._parameters(sn.Stream.wait)]
        self.assertEqual(str(sn._arguments._Type(types[1], sn._core)), "an Event or a Stream")

    def test_errors_of_what_is_called_inside_stay(self):
        def backward(gradient):
            raise TypeError("(): incompatible")

        with self.assertRaisesRegex(TypeError, r"^\(\): incompatible$"):
            sn.grad(sn.custom_vjp((x * 2).sum(), backward, x), x)

    def test_valid_calls(self):
        self.assertEqual(sn.nn.Linear(np.int64(2), 2, bias=True).weight.shape, (2, 2))
        self.assertEqual(sn.optim.SGD([x], lr=np.float32(0.5)).lr, 0.5)
        self.assertEqual(sn.nn.LayerNorm(2, eps=1).normalized_shape, (2,))
        self.assertEqual(len(sn.data.DataLoader([1, 2], np.int32(2))), 1)
        self.assertEqual(sn.nn.LayerNorm(np.int64(4)).normalized_shape, (4,))
        self.assertEqual(sn.nn.RMSNorm(np.int64(4)).normalized_shape, (4,))
        self.assertIsNone(sn.nn.Linear(2, 3, bias=np.bool_(False)).bias)
        rows = sn.data.TensorDataset(x)
        for indices in ([1, 0], np.array([1, 0]), sn.tensor([1, 0])):
            self.assertEqual(rows.batch(indices)[0].shape, (2, 2))
        self.assertEqual(sn.data.collate(np.zeros((2, 2))).shape, (2, 2))

    def test_what_is_checked_can_be_pickled(self):
        loader = pickle.loads(pickle.dumps(sn.data.DataLoader([1, 2], 2)))
        self.assertIs(loader.collate, sn.data.collate)
        self.assertEqual([batch.tolist() for batch in loader], [[1, 2]])


if __name__ == "__main__":
    main()
