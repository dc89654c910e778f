"""Gradients against those of formulas."""
import numpy as np

import sinter_jit as sn
from case import DEVICES, Case, main


class Gradients(Case):
    def test_one_and_several(self):
        a, b = self.array((3, 4), "float32"), self.array((4,), "float32")
        for device in DEVICES:
            x, y = sn.tensor(a, device=device), sn.tensor(b, device=device)
            g = sn.grad((x * x * y).sum(), x)
            self.assertIsInstance(g, sn.Expression)
            self.assertEqual((g.shape, g.device), (x.shape, x.device))
            self.assert_close(g, 2 * a * b)
            gx, gy = sn.grad((x * y).sum(), x, y)
            self.assert_close(gx, np.broadcast_to(b, a.shape))
            self.assert_close(gy, a.sum(0))

    def test_views_products_and_second_derivatives(self):
        a, b = self.array((3, 4), "float32"), self.array((4, 2), "float32")
        x, w = sn.tensor(a), sn.tensor(b)
        self.assert_close(sn.grad((x @ w).sum(), w), np.repeat(a.sum(0)[:, None], 2, axis=1))
        self.assert_close(sn.grad((x.t()[0] ** 2).sum(), x), np.concatenate([2 * a[:, :1], 0 * a[:, 1:]], axis=1))
        first = sn.grad((x * x * x).sum(), x)
        self.assert_close(sn.grad(first.sum(), x), 6 * a)
        self.assert_close(sn.grad((x * sn.stop_gradient(x)).sum(), x), a)

    def test_a_view_of_a_product_has_a_gradient(self):
        a, b = self.array((3, 4), "float32"), self.array((4, 2), "float32")
        x, w = sn.tensor(a), sn.tensor(b)
        row = (x @ w).t()[1]  # evaluated, and viewed
        self.assert_close(sn.grad((row * row).sum(), x), 2 * np.outer(a @ b[:, 1], b[:, 1]))

    def test_seeds(self):
        a, s = self.array((3, 4), "float32"), self.array((3, 4), "float32")
        x = sn.tensor(a)
        self.assert_close(sn.grad(x.exp(), x, seed=sn.tensor(s)), s * np.exp(a))
        self.assert_close(sn.grad(x * 3, x, seed=2), np.full_like(a, 6))

    def test_errors(self):
        x, y = sn.tensor([1.0, 2.0]), sn.tensor([3.0])
        with self.assertRaisesRegex(sn.Error, "the value must be one float"):
            sn.grad(x * 2, x)
        with self.assertRaisesRegex(sn.Error, "does not depend on it"):
            sn.grad(x.sum(), y)
        self.assert_equal(sn.grad(x.sum(), y, allow_unused=True), np.zeros(1, "float32"))
        with self.assertRaisesRegex(TypeError, "with respect to tensors, but got"):
            sn.grad(x.sum(), x * 2)
        with self.assertRaisesRegex(TypeError, "takes the tensors"):
            sn.grad(x.sum())
        with self.assertRaisesRegex(sn.DTypeError, "only floats and complex numbers have gradients"):
            sn.grad(x.sum(), sn.tensor([1, 2]))


if __name__ == "__main__":
    main()
