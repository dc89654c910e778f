"""Lists, arrays, tensors and masks among integers and slices in an index, for reading and writing, against NumPy."""
import warnings

import numpy as np

import sinter_jit as sn
from case import DEVICES, Case, main


class Indexing(Case):
    def random_place(self, extent):
        """An index along one axis, and the number of axes that it takes."""
        kind = self.random.randrange(8)
        if kind == 0:
            return self.random.randrange(-extent - (self.random.random() < 0.02), extent)
        if kind <= 2:
            bounds = [self.random.choice([None, self.random.randrange(-extent - 2, extent + 3)]) for _ in range(2)]
            return slice(*bounds, self.random.choice([None, 1, 2, -1, -2]))
        count = self.common if self.random.random() < 0.9 else 1
        positions = self.numpy_random.integers(-extent, extent, self.random.choice([(count,), (1,), (2, count), (2, 1), ()]))
        if self.random.random() < 0.02:
            positions = positions + extent
        if kind == 3 and positions.shape:
            return positions.tolist()
        return positions.astype(self.random.choice(["int64", "int32", "uint8" if (positions >= 0).all() else "int16"]))

    def random_key(self, shape):
        self.common = self.random.choice([2, 3])
        key, axis = [], 0
        while axis < len(shape) and self.random.random() < 0.9:
            if self.random.random() < 0.12:
                axes = self.random.choice([1, min(2, len(shape) - axis)])
                mask = self.numpy_random.random(shape[axis:axis + axes]) < 0.5
                key.append(mask.tolist() if axes == 1 and self.random.random() < 0.3 else mask)
                axis += axes
            else:
                key.append(self.random_place(shape[axis]))
                axis += 1
            if self.random.random() < 0.15:
                key.append(None)
        if self.random.random() < 0.25:
            key.insert(self.random.randrange(len(key) + 1), ...)
        return tuple(key)

    def numpy_value(self, a, key):
        """a[key]; older versions of NumPy only warn of an index out of range where nothing is selected."""
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "Out of bound index", DeprecationWarning)
            try:
                return a[key]
            except DeprecationWarning as warning:
                raise IndexError(str(warning)) from None

    def as_given(self, key, device):
        """The key with some of its arrays as tensors, expressions or arrays."""
        def given(item):
            if not isinstance(item, np.ndarray):
                return item
            kind = self.random.randrange(3)
            if kind == 0:
                return item
            tensor = sn.tensor(item, device=device)
            return tensor if kind == 1 else tensor | False if item.dtype == bool else tensor + 0
        made = tuple(map(given, key))
        return made[0] if len(made) == 1 and not isinstance(made[0], list) and self.random.random() < 0.5 else made

    def test_indices_beside_an_empty_slice_are_checked(self):
        for device in DEVICES:
            x = sn.tensor(np.ones((4, 3), "float32"), device=device)
            self.assertEqual(x[2:2, sn.tensor([0, -3, 2], device=device)].eval().shape, (0, 3))
            for wrong in [[0, 3], [-4, 0]]:
                with self.assertRaisesRegex(sn.IndexError, "out of range for 3 positions"):
                    x[2:2, sn.tensor(wrong, device=device)]

    def test_random_reads(self):
        for device in DEVICES:
            for i in range(400 if device == "cpu" else 12):
                shape = tuple(self.random.choice([1, 2, 3, 4]) for _ in range(self.random.randrange(1, 5)))
                a = self.array(shape, self.random.choice(["float32", "int16", "bool", "complex64"]))
                x = sn.tensor(a, device=device)
                if self.random.random() < 0.3:
                    a, x = a[::-1].T, x[::-1].T
                key = self.random_key(a.shape)
                given = self.as_given(key, device)
                with self.subTest(shape=a.shape, key=key):
                    try:
                        expected = self.numpy_value(a, key)
                    except IndexError:
                        with self.assertRaises((IndexError, sn.ShapeError)):
                            sn.evaluate(x[given])
                            sn.synchronize()
                        continue
                    self.assert_equal(x[given].eval(), np.asarray(expected))
                    if i % 8 == 0:
                        self.assert_equal((x | x if a.dtype == bool else x * 1)[given].eval(), np.asarray(expected))

    def test_random_writes(self):
        for device in DEVICES:
            for i in range(300 if device == "cpu" else 12):
                shape = tuple(self.random.choice([1, 2, 3, 4]) for _ in range(self.random.randrange(1, 5)))
                a = self.array(shape, "float32")
                key = self.random_key(a.shape)
                try:
                    places = self.numpy_value(np.arange(a.size).reshape(shape), key)
                    selected = np.shape(places)
                except IndexError:
                    continue
                if len(np.unique(places)) != np.size(places):
                    continue  # which value remains is not specified on GPUs
                x, b = sn.tensor(a, device=device), a.copy()
                kind = self.random.randrange(4)
                value = self.array(selected, "float32")
                if kind == 0:
                    value = np.float32(self.random.random())
                elif kind == 1 and value.ndim:
                    value = value[..., :1] if self.random.random() < 0.5 else value[-1:].reshape(value[-1:].shape)[0] if len(value) else value
                b[key] = value
                with self.subTest(shape=shape, key=key, value=np.shape(value)):
                    given = self.as_given(key, device)
                    written = float(value) if kind == 0 else sn.tensor(value, device=device)
                    if kind == 2:
                        written = written * 1
                    elif kind == 3 and device == "cpu" and value.size:
                        written = value if self.random.random() < 0.5 else value.tolist()
                    x[given] = written
                    self.assert_equal(x, b)


if __name__ == "__main__":
    main()
