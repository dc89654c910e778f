"""Every function, constructor and method says which argument is of a wrong type, and what it was given."""
import ast
import decimal
import inspect
import pathlib
import pickle

import numpy as np

import sinter_jit as sn
from case import Case, main

PACKAGE = pathlib.Path(sn.__file__).parent
MODULES = [(sn, "__init__.pyi"), (sn.optim, "optim.pyi"), (sn.nn, "nn/modules.py"), (sn.nn, "nn/__init__.py"), (sn.data, "data.py")]

x, index, batch = sn.ones(2, 2), sn.tensor([[0, 1], [1, 0]]), sn.ones(2, 2, 2)
# What is given for the other parameters, by their type.
VALUES = {"int": 1, "float": 1.0, "str": "a", "_bool": True, "Operand": x, "_Value": x, "Tensor": x, "_Number": 2, "_Path": "a",
          "int | Sequence[int]": 2, "Sequence[int]": [2], "Sequence[Operand]": [index], "Sequence[Tensor]": [x], "Mesh": sn.Mesh(["cpu"]),
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
                (lambda: sn.device_name(2**70), f"device_name: the argument 'index' is out of range: {2**70} (int)"),
                (lambda: sn.device_name(int), "device_name: the argument 'index' must be an integer, but got the class int"),
                (lambda: optimizer.gradient(-1), "gradient: the argument 'index' is out of range: -1 (int)"),
                (lambda: sn.optim.SGD([x], lr=float), "SGD: the argument 'lr' must be a number, but got the class float"),
                (lambda: sn.optim.Adam([x], betas=None), "Adam: the argument 'betas' must be two numbers, as (0.9, 0.999), but got None"),
                (lambda: sn.cat([x, 3]), "cat: the argument 'tensors' must be a list of tensors, but got a list with the number 3"),
                (lambda: sn.stack([x, None]), "stack: the argument 'tensors' must be a list of tensors, but got a list with None"),
                (lambda: sn.einsum("i", x, "a"), "einsum: the argument 'operands' must be a list of tensors, but got a list with 'a'"),
                (lambda: sn.prod(None), "prod: the argument 'input' must be a tensor, but got None"),
                (lambda: sn.full(2, None), "full: the argument 'fill_value' must be a number, but got None"),
                (lambda: sn.eye(2.0), "eye: the argument 'n' must be an integer, but got the number 2.0"),
                (lambda: sn.shard(x, 3), "shard: the argument 'mesh' must be a Mesh, but got the number 3"),
                (lambda: sn.Mesh("cpu"), "Mesh: the argument 'devices' must be a list of devices, but got 'cpu' (str)"),
                (lambda: sn.tensor(sn.Tensor), "tensor takes numbers, lists of them, arrays and tensors, but got the class sinter_jit.Tensor"),
                (lambda: sn.asarray(None), "asarray takes numbers, lists of them, arrays and tensors, but got None"),
                (lambda: sn.manual_seed(sn.Generator), "manual_seed: the argument 'seed' must be an integer, but got the class sinter_jit.Generator"),
                (lambda: sn.save_safetensors("a", {"x": x}, {"k": 3}), "save_safetensors: the argument 'metadata' must be a dict of strs by name, but it "
                                                                      "holds 3 (int) under the name 'k'"),
                (lambda: sn.export_kernel(x + 1, args={"x": 3}), "export_kernel: the argument 'args' must be a dict of the expression's tensors, as in "
                                                                "{\"z\": z}, but it holds 3 (int) under the name 'x'"),
                (lambda: x.__dlpack__(max_version=3), "__dlpack__: the argument 'max_version' must be a tuple of two integers, but got 3 (int)"),
                (lambda: sn.nn.Softmax("a"), "Softmax: the argument 'dim' must be an integer or a list, but got 'a' (str)"),
                (lambda: sn.nn.Softmax(), "Softmax: the argument 'dim' is missing"),
                (lambda: sn.nn.MSELoss(3), "MSELoss: the argument 'reduction' must be 'mean', 'sum' or 'none', but got 3 (int)"),
                (lambda: sn.nn.GELU("tan"), "GELU: the argument 'approximate' must be 'none' or 'tanh', but got 'tan' (str)"),
                (lambda: sn.nn.Linear(2**70, 1), f"Linear: the argument 'in_features' is out of range: {2**70} (int)"),
                (lambda: sn.nn.GroupNorm(10**5000, 3), "GroupNorm: the argument 'num_groups' is out of range: an integer of many digits (int)"),
                (lambda: sn.nn.Dropout(10**5000), "Dropout: the argument 'p' is out of range: an integer of many digits (int)"),
                (lambda: sn.nn.Linear(1, 1).load_state_dict({"weight": "a"}), "load_state_dict: 'weight': asarray takes numbers, lists of them, arrays and "
                                                                             "tensors, but got 'a' (str)"),
                (lambda: sn.nn.GELU(aproximate="tanh"), "GELU has no argument 'aproximate': it takes approximate; did you mean 'approximate'?"),
                (lambda: sn.nn.ReLU(inplace=True), "ReLU has no argument 'inplace': it takes none by name"),
                (lambda: sn.nn.ReLU(True), "ReLU takes 0 positional arguments, but 1 is given"),
                (lambda: sn.nn.ModuleList([3]), "ModuleList: the module '0' must be one such as nn.ReLU(), but got 3 (int)"),
                (lambda: sn.nn.Sequential({3: sn.nn.ReLU()}), "Sequential: the names of modules are strs, but got 3 (int)"),
                (lambda: sn.nn.Sequential(sn.nn.ReLU())["a"], "list indices must be integers or slices, not str"),
                (lambda: sn.nn.Linear(1, 1).load_state_dict({3: x}), "load_state_dict: the names of a state are strs, but got 3 (int)"),
                (lambda: sn.data.DataLoader(None), "DataLoader: the argument 'dataset' must have __len__ and __getitem__, as a list of samples has, but got None"),
                (lambda: sn.data.DataLoader(list), "DataLoader: the argument 'dataset' must have __len__ and __getitem__, as a list of samples has, but got the class "
                                                   "list"),
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

    def test_values(self):
        """Arguments of the right types whose values are wrong."""
        for call, error, text in [
                (lambda: sn.sum(x, axis=2**70), OverflowError, f"sum: {2**70} (int) does not fit int64; larger numbers may be floats, or NumPy arrays of uint64"),
                (lambda: x + 10**5000, OverflowError, "add: an integer of many digits (int) does not fit int64; larger numbers may be floats, or NumPy arrays of "
                                                      "uint64"),
                (lambda: sn.Generator(2**64), OverflowError, f"Generator: the seed must be an integer of 64 bits, but got {2**64} (int)"),
                (lambda: sn.manual_seed(-2**63 - 1), OverflowError, f"manual_seed: the seed must be an integer of 64 bits, but got {-2**63 - 1} (int)"),
                (lambda: setattr(sn.Generator(1), "position", -1), sn.Error, "the position of a generator must be at least 0, but got -1"),
                (lambda: setattr(sn.Generator(1), "position", 2**70), TypeError, f"position is out of range: {2**70} (int)"),
                (lambda: sn.zeros(2, dtype=np.dtype(">f4")), sn.DTypeError, "zeros: the dtype >f4 is not in this machine's byte order; "
                                                                             'numpy.dtype(">f4").newbyteorder("=") is'),
                (lambda: sn.Stream("cpu"), sn.DeviceError, "cpu has no streams: its work is done when a call returns. Streams belong to GPUs: name one, as in "
                                                           "sinter_jit.Stream(0)"),
                (lambda: sn.Mesh([]), sn.DeviceError, "a mesh needs at least one device: Mesh([0, 1])"),
                (lambda: sn.nn.GroupNorm(2, 5), ValueError, "GroupNorm: 5 channels cannot be divided into 2 groups"),
                (lambda: sn.nn.Sequential(sn.nn.ReLU())[1], IndexError, "Sequential: the index 1 is out of range for 1 module"),
                (lambda: sn.data.TensorDataset(), ValueError, "TensorDataset takes tensors of equally many rows, but got none"),
                (lambda: sn.data.TensorDataset(x, batch[0, :1]), ValueError, "TensorDataset takes tensors of equally many rows, but got (2, 2), (1, 2)"),
                (lambda: sn.data.collate([]), ValueError, "collate takes one sample or more, but got none"),
                (lambda: sn.data.collate([{"a": 1}, {"b": 1}]), ValueError, "collate: the first sample is a dict of 'a', but another is a dict of 'b'"),
                (lambda: sn.data.collate([(1, 2), 3]), ValueError, "collate: the first sample is a tuple of length 2, but another is 3 (int)"),
                (lambda: x.__array_namespace__().broadcast_shapes((1, "a")), TypeError, "broadcast_shapes takes tuples of integers, but one holds 'a' (str)"),
                (lambda: sn.optim.Adam([]), ValueError, "Adam: the list of parameters is empty")]:
            with self.subTest(text), self.assertRaises(error) as caught:
                call()
            with self.subTest(text):
                self.assertEqual(str(caught.exception), text)

    def test_errors_of_conversions_stay(self):
        class Raises:
            def __index__(self):
                raise KeyError("mine")

        for call in (lambda: sn.device_name(Raises()), lambda: sn.sum(x, Raises()), lambda: sn.nn.Linear(Raises(), 1), lambda: x[Raises()]):
            with self.assertRaisesRegex(KeyError, "^'mine'$"):
                call()

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
        self.assertEqual(rows.batch(range(2))[0].shape, (2, 2))
        self.assertEqual(sn.tensor(range(3)).tolist(), [0, 1, 2])
        self.assertEqual(sn.ones(1, 2).permute(range(2)).shape, (1, 2))
        self.assertIsNotNone(sn.optim.SGD([x], lr=np.float64(1), momentum=0.5, nesterov=np.bool_(True)))
        self.assertEqual(sn.Generator(2**64 - 1).seed, 2**64 - 1)
        self.assertEqual(sn.Generator(-1).seed, 2**64 - 1)
        self.assertTrue(sn.asarray([1], copy=np.bool_(True)).is_contiguous())

    def test_objects_that_are_integers(self):
        class Two:
            def __index__(self):
                return 2

        two = Two()
        self.assertEqual(sn.nn.Linear(two, two).weight.shape, (2, 2))
        self.assertEqual(sn.nn.GroupNorm(two, np.int64(4)).num_channels, 4)
        self.assertEqual(sn.nn.Embedding(two, two)(index).shape, (2, 2, 2))
        self.assertEqual(len(sn.data.DataLoader([1, 2, 3], two)), 2)
        self.assertEqual(sn.zeros(two, 3).shape, (2, 3))
        self.assertEqual(batch.sum(two).shape, (2, 2))

    def test_numbers_of_other_libraries(self):
        self.assertEqual(repr(sn.nn.LeakyReLU(np.array(0.5))), "LeakyReLU(negative_slope=0.5)")
        self.assertEqual(sn.nn.Dropout(sn.tensor(0.5)).p, 0.5)
        self.assertEqual(sn.nn.Embedding(3, 1, padding_idx=np.int64(1)).padding_idx, 1)
        self.assertEqual(repr(sn.nn.Softplus(2)), "Softplus(beta=2, threshold=20.0)")
        for other in (np.complex64(0.5), np.array([0.5, 0.2]), sn.ones(3)):
            with self.assertRaisesRegex(TypeError, "^Dropout: the argument 'p' must be a number, but got an object of type"):
                sn.nn.Dropout(other)
        with self.assertRaisesRegex(TypeError, "^SGD: the argument 'momentum' must be a number, but got 'a'"):
            sn.optim.SGD([x], lr=decimal.Decimal("0.1"), momentum="a")
        if sn.device_count():
            self.assertEqual(x.to(np.int64(0)).device, sn.device("cuda:0"))
        self.assertEqual(sn.arange(3)[range(2)].tolist(), [0, 1])

    def test_lists_that_make_their_items(self):
        class Makes(list):
            def __iter__(self):
                yield "B" * 60_000_000

        for call in (lambda: sn.cat(Makes([1])), lambda: sn.ones(2).reshape(Makes([1])), lambda: sn.sum(x, axis=Makes([1]))):
            with self.assertRaisesRegex(TypeError, "but got a list with 'BBB"):
                call()

    def test_a_state_that_does_not_fit_changes_nothing(self):
        layer = sn.nn.Linear(2, 2)
        before = layer.weight.tolist(), layer.bias.tolist()
        for state, text in [({"weight": np.zeros((2, 2)), "bias": np.ones(2, complex)}, "dtype mismatch for bias: complex128 .* float32"),
                            ({"weight": np.zeros((2, 2)), "bias": np.ones(3)}, "size mismatch for bias"),
                            ({"weight": np.zeros((2, 2)), "bias": np.ones(2, ">f4")}, "^load_state_dict: 'bias': asarray: .*byteorder")]:
            with self.assertRaisesRegex((sn.Error, TypeError), text):
                layer.load_state_dict(state)
            self.assertEqual((layer.weight.tolist(), layer.bias.tolist()), before)

    def test_modules_of_modules(self):
        net = sn.nn.Sequential(sn.nn.Linear(1, 2), sn.nn.ReLU(), sn.nn.Linear(2, 1))
        self.assertEqual(repr(net[1:]), "Sequential(\n  (1): ReLU()\n  (2): Linear(in_features=2, out_features=1, bias=True)\n)")
        self.assertIs(net[np.int64(-1)], net[2])
        layers = sn.nn.ModuleList(net)
        self.assertEqual([type(layers[:2]), len(layers[:2])], [sn.nn.ModuleList, 2])
        self.assertIs(layers[1:][0], net[1])
        self.assertIn("class Sequential(Module)", inspect.getsource(sn.nn.Sequential))

    def test_datasets(self):
        class Zeros(sn.data.TensorDataset):
            def __getitem__(self, index):
                first, = super().__getitem__(index)
                return first * 0

        batch, = sn.data.DataLoader(Zeros(sn.ones(4)), 4)
        self.assertEqual(batch.tolist(), [0, 0, 0, 0])
        self.assertEqual(sn.data.TensorDataset(sn.arange(4))[1:3][0].tolist(), [1, 2])
        loader = sn.data.DataLoader([1, 2, 3], 3, shuffle=True, seed=2**64 - 1)
        self.assertEqual([sorted(batch.tolist()) for _ in range(2) for batch in loader], [[1, 2, 3]] * 2)
        with self.assertRaisesRegex(TypeError, "^DataLoader: the argument .seed. is out of range"):
            sn.data.DataLoader([1], seed=-2**63 - 1)
        self.assertEqual(sn.data.collate([{"a": 1}, {"a": 2, "b": 3}])["a"].tolist(), [1, 2])

    def test_a_generator_ends(self):
        generator = sn.Generator(1)
        generator.position = 2**63 - 2
        self.assertEqual(sn.rand(3, generator=generator).shape, (3,))
        with self.assertRaisesRegex(sn.Error, "a generator at position 9223372036854775807 has no numbers left"):
            sn.rand(4, generator=generator)

    def test_arguments_of_function_modules_are_attributes(self):
        weight = sn.tensor([1.0, 3.0])
        loss = sn.nn.CrossEntropyLoss(weight=weight, label_smoothing=0.1)
        self.assertEqual(loss.label_smoothing, 0.1)
        self.assertEqual(list(loss.state_dict()), ["weight"])
        self.assertEqual(loss.parameters(), [])
        self.assertEqual(loss.to("float16").weight.dtype, sn.float16)
        self.assertEqual(repr(sn.nn.Softplus(2, threshold=3.0)), "Softplus(beta=2, threshold=3.0)")
        class Own(sn.nn.BCELoss):
            def __init__(self):
                self.register_buffer("mine", sn.ones(2))
                super().__init__()

        self.assertEqual(Own().parameters(), [])
        unweighted = sn.nn.CrossEntropyLoss()
        unweighted.weight = weight
        self.assertEqual((unweighted.parameters(), list(unweighted.state_dict())), ([], ["weight"]))
        target = sn.tensor([0, 1])
        self.assertEqual(unweighted(input=x, target=target).item(), sn.cross_entropy(x, target, weight=np.array([1, 3], np.float32)).item())
        self.assertEqual(sn.nn.CrossEntropyLoss(np.array([1, 3], np.float32)).weight.tolist(), [1, 3])
        self.assertEqual(sn.nn.Softmax((0, 1))(x).sum().item(), 1)

    def test_what_is_checked_can_be_pickled(self):
        loader = pickle.loads(pickle.dumps(sn.data.DataLoader([1, 2], 2)))
        self.assertIs(loader.collate, sn.data.collate)
        self.assertEqual([batch.tolist() for batch in loader], [[1, 2]])


if __name__ == "__main__":
    main()
