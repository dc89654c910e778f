"""Functions that make, join, order, select and write tensors, against NumPy."""
import itertools

import numpy as np

import sinter_jit as sn
from case import DEVICES, DTYPES, Case, main

SHAPES = [(), (0,), (1,), (7,), (3, 4), (2, 0, 3), (2, 3, 4)]


def ordered(dtype):
    return np.dtype(dtype).kind != "c"


class Factories(Case):
    def test_shapes_dtypes_and_devices(self):
        for device, dtype, shape in itertools.product(DEVICES, DTYPES, SHAPES):
            with self.subTest(device=device, dtype=dtype, shape=shape):
                self.assert_equal(sn.zeros(shape, dtype=dtype, device=device), np.zeros(shape, dtype))
                self.assert_equal(sn.ones(*shape, dtype=np.dtype(dtype), device=device) if shape else sn.ones((), dtype=dtype),
                                  np.ones(shape, dtype))
                made = sn.full(shape, 1, dtype=getattr(sn, dtype), device=sn.device(device))
                self.assert_equal(made, np.full(shape, 1, dtype))
                self.assertEqual((made.device, sn.empty(shape, device=device).device), (sn.device(device),) * 2)

    def test_the_defaults(self):
        self.assertEqual([sn.zeros(1).dtype, sn.full(1, True).dtype, sn.full(1, 2).dtype, sn.full((1,), 2.0).dtype, sn.full(1, 2j).dtype],
                         [sn.float32, sn.bool, sn.int64, sn.float32, sn.complex64])
        self.assertEqual([sn.arange(3).dtype, sn.arange(3.0).dtype, sn.linspace(0, 1, 3).dtype, sn.eye(2).dtype],
                         [sn.int64, sn.float32, sn.float32, sn.float32])

    def test_ranges(self):
        for arguments in [(5,), (0,), (2, 9), (2, 9, 3), (9, 2, -2), (-3, 3)]:
            self.assert_equal(sn.arange(*arguments), np.arange(*arguments))
            self.assert_equal(sn.arange(*arguments, dtype="int16"), np.arange(*arguments, dtype="i2"))
        self.assert_close(sn.arange(0, 1, 0.1, dtype="float64"), np.arange(0, 1, 0.1), 1e-15)
        self.assert_close(sn.linspace(-1, 2, 7, dtype="float64"), np.linspace(-1, 2, 7), 1e-15)
        self.assert_equal(sn.eye(3, 4), np.eye(3, 4, dtype="f4"))
        self.assert_equal(sn.arange(start=1, end=4, step=2, device=DEVICES[-1]), np.arange(1, 4, 2))

    def test_like(self):
        x = sn.tensor([[1, 2], [3, 4]], dtype="int32", device=DEVICES[-1])
        for like in [x, x + 1, x.T]:
            for made, value in [(sn.zeros_like(like), 0), (sn.ones_like(like), 1), (sn.full_like(like, 7), 7)]:
                self.assert_equal(made, np.full((2, 2), value, "i4"))
                self.assertEqual(made.device, x.device)
            self.assertEqual(sn.empty_like(like, dtype="float64", device="cpu").dtype, sn.float64)

    def test_wrong_arguments(self):
        for call, error, text in [(lambda: sn.zeros("3"), TypeError, "zeros: the argument 'size' must be a list of integers"),
                                  (lambda: sn.zeros(-1), sn.ShapeError, "negative"), (lambda: sn.zeros(), TypeError, "'size' must be given"),
                                  (lambda: sn.zeros(2, dtype="f16x"), sn.DTypeError, "no dtype 'f16x'"),
                                  (lambda: sn.zeros(2, device="gpu"), sn.DeviceError, "gpu"), (lambda: sn.arange(0, 1, 0), sn.ShapeError, "step"),
                                  (lambda: sn.full(2, "a"), TypeError, "'fill_value' must be a number"), (lambda: sn.eye(2.5), TypeError, "integer"),
                                  (lambda: sn.linspace(0, 1, 2, dtype="int64"), TypeError, "dtype of floats"),
                                  (lambda: sn.full(2, 300, dtype="uint8"), sn.Error, "300"), (lambda: sn.zeros(2, devise="cpu"), TypeError, "did you mean 'device'")]:
            with self.assertRaisesRegex(error, text):
                call()


class Random(Case):
    def test_seeds_and_generators(self):
        for draw in [lambda **k: sn.rand(50, **k), lambda **k: sn.randn(5, 10, **k), lambda **k: sn.randint(-5, 5, (50,), **k),
                     lambda **k: sn.rand_like(sn.zeros(50), **k), lambda **k: sn.randn_like(sn.zeros(50) + 0, **k),
                     lambda **k: sn.normal(1, 2, (50,), **k), lambda **k: sn.bernoulli(sn.full(50, 0.5), **k),
                     lambda **k: sn.dropout(sn.ones(50), **k), lambda **k: sn.exponential_like(sn.ones(50), **k)]:
            seed = self.random.randrange(2**64)
            sn.manual_seed(seed)
            first, second = draw().tolist(), draw().tolist()
            generator = sn.Generator(seed)
            sn.manual_seed(seed + 1)  # does not matter
            self.assertEqual(draw(generator=generator).tolist(), first)
            self.assertEqual(generator.position, 1)
            self.assertEqual(draw(generator=generator).tolist(), second)
            self.assertNotEqual(first, second)
            generator.position = 1
            self.assertEqual(draw(generator=generator).tolist(), second)
            generator.manual_seed(seed)
            self.assertEqual(draw(generator=generator).tolist(), first)
            self.assertEqual(generator.seed, seed)

    def test_devices_draw_the_same(self):
        drawn = [sn.rand(100, device=device, generator=sn.Generator(5)).to("cpu").tolist() for device in DEVICES]
        self.assertEqual(drawn, [drawn[0]] * len(DEVICES))

    def test_distributions(self):
        g = sn.Generator(self.seed)
        n = 20000
        uniform, normal = sn.rand(n, dtype="float64", generator=g).numpy(), sn.randn(n, generator=g).numpy()
        self.assertTrue(0 <= uniform.min() and uniform.max() < 1 and abs(uniform.mean() - 0.5) < 0.02)
        self.assertTrue(abs(normal.mean()) < 0.05 and abs(normal.std() - 1) < 0.05)
        whole = sn.randint(3, 6, (n,), dtype="int8", generator=g).numpy()
        self.assertEqual((whole.dtype, set(whole)), (np.int8, {3, 4, 5}))
        self.assertEqual(set(sn.randint(2, (n,), generator=g).numpy()), {0, 1})
        dropped = sn.dropout(sn.ones(n), 0.25, generator=g).numpy()
        self.assertLess(abs((dropped == 0).mean() - 0.25), 0.02)
        np.testing.assert_allclose(dropped[dropped != 0], 4 / 3, rtol=1e-6)
        self.assertLess(abs(sn.exponential_like(sn.ones(n), rate=4, generator=g).numpy().mean() - 0.25), 0.02)
        x = sn.tensor([1.0, 2.0])
        self.assert_equal(sn.dropout(x, training=False), np.array([1, 2], "f4"))
        self.assert_close(sn.normal(x * 100, 0, generator=g), [100, 200])

    def test_an_expression_draws_once(self):
        e = sn.rand_like(sn.zeros(10) + 1) * 1
        self.assertEqual(e.tolist(), e.tolist())

    def test_wrong_arguments(self):
        for call, error, text in [(lambda: sn.rand(2, dtype="int32"), sn.DTypeError, "randint"), (lambda: sn.randint(3, 3, (1,)), sn.Error, "empty"),
                                  (lambda: sn.dropout(sn.ones(2), 2), sn.Error, "probability"), (lambda: sn.Generator("1"), TypeError, "integer"),
                                  (lambda: sn.rand(2, generator=7), TypeError, "a Generator, but got the number 7"), (lambda: sn.manual_seed(0.5), TypeError, "integer"),
                                  (lambda: sn.bernoulli(sn.tensor([1])), TypeError, "floats"), (lambda: sn.normal(1, 2), TypeError, "'size'"),
                                  (lambda: sn.rand_like(sn.tensor([1]) + 1), sn.DTypeError, "floats"), (lambda: sn.normal(sn.ones(2), -1), sn.Error, "negative")]:
            with self.assertRaisesRegex(error, text):
                call()


class Joins(Case):
    def test_cat_and_stack(self):
        for device, dtype in itertools.product(DEVICES, ["float32", "int64", "bool", "complex64"]):
            arrays = [self.array((2, n, 3), dtype) for n in (1, 4, 0, 2)]
            tensors = [sn.tensor(a, device=device) for a in arrays]
            for axis in (1, -2):
                self.assert_equal(sn.cat(tensors, axis), np.concatenate(arrays, axis))
            equal = arrays[:1] * 3
            for axis in (0, 1, 3, -1):
                self.assert_equal(sn.stack(tensors[:1] * 3, dim=axis), np.stack(equal, axis))
            mixed = sn.concat([tensors[0], tensors[1].T.T, (tensors[3] == tensors[3]).to(dtype)], axis=1)
            self.assertIsInstance(mixed, sn.Expression)
            self.assert_equal(mixed, np.concatenate([arrays[0], arrays[1], np.ones((2, 2, 3), dtype)], 1))

    def test_dtypes_promote(self):
        self.assertEqual(sn.cat([sn.tensor([1]), sn.tensor([1.5], dtype="float16")]).dtype, sn.float16)
        self.assertEqual(sn.stack([sn.tensor([1]) + 0, sn.tensor([1j])]).dtype, sn.complex64)

    def test_split_chunk_unbind(self):
        a = self.array((7, 4), "float32")
        for device in DEVICES:
            x = sn.tensor(a, device=device)
            for source in (x, x * 1):
                for parts, expected in [(sn.split(source, 3), np.split(a, [3, 6])), (source.split([1, 4, 2]), np.split(a, [1, 5])),
                                        (source.chunk(3), np.split(a, [3, 6])), (source.unbind(1), [a[:, i] for i in range(4)]),
                                        (source.split(2, -1), np.split(a, 2, 1)), (source.split([4, 0], 1), [a, a[:, :0]])]:
                    self.assertEqual(len(parts), len(expected))
                    for part, e in zip(parts, expected):
                        self.assertIs(type(part), sn.Tensor if source is x else sn.Expression)
                        self.assert_equal(part, e)
        x[0] = 5
        x.split(3)[0][1] = 6  # a view
        self.assertEqual(x.to("cpu")[1].tolist(), [6] * 4)

    def test_roll_tile_repeat(self):
        for device, shape in itertools.product(DEVICES, [(7,), (3, 4), (2, 3, 4)]):
            a = self.array(shape, "int32")
            x = sn.tensor(a, device=device)
            for source in (x, x + 0):
                shift = self.random.randrange(-9, 9)
                self.assert_equal(source.roll(shift), np.roll(a, shift))
                self.assert_equal(source.roll(shift, -1), np.roll(a, shift, -1))
                axes = tuple(range(len(shape)))
                self.assert_equal(source.roll(axes, axes), np.roll(a, axes, axes))
                counts = [self.random.randrange(0, 4) for _ in range(self.random.randrange(1, 4))]
                self.assert_equal(sn.tile(source, counts), np.tile(a, counts))
                self.assert_equal(source.tile(*counts), np.tile(a, counts))
                self.assert_equal(source.repeat(2), np.repeat(a, 2))
                self.assert_equal(source.repeat(3, axis=-1), np.repeat(a, 3, -1))
                each = [self.random.randrange(0, 3) for _ in range(shape[0])]
                self.assert_equal(sn.repeat_interleave(source, each, dim=0), np.repeat(a, each, 0))

    def test_einsum_outer_and_products(self):
        a, b, c = (self.array(shape, "float64") for shape in [(2, 3, 4), (2, 4, 5), (3, 5)])
        for device in DEVICES:
            x, y, z = (sn.tensor(v, device=device) for v in (a, b, c))
            for equation, tensors, arrays in [("bij,bjk->bik", (x, y), (a, b)), ("bij,bjk,ik", (x, y, z), (a, b, c)), ("bij->b", (x,), (a,)),
                                              ("...j->...", (x * 1,), (a,)), ("ik,jk->ij", (z, z), (c, c))]:
                self.assert_close(sn.einsum(equation, *tensors), np.einsum(equation, *arrays), 1e-12)
                self.assert_close(sn.einsum(equation, list(tensors)), np.einsum(equation, *arrays), 1e-12)
            self.assert_close(sn.outer(x[0, 0], z[1] + 1), np.outer(a[0, 0], c[1] + 1), 1e-12)
            self.assert_close(sn.addmm(z[:, :4], x[0], x[1].T[:, :1].expand(4, 4), beta=0.5, alpha=2),
                              0.5 * c[:, :4] + 2 * a[0] @ np.broadcast_to(a[1].T[:, :1], (4, 4)), 1e-12)
            self.assert_close(sn.baddbmm(z, x, y), c + a @ b, 1e-12)
            self.assert_close(sn.linear(x, z.T[:4].T, z[0, :3]), a @ c[:, :4].T + c[0, :3], 1e-12)

    def test_wrong_arguments(self):
        x, y = sn.zeros(2, 3), sn.zeros(2, 4)
        for call, error, text in [(lambda: sn.cat([]), sn.ShapeError, "nothing to join"), (lambda: sn.cat([x, y]), sn.ShapeError, "must match"),
                                  (lambda: sn.cat([x, 1]), TypeError, "'tensors' must be a list of tensors"), (lambda: sn.cat(x), TypeError, "list of tensors"),
                                  (lambda: sn.stack([x, y + 0]), sn.ShapeError, "equal size"), (lambda: x.split([1, 5]), sn.ShapeError, "add up"),
                                  (lambda: x.split([1, -1]), TypeError, "list of sizes"), (lambda: x.split([2**62, 2**62, 2**63 - 1]), sn.ShapeError, "add up"),
                                  (lambda: x.split(-1), sn.Error, ""), (lambda: x.tile(-1), TypeError, "at least 0"),
                                  (lambda: x.repeat([1], axis=0), TypeError, "each of the 2"), (lambda: x.repeat(2, 3), TypeError, "'axis' is passed by name"),
                                  (lambda: x.roll([1, 2]), TypeError, "'dims'"), (lambda: sn.einsum("ij,jk", x, x), sn.ShapeError, ""),
                                  (lambda: sn.einsum(x, x), TypeError, "'equation' must be a str"), (lambda: sn.cat([x], 3), sn.IndexError, "range")]:
            with self.assertRaisesRegex(error, text):
                call()
        if len(DEVICES) > 1:
            with self.assertRaises(sn.DeviceError):
                sn.cat([x + 0, sn.zeros(2, 3, device=DEVICES[1])])


class Order(Case):
    def test_sort_and_its_kin(self):
        for device, dtype in itertools.product(DEVICES, ["float32", "float16", "int64", "uint8", "bool"]):
            a = self.array((4, 9), dtype)
            if np.dtype(dtype).kind == "f":
                a[0, 3] = np.nan
            x = sn.tensor(a, device=device)
            for source in (x, x.T.clone().T, x + sn.zeros((), dtype=dtype, device=device) if dtype != "bool" else x | False):
                values, indices = sn.sort(source, 1)
                self.assert_equal(values, np.sort(a, 1))
                self.assert_equal(indices, np.argsort(a, 1, kind="stable"))
                self.assertIs(type(values), sn.Tensor if type(source) is sn.Tensor else sn.Expression)
                self.assert_equal(source.argsort(0), np.argsort(a, 0, kind="stable"))
                found = source.topk(3, axis=-1, largest=False)
                self.assert_equal(found.values, np.sort(a, 1)[:, :3])
                self.assert_equal(source.kthvalue(2, 1).values, np.sort(a, 1)[:, 1])
            self.assert_equal(x.sort(0, descending=True).values, np.sort(a, 0)[::-1] if not np.isnan(a).any() else x.sort(0, True).values.to("cpu").numpy())

    def test_max_and_min(self):
        for device in DEVICES:
            a = self.array((3, 5), "float32")
            x = sn.tensor(a, device=device)
            for source in (x, x * 1):
                found = source.max(1)
                self.assertEqual(type(found).__name__, "ValuesAndIndices")
                self.assert_equal(found.values, a.max(1))
                self.assert_equal(found.indices, a.argmax(1))
                self.assert_equal(sn.min(source, dim=0, keepdim=True).indices, a.argmin(0)[None])
                self.assert_equal(source.max(), a.max())
                self.assert_equal(source.max(-source), np.maximum(a, -a))
                self.assert_equal(sn.min(source, other=-source), np.minimum(a, -a))
                low, high = source.aminmax(0)
                self.assert_equal(low, a.min(0)), self.assert_equal(high, a.max(0))
                var, mean = source.var_mean(1, correction=0)
                self.assert_close(var, a.var(1)), self.assert_close(mean, a.mean(1))
                self.assert_close(source.std_mean(unbiased=True).std, a.std(ddof=1))

    def test_median(self):
        a = self.array((3, 4), "float32")
        x = sn.tensor(a)
        self.assert_equal(x.median(), np.sort(a.ravel())[5])
        self.assert_equal(x.median(1).values, np.sort(a, 1)[:, 1])
        x[0, 0] = np.nan
        self.assertTrue(np.isnan(x.median().item()))
        self.assert_equal(x.nanmedian(), np.sort(a.ravel()[1:])[5])

    def test_scans(self):
        for device, dtype in itertools.product(DEVICES, ["float64", "int32", "bool"]):
            a = self.array((3, 6), dtype)
            x = sn.tensor(a, device=device)
            for source in (x, x | x if dtype != "float64" else x * 1):
                self.assert_close(source.cumsum(1), np.cumsum(a, 1), 1e-12)
                self.assert_close(source.cumprod(0, dtype="float64"), np.cumprod(a, 0, dtype="f8"), 1e-12)
                self.assert_equal(source.cummax(1).values, np.maximum.accumulate(a, 1))
                self.assert_equal(sn.cummin(source, axis=0).values, np.minimum.accumulate(a, 0))
            self.assertEqual(x.cumsum(0, dtype="float32").dtype, sn.float32)
        self.assert_close(sn.tensor([1.0, 2.0]).logcumsumexp(0), np.logaddexp.accumulate([1.0, 2.0]))

    def test_selection(self):
        for device, shape in itertools.product(DEVICES, SHAPES):
            a = self.array(shape, "int32") % 3
            x = sn.tensor(a, device=device)
            expected = np.argwhere(a)
            self.assert_equal(x.nonzero(), expected.astype("i8"))
            if shape:
                for column, e in zip(x.nonzero(as_tuple=True), np.nonzero(a)):
                    self.assert_equal(column, e)
            self.assert_equal(x.masked_select(x > 1), a[a > 1])
            self.assert_equal((x + 1).masked_select(x > 1), (a + 1)[a > 1])

    def test_taking(self):
        for device in DEVICES:
            a, i = self.array((4, 5), "float32"), self.numpy_random.integers(0, 4, (3, 5))
            x, index = sn.tensor(a, device=device), sn.tensor(i, device=device)
            for source in (x, x * 1):
                self.assert_equal(sn.take_along_axis(source, index, axis=0), np.take_along_axis(a, i, 0))
                self.assert_equal(source.take_along_dim(index[:, :1], 0), np.take_along_axis(a, i[:, :1], 0))
                self.assert_equal(source.gather(0, index), np.take_along_axis(a, i, 0))
                self.assert_equal(source.index_select(0, index[0]), a[i[0]])
                self.assert_equal(source.take(index), a.ravel()[i])
        self.assert_equal(sn.one_hot(sn.tensor([2, 0]), 3), np.eye(3, dtype="i8")[[2, 0]])

    def test_empty_and_wrong(self):
        empty = sn.zeros(0, 3)
        self.assertEqual(sn.sort(empty).values.shape, (0, 3))
        self.assertEqual(empty.cumsum(0).shape, (0, 3))
        x = sn.ones(2, 3)
        for call, error in [(lambda: empty.max(0), sn.IndexError), (lambda: x.topk(4), sn.Error), (lambda: x.sort(2), sn.IndexError), (lambda: x.kthvalue(0), sn.Error),
                            (lambda: (x * 1j).sort(), sn.DTypeError), (lambda: x.cumsum(), TypeError), (lambda: x.max((0, 1), 3), TypeError),
                            (lambda: x.masked_select(x), sn.DTypeError), (lambda: x.median("0"), TypeError), (lambda: x.gather(0, x), sn.DTypeError)]:
            with self.assertRaises(error):
                call()


class Writes(Case):
    def test_scatter_and_its_kin(self):
        for device in DEVICES:
            a, s = self.array((4, 5), "float32"), self.array((2, 5), "float32")
            i = np.stack([self.numpy_random.permutation(4)[:2] for _ in range(5)], 1)
            x, src, index = (sn.tensor(v, device=device) for v in (a, s, i))
            expected = a.copy()
            np.put_along_axis(expected, i, s, 0)
            self.assert_equal(x.scatter(0, index, src), expected)
            self.assert_equal((x * 1).scatter(0, index, src * 1), expected)
            self.assert_equal(x, a)
            added = a.copy()
            np.add.at(added, (i, np.arange(5)), s)
            y = x.clone()
            self.assertIs(y.scatter_add_(0, index, src), y)
            self.assert_close(y, added)
            self.assert_equal(y.scatter_(0, index, value=7).scatter_(0, index, src), np.where(expected != a, expected, y.to("cpu").numpy()))
            rows = sn.tensor([2, 0], device=device)
            lines = a.copy()
            lines[[2, 0]] += 3 * s
            self.assert_close(x.index_add(0, rows, src, alpha=3), lines)
            lines = a.copy()
            lines[[2, 0]] = s
            self.assert_equal(x.index_copy(0, rows, src), lines)
            lines[[2, 0]] = -1
            self.assert_equal(x.index_fill(0, rows, -1), lines)

    def test_index_put(self):
        for device in DEVICES:
            a = self.array((4, 5), "float64")
            x = sn.tensor(a, device=device)
            i, j = np.array([0, -1, 0]), np.array([1, 2, 3])
            expected = a.copy()
            expected[i, j] = [7, 8, 9]
            indices = [sn.tensor(i, device=device), sn.tensor(j, device=device)]
            self.assert_equal(x.index_put(indices, sn.tensor([7.0, 8, 9], dtype="float64", device=device)), expected)
            expected[a > 0] = 2
            self.assert_equal(x.index_put(indices, 0.0).index_put_([x > 0], 2), np.where(a > 0, 2, np.where(expected != a, np.where(expected == 2, 2, 0), a)))
            added = a.copy()
            np.add.at(added, np.array([1, 1]), 1)
            self.assert_equal(x.index_put([sn.tensor([1, 1], device=device)], 1, accumulate=True), added)

    def test_masks_and_filling(self):
        for device in DEVICES:
            a = self.array((3, 4), "int32")
            x = sn.tensor(a, device=device)
            self.assert_equal(x.masked_fill(x > 50, -1), np.where(a > 50, -1, a).astype("i4"))
            self.assert_equal((x + 1).masked_fill(x > 50, x), np.where(a > 50, a, a + 1))
            y = x.clone()
            view = y[1]
            view.fill_(3)
            self.assert_equal(y, np.concatenate([a[:1], np.full((1, 4), 3, "i4"), a[2:]]))
            self.assertIs(y.masked_fill_(y == 3, 4), y)
            self.assert_equal(y[1], np.full(4, 4, "i4"))
            self.assert_equal(y.copy_(sn.tensor([1.7, 2.2, 3.0, 4.9])), np.broadcast_to(np.array([1, 2, 3, 4], "i4"), (3, 4)))
            self.assert_equal(y.zero_(), np.zeros((3, 4), "i4"))

    def test_wrong_arguments(self):
        x, index = sn.zeros(2, 3), sn.tensor([[0, 0, 0]])
        for call, error, text in [(lambda: x.scatter_(0, index + 5, 1.0), IndexError, ""), (lambda: x.scatter_(0, index), TypeError, "'src'"),
                                  (lambda: x.scatter_(0, index, 1, value=2), TypeError, "omitted if 'src'"), (lambda: sn.index_put(x, index, 1), TypeError, "list of tensors"),
                                  (lambda: x.masked_fill(index, 1), TypeError, "mask of bools"), (lambda: sn.tensor([1]).masked_fill(sn.tensor([True]), 0.5), sn.DTypeError, "category"),
                                  (lambda: sn.tensor([1]).fill_(0.5), sn.DTypeError, ""), (lambda: x.copy_(x * 1j), sn.DTypeError, "real"),
                                  (lambda: x.index_add_(0, sn.tensor([0]), sn.zeros(1, 4)), sn.ShapeError, "shape"),
                                  (lambda: sn.Tensor.fill_(x + 1, 2), TypeError, "")]:
            with self.assertRaisesRegex(error, text):
                call()
        self.assertEqual(x.tolist(), [[0, 0, 0]] * 2)
        self.assertFalse(hasattr(x + 1, "fill_"))
        self.assertFalse(hasattr(sn, "fill_"))


class Losses(Case):
    def test_elementwise(self):
        a, b = self.array((4, 3), "float64"), self.array((4, 3), "float64")
        p, q = 1 / (1 + np.exp(-a)), 1 / (1 + np.exp(-b))
        d = a - b
        w = np.abs(b)
        for device in DEVICES:
            x, y, px, py, wx = (sn.tensor(v, device=device) for v in (a, b, p, q, w))
            bce = -(q * np.log(p) + (1 - q) * np.log(1 - p))
            for loss, expected in [
                    (lambda **k: sn.mse_loss(x, y, **k), d * d), (lambda **k: sn.l1_loss(x, y, **k), np.abs(d)),
                    (lambda **k: sn.huber_loss(x, y, delta=0.5, **k), np.where(np.abs(d) < 0.5, d * d / 2, 0.5 * (np.abs(d) - 0.25))),
                    (lambda **k: sn.smooth_l1_loss(x, y, beta=2.0, **k), np.where(np.abs(d) < 2, d * d / 4, np.abs(d) - 1)),
                    (lambda **k: sn.binary_cross_entropy(px, py, **k), bce), (lambda **k: sn.binary_cross_entropy(px, py, wx, **k), bce * w),
                    (lambda **k: sn.binary_cross_entropy_with_logits(x, py, **k), bce),
                    (lambda **k: sn.binary_cross_entropy_with_logits(x, py, wx, pos_weight=wx, **k), -w * (w * q * np.log(p) + (1 - q) * np.log(1 - p)))]:
                self.assert_close(loss(), expected.mean(), 1e-9)
                self.assert_close(loss(reduction="sum"), expected.sum(), 1e-9)
                self.assert_close(loss(reduction="none"), expected, 1e-9)

    def test_of_classes(self):
        a, t, w = self.array((6, 4), "float64"), self.numpy_random.integers(0, 4, 6), np.array([1.0, 2, 0.5, 3])
        logs = a - np.log(np.exp(a).sum(1, keepdims=True))
        own = -logs[np.arange(6), t]
        target = np.where(np.arange(6) == 2, -100, t)
        kept = np.arange(6) != 2
        smooth = 0.9 * own + 0.1 * -logs.mean(1)
        probabilities = np.exp(self.array((6, 4), "float64"))
        probabilities /= probabilities.sum(1, keepdims=True)
        for device in DEVICES:
            x, l, y, ignoring, weight, soft = (sn.tensor(v, device=device) for v in (a, logs, t, target, w, probabilities))
            for loss in (lambda *r, **k: sn.cross_entropy(x, *r, **k), lambda *r, **k: sn.nll_loss(l, *r, **k)):
                self.assert_close(loss(y), own.mean(), 1e-9)
                self.assert_close(loss(y, reduction="none"), own, 1e-9)
                self.assert_close(loss(y, weight), (own * w[t]).sum() / w[t].sum(), 1e-9)
                self.assert_close(loss(ignoring), own[kept].mean(), 1e-9)
                self.assert_close(loss(y, ignore_index=int(t[0]), reduction="sum"), own[t != t[0]].sum(), 1e-9)
            self.assert_close(sn.cross_entropy(x, y, label_smoothing=0.1), smooth.mean(), 1e-9)
            self.assert_close(sn.cross_entropy(x, soft), -(probabilities * logs).sum(1).mean(), 1e-9)

    def test_wrong_arguments(self):
        x = sn.zeros(2, 3)
        for call, error, text in [(lambda: sn.mse_loss(x, x, reduction="average"), TypeError, "'mean', 'sum' or 'none', but got 'average'"),
                                  (lambda: sn.mse_loss(sn.tensor([1]), sn.tensor([1])), sn.DTypeError, "mse_loss"),
                                  (lambda: sn.cross_entropy(x, sn.tensor([0, 3])).item(), IndexError, ""), (lambda: sn.cross_entropy(x, sn.tensor([0])), sn.ShapeError, ""),
                                  (lambda: sn.cross_entropy(x, x, label_smoothing=2), sn.Error, "smoothing"), (lambda: sn.huber_loss(x, x, delta=-1), sn.Error, "delta")]:
            with self.assertRaisesRegex(error, text):
                call()

    def test_group_norm(self):
        a, w, b = self.array((2, 4, 3), "float64"), self.array((4,), "float64"), self.array((4,), "float64")
        g = a.reshape(2, 2, 6)
        g = ((g - g.mean(-1, keepdims=True)) / np.sqrt(g.var(-1, keepdims=True) + 1e-5)).reshape(a.shape)
        x = sn.tensor(a)
        self.assert_close(sn.group_norm(x, 2), g, 1e-9)
        self.assert_close(sn.group_norm(x, 2, sn.tensor(w), sn.tensor(b)), g * w[:, None] + b[:, None], 1e-9)


class Arguments(Case):
    """Those that PyTorch, NumPy or the array API standard have."""

    def test_pytorch(self):
        a, b = self.array((2, 1, 3), "float64"), self.array((2, 1, 3), "float64")
        x, y = sn.tensor(a), sn.tensor(b)
        self.assert_close(x.div(y, rounding_mode="floor"), np.floor_divide(a, b))
        self.assert_close(sn.divide(x, y, rounding_mode="trunc"), np.trunc(a / b))
        self.assert_close(x.add(y, alpha=2), a + 2 * b)
        self.assert_close(sn.subtract(x, 1, alpha=0.5), a - 0.5)
        self.assert_close(x.gelu(approximate="tanh"), sn.gelu_tanh(x).numpy())
        self.assert_close(x.round(decimals=2), np.round(a, 2))
        self.assert_close((x * 1000).round(decimals=-2), np.round(a * 1000, -2))
        self.assert_close(x.var(unbiased=False), a.var())
        self.assert_close(x.std(2, True), a.std(2, ddof=1))
        self.assertEqual(sn.tensor([1, 2]).sum(dtype="float32").dtype, sn.float32)
        self.assert_close(sn.ones(3, dtype="float16").mean(dtype=np.float64), 1)
        self.assertEqual(sn.tensor([1, 2]).softmax(0, dtype="float32").dtype, sn.float32)
        self.assertEqual(x[None].squeeze((0, 2)).shape, (2, 3))
        self.assertEqual(x.squeeze((0, 1)).shape, (2, 3))
        for source, destination in [((0, 1), (1, 2)), ([0, 2], [2, 0]), (-1, 0), ((0, 1, 2), (2, 1, 0)), ([], [])]:
            self.assert_equal(x.movedim(source, destination), np.moveaxis(a, source, destination))
        self.assert_close(x.norm("fro"), np.linalg.norm(a.ravel()))
        w = sn.tensor(self.array((3, 2), "float32"))
        g = sn.grad(sn.embedding(w, sn.tensor([0, 2, 2]), padding_idx=0).sum(), w)
        self.assert_equal(g, np.array([[0, 0], [0, 0], [2, 2]], "f4"))
        self.assert_equal(x.unfold(2, 2, 1), np.lib.stride_tricks.sliding_window_view(a, 2, 2))
        self.assert_equal(x.view(3, -1), a.reshape(3, -1))

    def test_sums_of_a_dtype(self):
        a = self.array((3, 4), "int32")
        x = sn.tensor(a)
        self.assert_equal(x.sum(dtype="int32"), a.sum(dtype="int32"))
        self.assert_equal(sn.prod(x, 0, dtype="int16"), a.astype("int16").prod(0, dtype="int16"))
        self.assert_equal(x.sum(1), a.sum(1, dtype="int64"))

    def test_products_of_complex_numbers(self):
        for device, dtype in itertools.product(DEVICES, ["complex64", "complex128"]):
            for shape in [(), (5,), (3, 4), (2, 3, 4), (0,), (0, 3), (3, 0)]:
                a = self.array(shape, dtype) if shape else np.array(2 - 1j, dtype)
                x = sn.asarray(a, device=device)
                axes = [None, *range(-a.ndim, a.ndim), *[(0, 1), (-1, 0)] * (a.ndim > 1)]
                for axis, keepdim, source in itertools.product(axes, [False, True], [x, x * 1]):
                    made = sn.prod(source, axis, keepdim)
                    self.assertEqual(made.dtype, sn.dtype(dtype))
                    self.assert_close(made, a.prod(axis=axis, keepdims=keepdim), 1e-4 if dtype == "complex64" else 1e-12)
        a = self.array((3, 4), "complex128")
        x = sn.tensor(a)
        others = [[np.prod(np.delete(row, i)) for i in range(4)] for row in a]  # the derivative, conjugated as PyTorch's
        self.assert_close(sn.grad(sn.real(x.prod(1)).sum(), x).eval(), np.conj(others), 1e-12)
        self.assert_equal(sn.prod(sn.tensor([2, 3j])), np.array(6j, "complex64"))
        self.assertEqual(sn.tensor([1, 2]).prod(dtype="complex64").item(), 2)
        with self.assertRaisesRegex(sn.DTypeError, "no imaginary part"):
            x.prod(dtype="float64")
        with self.assertRaisesRegex(sn.IndexError, "prod: Dimension out of range"):
            x.prod(2)

    def test_powers_are_faster_operations(self):
        x = sn.tensor([0.25, -0.0, 4.0, -np.inf, np.nan])
        for exponent, function in ((2, sn.square), (2.0, sn.square), (0.5, sn.sqrt), (-0.5, sn.rsqrt), (-1, sn.reciprocal)):
            self.assertEqual((x ** exponent).explain(), function(x).explain())
            self.assert_equal(sn.pow(x, exponent), function(x).numpy())
            self.assert_equal(sn.parse(f"x ** {exponent}", x=x), function(x).numpy())
        for exponent in (3, 1.5, sn.tensor(2.0)):
            self.assertIn("pow", (x ** exponent).explain())
        self.assertIn("pow", (sn.tensor([2, 3]) ** 2).explain())

    def test_spellings(self):
        a = self.array((2, 3), "float32")
        x = sn.tensor(a)
        for name, e in [("absolute", abs(a)), ("negative", -a), ("arctan", np.arctan(a)), ("fix", np.fix(a)), ("ravel", a.ravel())]:
            self.assert_close(getattr(sn, name)(x), e)
            self.assert_close(getattr(x, name)(), e)
        self.assert_equal(x.less(0), a < 0)
        self.assert_equal(sn.greater_equal(x, 0), a >= 0)
        self.assert_equal(x.clip(min=0), a.clip(0))
        self.assert_equal(x.swapaxes(0, 1), a.T)
        self.assert_equal(sn.concatenate([x, x], axis=1), np.concatenate([a, a], 1))
        self.assert_equal(sn.flip(x, axis=0), a[::-1])
        self.assert_equal(sn.roll(x, 1, axis=0), np.roll(a, 1, 0))
        self.assertEqual(sn.zeros(shape=(2, 3)).shape, (2, 3))

    def test_wrong_ones(self):
        x = sn.zeros(2, 3)
        for call, text in [(lambda: x.div(2, rounding_mode="up"), "None, 'floor' or 'trunc', but got 'up'"), (lambda: x.gelu("exact"), "'none' or 'tanh'"),
                           (lambda: x.norm("nuc"), "'fro'"), (lambda: x.movedim((0, 1), 0), "as long as 'source'"), (lambda: x.movedim((0, 0), (0, 1)), "different axes"),
                           (lambda: x.var(correction=1, unbiased=True), "'unbiased' must be omitted"), (lambda: x.sum(dtype=3), "must be a dtype, such as"),
                           (lambda: x.div(2, "floor"), "'rounding_mode' is passed by name")]:
            with self.assertRaisesRegex(TypeError, text):
                call()


class Gradients(Case):
    def test_through_functions_of_expressions(self):
        # Elements are at least 0.1 apart: where they meet, orders and normalized pairs have no derivatives that differences find.
        a = (self.numpy_random.permutation(12) + self.numpy_random.uniform(0, 0.8, 12)).reshape(3, 4) * 0.5 - 3
        for device in DEVICES:
            x = sn.tensor(a, device=device)
            s = sn.tensor(self.array((3, 4), "float64"), device=device)
            for f in [lambda v: sn.cat([v, v * 2], 1).sum(), lambda v: (sn.stack([v, v * 3]) * s).sum(), lambda v: (v.sort(1).values * s).sum(),
                      lambda v: v.max(0).values.sum(), lambda v: (v.cumsum(1) * s).sum(), lambda v: (v.roll(1, 0) * s).sum(), lambda v: v.topk(2).values.sum(),
                      lambda v: v.median(), lambda v: (v.tile(2, 1)[:3] * s).sum(), lambda v: (v.repeat(2, axis=1)[:, :4] * s).sum(),
                      lambda v: v.split(2, 1)[1].square().sum(), lambda v: sn.einsum("ij,ij->", v, s), lambda v: sn.mse_loss(v, s),
                      lambda v: (sn.group_norm(v, 2) * s[:, :4]).sum(), lambda v: sn.cross_entropy(v, sn.tensor([0, 1, 2], device=device)),
                      lambda v: v.gather(0, sn.tensor([[0, 0, 1, 2]], device=device)).square().sum()]:
                g = sn.grad(f(+x), x).to("cpu").numpy()
                h, direction = 1e-6, self.array((3, 4), "float64")
                up, down = (f(+sn.tensor(a + t * direction, device=device)).item() for t in (h, -h))
                self.assertAlmostEqual((g * direction).sum(), (up - down) / (2 * h), 5)


if __name__ == "__main__":
    main()
