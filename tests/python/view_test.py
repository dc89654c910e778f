"""Views and indices against NumPy's."""
import numpy as np

import sinter_jit as sn
from case import DEVICES, Case, main


class Views(Case):
    def check(self, x, a, key):
        """What NumPy returns, or the exception that it raises."""
        try:
            expected = a[key]
        except IndexError:
            with self.assertRaises(IndexError):
                x[key]
            return
        self.assert_equal(x[key], np.asarray(expected))

    def random_key(self, shape):
        key = []
        for extent in shape[:self.random.randrange(len(shape) + 1)]:
            kind = self.random.randrange(4)
            if kind == 0:
                key.append(self.random.randrange(-extent - 1, extent + 1))
            else:
                bounds = [self.random.choice([None, self.random.randrange(-extent - 2, extent + 3)]) for _ in range(2)]
                key.append(slice(*bounds, self.random.choice([None, 1, 2, 3])))
            if self.random.random() < 0.2:
                key.append(None)
        if self.random.random() < 0.3:
            key.insert(self.random.randrange(len(key) + 1), ...)
        return tuple(key)

    def test_random_indices(self):
        a = self.array((3, 4, 5), "float32")
        for device in DEVICES:
            x = sn.tensor(a, device=device)
            e = x + x[:1]
            for i in range(200 if device == "cpu" else 10):
                key = self.random_key(a.shape)
                with self.subTest(key=key):
                    self.check(x, a, key)
                    if i % 10 == 0:
                        self.check(e, a + a[:1], key)

    def test_backwards(self):
        a = np.arange(10)
        x = sn.tensor(a)
        for key in [slice(None, None, -1), slice(8, 2, -2), slice(None, None, -3), slice(2, 8, -1)]:
            self.assert_equal(x[key], a[key])

    def test_indices_that_are_none(self):
        x = sn.tensor([[1, 2], [3, 4]])
        for key in [2, -3, (0, 2), (0, 0, 0), (..., ...), 2**62, slice(0, 1, 0)]:
            with self.subTest(key=key), self.assertRaises(IndexError if not isinstance(key, slice) else sn.Error):
                x[key]
        with self.assertRaises(OverflowError):
            x[2**70]
        for key in ["a", 1.0, True, (True, 0), {}, ([0], "a"), ([0], True), slice(0.5, None), sn.tensor(True), [0.5], np.zeros(2)]:
            with self.subTest(key=key), self.assertRaises(TypeError):
                x[key]
        self.assert_equal(x[np.int64(1)], np.array([3, 4]))

    def test_iteration_and_unpacking(self):
        a, b = sn.tensor([[1, 2], [3, 4]])
        self.assertEqual((a.tolist(), b.tolist()), ([1, 2], [3, 4]))

    def test_masks_and_indices(self):
        a = self.array((4, 3), "float32")
        for device in DEVICES:
            x = sn.tensor(a, device=device)
            self.assert_equal(x[x > 0], a[a > 0])
            self.assert_equal(x[sn.tensor([2, 0, 3], device=device)], a[[2, 0, 3]])
            with self.assertRaises(sn.IndexError):
                x[sn.tensor([7], device=device)].eval()
                sn.synchronize()
        with self.assertRaises(sn.Error):
            x[sn.tensor([0.5], device=DEVICES[-1])]

    def test_writing(self):
        for device in DEVICES:
            a = self.array((4, 3), "float32")
            x = sn.tensor(a, device=device)
            x[1] = 5
            a[1] = 5
            x[:, 1:] = x[:, :2] * 2  # read before it is written
            a[:, 1:] = a[:, :2] * 2
            x[0, ...] = sn.tensor([1.0, 2, 3], device=device)
            a[0] = [1, 2, 3]
            x[x < 0] = 0
            a[a < 0] = 0
            x[x > 2] = (x * 2)[x > 2]
            a[a > 2] = (a * 2)[a > 2]
            x[...] = x + 1
            a += 1
            self.assert_equal(x, a)

    def test_writing_what_does_not_fit(self):
        x = sn.tensor([[1, 2], [3, 4]])
        for key, value, error in [(0, 2.5, sn.DTypeError), (0, sn.tensor([1, 2, 3]), sn.ShapeError), (5, 1, sn.IndexError),
                                  (0, "text", TypeError), (0, None, TypeError), (0, [1, 2.5], sn.DTypeError),
                                  (sn.tensor([0]), 1.5, sn.DTypeError), (0, np.zeros(2), sn.DTypeError), ([0], [[1, 2, 3]], sn.ShapeError),
                                  (x > 1, x, sn.ShapeError), (x > 1, 0.5, sn.DTypeError), ([2], 1, IndexError), ([0], "text", TypeError)]:
            with self.subTest(key=key, value=value), self.assertRaises(error):
                x[key] = value
        if len(DEVICES) > 1:
            with self.assertRaises(sn.DeviceError):
                x[0] = sn.tensor([1, 2], device=DEVICES[1])
        self.assertEqual(x.tolist(), [[1, 2], [3, 4]])
        with self.assertRaises(TypeError):
            (x + 1)[0] = 1

    def test_shapes(self):
        a = self.array((2, 3, 4), "float32")
        for device in DEVICES:
            x = sn.tensor(a, device=device)
            for made, expected in [(x.reshape(6, 4), a.reshape(6, 4)), (x.reshape((-1, 2)), a.reshape(-1, 2)),
                                   (x.permute(2, 0, 1), a.transpose(2, 0, 1)), (x.transpose(0, -1), a.swapaxes(0, -1)), (x.T, a.T),
                                   (x.flatten(), a.reshape(-1)), (x.flatten(1), a.reshape(2, -1)),
                                   (x.unsqueeze(1), a[:, None]), (x[:1].squeeze(), a[0]), (x[:1].squeeze(0), a[0]),
                                   (x[0, 0].expand(3, 4), np.broadcast_to(a[0, 0], (3, 4))),
                                   (x.flip(0, 2), a[::-1, :, ::-1]), (x.T.reshape(24), a.T.reshape(24)),
                                   ((x + 1).reshape(4, 6), (a + 1).reshape(4, 6)), ((x + 1).T, (a + 1).T),
                                   (x.sum(0)[1], a.sum(0)[1]), (x.sum(0).reshape(12), a.sum(0).reshape(12)),
                                   (x.narrow(2, 1, 2), a[:, :, 1:3]), (x.select(1, -1), a[:, -1]),
                                   (x[0].diagonal(1), a[0].diagonal(1)), (x.movedim(0, 2), np.moveaxis(a, 0, 2)),
                                   (x.unflatten(2, (2, -1)), a.reshape(2, 3, 2, 2)), (sn.reshape(x, 6, 4), a.reshape(6, 4)),
                                   (x.index_select(1, sn.tensor([2, 0], device=device)), a[:, [2, 0]])]:
                self.assertEqual(made.shape, expected.shape)
                np.testing.assert_allclose(made.to("cpu").numpy(), expected, rtol=1e-5, atol=1e-5)
        for view in (lambda t: t.reshape(6, 4), lambda t: t.T, lambda t: t.flip(0), lambda t: t.squeeze(), lambda t: t.flatten()):
            self.assertIsInstance(view(x), sn.Tensor)
            self.assertTrue(np.shares_memory(view(sn.from_numpy(a)).numpy(), a))
        self.assertIsInstance((x + 1).reshape(6, 4), sn.Expression)
        for wrong in [lambda: x.reshape(5), lambda: x.reshape(-1, -1), lambda: x.expand(3, 3, 4), lambda: x.permute(0, 1),
                      lambda: x.reshape(*[1] * 9), lambda: x.reshape(2**62, 2**62)]:
            with self.assertRaises(sn.Error):
                wrong()
        for wrong in [lambda: x.reshape("2"), lambda: x.reshape(1.5), lambda: x.permute(None), lambda: x.squeeze("0")]:
            with self.assertRaises(TypeError):
                wrong()

    def test_huge_shapes_cost_nothing(self):
        x = sn.tensor([1.0]).expand(2**40)
        self.assertEqual((x + 1).shape, (2**40,))
        with self.assertRaises((sn.OutOfMemoryError, sn.ShapeError, MemoryError)):
            sn.tensor([1.0]).expand(2**55).clone()

    def test_bounds_past_all_numbers(self):
        x, a = sn.tensor([0.0, 1, 2]), np.arange(3.0)
        for big in [2**63 - 1, 2**63, 2**70, -2**63, -2**63 - 1, -2**70]:
            self.assertEqual(x[:big].numpy().tolist(), a[:big].tolist(), big)
            self.assertEqual(x[big:].numpy().tolist(), a[big:].tolist(), big)

    def test_bools_are_no_positions(self):
        for index in [True, np.True_]:
            with self.assertRaises(TypeError):
                sn.tensor([1.0, 2.0])[index]

    def test_numbers_have_no_parts(self):
        with self.assertRaises(TypeError):
            list(sn.tensor(5.0))
        self.assertEqual([p.item() for p in sn.tensor([1.0, 2.0])], [1.0, 2.0])


if __name__ == "__main__":
    main()
