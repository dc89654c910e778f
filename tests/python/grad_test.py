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
        with self.assertRaisesRegex(TypeError, "must be tensors, but got"):
            sn.grad(x.sum(), x * 2)
        with self.assertRaisesRegex(TypeError, "takes the tensors"):
            sn.grad(x.sum())
        with self.assertRaisesRegex(sn.DTypeError, "only floats and complex numbers have gradients"):
            sn.grad(x.sum(), sn.tensor([1, 2]))

    def test_with_the_value(self):
        x = sn.tensor([1.0, 2.0])
        value, gradient = sn.value_and_grad((x * x).sum(), x)
        self.assert_close(value, 5)
        self.assert_close(gradient, [2, 4])
        total, gx, gy = sn.value_and_grad((x * x).sum(), x, sn.tensor([1.0]), allow_unused=True)
        self.assertEqual([v.tolist() for v in sn.evaluate(total, gx, gy)], [5, [2, 4], [0]])

    def test_lists(self):
        x, y = sn.tensor([1.0, 2.0]), sn.tensor([3.0])
        for given in ([x, y], (x, y)):
            self.assertEqual([g.tolist() for g in sn.grad((x * y).sum(), given)], [[3, 3], [3]])
        self.assertEqual([g.tolist() for g in sn.grad((x * x).sum(), [x])], [[2, 4]])
        self.assertEqual([g.tolist() for g in sn.value_and_grad((x * x).sum(), [x])], [5, [2, 4]])

    def test_moves_and_casts(self):
        x, device = sn.ones(2), DEVICES[-1]
        moved = (x * 2).to(device)
        self.assertEqual((type(moved), moved.device), (sn.Expression, sn.device(device)))
        self.assert_equal(sn.grad(moved.sum(), x), np.full(2, 2, "float32"))
        self.assert_equal(sn.grad((x * 2).to("cpu", dtype="float64").sum(), x), np.full(2, 2, "float32"))
        self.assert_equal(sn.grad((+x).to(device, dtype="float64").sum(), x), np.ones(2, "float32"))
        w, v = sn.ones(2), sn.ones(2, device=device)
        optimizer = sn.optim.SGD([w, v], lr=0.5)
        optimizer.step(((w * 2).to(device) * v).sum())
        self.assertEqual((w.tolist(), v.tolist()), ([0, 0], [0, 0]))

    def test_at_bounds(self):
        x = sn.tensor([-1.0, 0.0, 1.0, float("nan")])
        self.assertEqual(sn.grad(x.clamp(min=0.0).sum(), x).tolist(), [0, 1, 1, 0])
        self.assertEqual(sn.grad(x.clamp(max=0.0).sum(), x).tolist(), [1, 1, 0, 0])
        self.assertEqual(sn.grad(np.clip(x, 0.0, None).sum(), x).tolist(), [0, 1, 1, 0])
        bound = sn.zeros(4)
        self.assertEqual(sn.grad(x.clamp(min=bound).sum(), bound).tolist(), [1, 0, 0, 0])
        self.assertEqual(sn.tensor([1, 5, 9]).clamp(min=4).tolist(), [4, 5, 9])
        self.assertEqual(sn.tensor([1, 5, 9]).clamp(max=4.5).tolist(), [1, 4.5, 4.5])

    def test_values_that_were_looked_at(self):
        x = sn.tensor([1.0, 2.0])
        logits = x * 2
        logits.numpy()
        probabilities = logits.softmax(-1)
        np.asarray(probabilities)
        loss = -probabilities.log().mean()
        np.asarray(loss)
        expected = sn.grad(-(x * 2).softmax(-1).log().mean(), x)
        self.assert_close(sn.grad(loss, x), expected.numpy(), 1e-6)

    def test_along_a_tangent(self):
        a, t = self.array((3, 4), "float32"), self.array((3, 4), "float32")
        for device in DEVICES:
            x = sn.tensor(a, device=device)
            made = sn.jvp(x.exp(), x, sn.tensor(t, device=device))
            self.assertEqual((made.shape, made.device), (x.shape, x.device))
            self.assert_close(made, np.exp(a) * t)
        x = sn.tensor(a)
        self.assert_close(sn.jvp((x * x).sum(0), x, 2), (4 * a).sum(0), 1e-4)
        with self.assertRaisesRegex(TypeError, "the argument 'tangent' must be a tensor or a number"):
            sn.jvp(x.exp(), x, "1")

    def test_jacobians_and_hessians(self):
        a, b = self.array((3,), "float64"), self.array((2, 3), "float64")
        x, w = sn.tensor(a), sn.tensor(b)
        made = sn.jacobian((w @ x).tanh(), x)
        self.assertIsInstance(made, sn.Tensor)
        self.assert_close(made, (1 - np.tanh(b @ a) ** 2)[:, None] * b)
        self.assert_close(sn.jacobian(sn.grad((x * x * x).sum(), x), x), np.diag(6 * a))

    def test_checkpoints(self):
        a = self.array((5,), "float32")
        x = sn.tensor(a)
        kept = sn.checkpoint(x.exp())
        self.assertIsInstance(kept, sn.Expression)
        self.assertNotIn("exp(", kept.explain())  # it has its value
        self.assert_close(kept, np.exp(a))
        self.assert_close(sn.grad((kept * kept).sum(), x), 2 * np.exp(2 * a), 1e-4)

    def test_derivatives_of_ones_own(self):
        a, b = self.array((4,), "float32"), self.array((3, 4), "float32")
        for device in DEVICES:
            x, y = sn.tensor(a, device=device), sn.tensor(b, device=device)
            rounded = sn.custom_vjp(x.round(), lambda g: g, x)  # straight through
            self.assert_equal(rounded, np.round(a))
            self.assert_close(sn.grad((rounded * x).sum(), x), np.round(a) + a)
            product = sn.custom_vjp(x * y, lambda g: ((g * y).sum(0), g * x), x, y)
            gx, gy = sn.grad(product.sum(), x, y)
            self.assert_close(gx, b.sum(0))
            self.assert_close(gy, np.broadcast_to(a, b.shape))
        one_sided = sn.custom_vjp(x * y, lambda g: (None, 2), x, y)
        self.assert_equal(sn.grad(one_sided.sum(), x, allow_unused=True), np.zeros(4, "float32"))
        self.assert_equal(sn.grad(one_sided.sum(), y), np.full((3, 4), 2, "float32"))

    def test_what_a_derivative_of_ones_own_raises(self):
        x, y = sn.tensor([1.0, 2.0]), sn.tensor([3.0, 4.0])

        def gradient(backward, *inputs):
            sn.grad(sn.custom_vjp(x * y, backward, *inputs).sum(), x).eval()

        with self.assertRaisesRegex(TypeError, "takes the inputs of the result"):
            gradient(lambda g: g)
        with self.assertRaisesRegex(TypeError, "custom_vjp: the argument 'inputs' must be tensors or expressions, but got 1 .int."):
            gradient(lambda g: g, 1)
        with self.assertRaisesRegex(TypeError, "backward returned 1 gradients for 2 inputs"):
            gradient(lambda g: g, x, y)
        with self.assertRaisesRegex(TypeError, "but backward returned .*str"):
            gradient(lambda g: "g", x)
        with self.assertRaisesRegex(sn.ShapeError, r"of shape \(3,\) for an input of shape \(2,\)"):
            gradient(lambda g: sn.zeros(3), x)
        with self.assertRaisesRegex(ZeroDivisionError, "division by zero"):
            gradient(lambda g: 1 / 0, x)


if __name__ == "__main__":
    main()
