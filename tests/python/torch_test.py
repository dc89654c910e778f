"""torch.compile(model, backend=sinter_jit.torch_backend): the results are PyTorch's.

SINTER_TEST_GPU=1 runs all of it on the first GPU, and what only a GPU has: streams.
"""

import gc
import logging
import os
import subprocess
import sys
import threading
import unittest
import weakref

import sinter_jit as sn
from case import Case, main

try:
    import torch
    from torch import nn
    from torch.nn import functional as F

    from torch_models import MODELS, Of, mlp
except ImportError:
    torch = None

DEVICE = "cuda" if torch and os.environ.get("SINTER_TEST_GPU") and torch.cuda.is_available() else "cpu"
TOLERANCES = {"bfloat16": 2e-2, "float16": 4e-3, "float32": 2e-5, "complex64": 2e-5}


def listed(results):
    return list(results) if isinstance(results, (tuple, list)) else [results]


@unittest.skipUnless(torch, "there is no PyTorch: pip install torch")
class TorchBackend(Case):
    def setUp(self):
        super().setUp()
        torch.set_default_device(DEVICE)
        torch.manual_seed(self.seed)
        torch._dynamo.reset()

    def compiled(self, model, **options):
        return torch.compile(model, backend=sn.torch_backend, **options)

    def assert_same(self, made, expected):
        made, expected = listed(made), listed(expected)
        self.assertEqual(len(made), len(expected))
        for a, b in zip(made, expected):
            name = str(b.dtype)[6:]
            tolerance = TOLERANCES.get(name, 0)
            torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)
            self.assertEqual(a.requires_grad, b.requires_grad)
            if b.numel() > 0 and b.stride() != a.stride():
                self.assertEqual(a.stride(), b.stride())

    def check(self, function, *inputs, **options):
        """Twice: the first call checks the types, later ones run what it found."""
        compiled = self.compiled(function, **options)
        for _ in range(2):
            with self.assertNoLogs("sinter_jit.torch_backend", logging.WARNING):
                self.assert_same(compiled(*inputs), function(*inputs))
        return compiled

    def launches_of(self, function, *inputs):
        """The kernels of a call after the first one."""
        compiled = self.check(function, *inputs)
        before = sn.jit_stats()["launches"]
        compiled(*inputs)
        return sn.jit_stats()["launches"] - before

    def test_models(self):
        for name, make in MODELS.items():
            with self.subTest(name=name), torch.no_grad():
                torch._dynamo.reset()
                torch._dynamo.utils.counters.clear()
                model, inputs = make()
                self.check(model, *inputs)
                self.assertEqual(sum(torch._dynamo.utils.counters["graph_break"].values()), 0)

    def test_gradients_of_models(self):
        for name in [
            "MLP",
            "transformer block",
            "cross_entropy of an MLP",
            "losses of regression",
            "layer_norm, residual, GELU",
            "group_norm, ReLU",
        ]:
            with self.subTest(name=name):
                torch._dynamo.reset()
                model, inputs = MODELS[name]()
                wanted = [*model.parameters()] + [x.requires_grad_() for x in inputs if x.is_floating_point()]
                compiled = self.compiled(model)
                for _ in range(2):
                    gradients = []
                    for function in (compiled, model):
                        loss = sum((y * y).mean() for y in listed(function(*inputs)))
                        gradients.append(torch.autograd.grad(loss, wanted))
                    self.assert_same(*gradients)

    def test_one_kernel(self):
        x, y = torch.randn(64, 64), torch.randn(64)
        self.assertEqual(self.launches_of(lambda x, y: ((x + 2).exp() * y).sum(-1), x, y), 1)
        self.assertEqual(self.launches_of(lambda x, y: ((x + y).exp(), (x - y).tanh() * 2), x, y), 1)  # together

    def test_a_single_operation_is_pytorchs(self):
        self.assertEqual(self.launches_of(torch.exp, torch.randn(3)), 0)

    def test_a_bias_is_added_with_what_follows(self):
        model = Of(lambda m, x: F.gelu(m.linear(x)), linear=nn.Linear(16, 32))
        with torch.no_grad():
            self.assertLessEqual(self.launches_of(model, torch.randn(4, 8, 16)), 2)

    def test_dtypes(self):
        for dtype in [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64]:
            x = torch.randn(5, 7).to(dtype)
            self.check(lambda x: (x * x + 1) * (x - 2), x)
        for dtype in [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.bool]:
            x = torch.randint(0, 2, (5, 7)).to(dtype)
            self.check(lambda x: ((x * x + 1).sum(), (x == 1) | (x < 1), x.float() / 3 + x, x.to(torch.float16) + x), x)
        x = torch.randn(4, 5)
        self.check(lambda x: (x.to(torch.int32) * 2 + 1, x.half() + x.bfloat16(), (x > 0).sum(0)), x)

    def test_0d_tensors_promote_as_numbers(self):
        x, half, one = torch.randn(5), torch.randn(5).half(), torch.tensor(1.5, dtype=torch.float64)
        self.check(lambda x, y, one: (x * one + 1, y * one + 1, (one + 1) * one, y + one.float() * 2), x, half, one)
        self.check(lambda i, f: (i + f) * 2, torch.arange(3), torch.tensor(2.5))
        self.check(lambda x: (x.sum() * x + x.max()).mean(0), torch.tensor(3.0))

    def test_special_values(self):
        inf, nan = float("inf"), float("nan")
        x = torch.tensor([0.0, -0.0, 1, -1, inf, -inf, nan, 1e-40, 3e38, -3e38])
        self.check(
            lambda x: (
                x.exp() + 1,
                x.log() * 2,
                (x * 2).relu(),
                x.sigmoid() - x,
                x / x * 2,
                x.pow(2).sqrt(),
                x.round() + x.floor(),
            ),
            x,
        )
        self.check(
            lambda x: (
                torch.maximum(x, x.flip(0)) + 1,
                x.clamp(-1, 1) * 2,
                (x + 0).amax(),
                (x * 1).argmax(),
                x.isnan() | x.isinf(),
            ),
            x,
        )
        self.check(
            lambda x: (F.softmax(x * 2, -1), x.nan_to_num() * 2),
            torch.tensor([[inf, 1, 2], [nan, 1, 2], [-inf, -inf, 1]]),
        )

    def test_empty_and_scalar_tensors(self):
        self.check(lambda x: ((x + 1).exp(), (x * 2).sum(), (x * 2).sum(0)), torch.zeros(0, 3))
        self.check(lambda x: ((x + 1).exp(), (x * 2).sum(), (x * 2).mean()), torch.tensor(2.0))
        self.check(lambda x, w: ((x + 1) @ w).relu(), torch.zeros(0, 3), torch.randn(3, 2))

    def test_inputs_of_any_layout(self):
        base = torch.randn(6, 8)
        for x in [
            base.T,
            base[::2, 1::3],
            base[1:, 2:].T,
            base[0].expand(4, 8),
            base.as_strided((5, 3), (2, 1)),
            base[:, 0],
            base[2:2],
        ]:
            self.check(lambda x: ((x + 1).exp(), (x * 2).tanh().sum(0), x.T * 3 + 1), x)
        image = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
        self.check(lambda x: (x * 2).relu(), image)
        self.check(lambda x: ((x * 2).relu().permute(0, 2, 3, 1).reshape(2, 20, 3) + 1).cumsum(1), image)
        x = torch.randn(3, 4, dtype=torch.complex64)
        self.check(lambda x: x * 2 + 1, x.conj())
        self.check(lambda x: (x * 2 + 1).exp(), x.conj().imag)  # negated when it is read
        self.check(lambda x: (x * 2 + 1).exp(), x.real)

    def test_views_and_indices(self):
        x, i = torch.randn(4, 5, 6), torch.tensor([2, 0, 2])
        self.check(
            lambda x: ((x * 2).permute(2, 0, 1) + 1, (x + 1)[1:, ::2, -1] * 2, (x + 1).reshape(20, 6).T.exp() + 1), x
        )
        self.check(
            lambda x: [p * 2 + 1 for p in (x + 1).split([1, 3])]
            + [p + 1 for p in (x * 2).unbind(1)]
            + [p + 1 for p in x.exp().chunk(4, 2)],
            x,
        )
        self.check(
            lambda x: (
                (x + 1).flip(0, 2) * 2,
                (x.exp() + 1).diagonal(0, 0, 1) * 2,
                (x.squeeze() + 1).unsqueeze(1).expand(4, 3, 5, 6) * 2,
            ),
            x,
        )
        self.check(
            lambda x, i: (
                (x + 1)[i] * 2,
                (x + 1)[:, i] * 2,
                x[:, :, i[None]] + x[0, 0, 0],
                (x * 2).index_select(1, i) + 1,
                (x + 1).gather(1, i[None, :, None]) * 2,
            ),
            x,
            i,
        )
        self.check(lambda x, i: (F.embedding(i, x[0]) * 2 + 1, (x[0][i] + 1).exp()), x, i)
        self.check(lambda x: x.where(x > 0, -1.0).masked_fill(x > 1, float("inf")) * 2, x)

    def test_reductions(self):
        x = torch.randn(3, 4, 5)
        self.check(
            lambda x: [(x * 2).sum(d, keepdim=k) + 1 for d in (0, -1, (0, 2), (0, 1, 2)) for k in (False, True)], x
        )
        self.check(
            lambda x: (
                (x + 1).mean(),
                (x + 1).amax((0, 1)),
                (x + 1).prod(1),
                (x + 1).max(1),
                (x + 1).min(2, True),
                (x * 2).var(1),
                x.std() * 2,
            )[:3]
            + tuple((x + 1).max(1))
            + torch.var_mean(x + 1, (0, 1), correction=0)
            + ((x + 1).norm(1, -1), (x + 1).norm(), (x * 2).logsumexp(1)),
            x,
        )
        self.check(
            lambda x: (
                (x * 2).sum(dtype=torch.float64),
                (x > 0).any(1),
                ((x + 1) > -9).all(),
                (x * 2).argmin(2),
                (x + 1).count_nonzero(0),
            ),
            x,
        )

    def test_products(self):
        a, b, v, c = torch.randn(3, 4), torch.randn(4, 5), torch.randn(4), torch.randn(2, 3, 4)
        self.check(
            lambda a, b, v, c: (
                (a + 1) @ b * 2,
                (a * 2) @ v + 1,
                (v + 1).dot(v) * 2,
                (c @ b).relu() + 1,
                torch.baddbmm(c @ b, c, b.expand(2, 4, 5), beta=0.5, alpha=2),
            ),
            a,
            b,
            v,
            c,
        )
        self.check(
            lambda a, b, v, c: (
                torch.addmm(a @ b, a, b, alpha=2) + 1,
                torch.einsum("bij,jk->bik", c, b) * 2,
                torch.outer(v, v) + 1,
            ),
            a,
            b,
            v,
            c,
        )
        if DEVICE == "cpu":  # a product of integers is PyTorch's, which has none on GPUs
            self.check(lambda a, b: (a.int() @ b.int() + 1) * 2, a, b)

    def test_dynamic_shapes(self):
        model = Of(
            lambda m, x: F.softmax(m.norm(F.gelu(m.linear(x))) + x.shape[0], -1).reshape(-1, 4).sum(1),
            linear=nn.Linear(8, 16),
            norm=nn.LayerNorm(16),
        )
        compiled = self.compiled(model, dynamic=True)
        with torch.no_grad():
            for size in [(3, 8), (5, 8), (7, 8), (1, 8), (2, 3, 8), (4, 5, 8), (0, 8)]:
                x = torch.randn(size)
                self.assert_same(compiled(x), model(x))

    def test_writes_in_place(self):
        def function(x, y):
            x += 1
            x[0] *= y[0]
            return x * 2, y.T

        y = torch.randn(3, 3)
        for make in [lambda: torch.ones(3, 3), lambda: torch.ones(6, 6)[::2, ::2], lambda: torch.ones(3, 3).T]:
            a, b = make(), make()
            self.assert_same(self.compiled(function)(a, y), function(b, y))
            self.assert_same(a, b)

    def test_results_have_memory_of_their_own(self):
        def function(x, y):
            z = x + y
            w = z * 2
            return z, z.clone(), w, w.T, x.clone() * 1, x.contiguous(), x.to(torch.float32), y

        compiled = self.compiled(function)
        for _ in range(2):
            x, y = torch.randn(3, 3), torch.randn(3, 3)
            made, expected = compiled(x, y), function(x, y)
            for i in (0, 2, 4):  # writes to one are not writes to another, except to views
                for results in (made, expected):
                    results[i].add_(1)
                self.assert_same(made, expected)

    def test_parameters_that_change(self):
        model = mlp(8, 4)
        compiled, x = self.compiled(model), torch.randn(5, 8)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for _ in range(3):
            with torch.no_grad():
                self.assert_same(compiled(x), model(x))
            compiled(x).square().sum().backward()
            optimizer.step()
        with torch.no_grad():
            model[0].weight.data = torch.randn(8, 8)
            model[2].weight.set_(torch.randn(8, 8).T)
            self.assert_same(compiled(x), model(x))
            model[0].weight = nn.Parameter(torch.zeros(8, 8))
            self.assert_same(compiled(x), model(x))
        self.assert_same(compiled(x), model(x))

    def test_memory_is_released(self):
        model = mlp(8, 4)
        compiled = self.compiled(model)
        with torch.no_grad():
            for _ in range(3):
                x = torch.randn(5, 8)
                y = compiled(x)
        held = [weakref.ref(x.untyped_storage()), weakref.ref(y.untyped_storage()), weakref.ref(model[0].weight)]
        torch._dynamo.reset()
        del x, y, model, compiled
        gc.collect()
        self.assertEqual([h() for h in held], [None] * 3)

    def test_an_operation_that_sinter_refuses(self):
        def function(x):
            return (x + -3) * 2  # wraps in PyTorch

        x = torch.tensor([1, 5], dtype=torch.uint8)
        compiled = self.compiled(function)
        with self.assertLogs("sinter_jit.torch_backend", logging.WARNING) as logs:
            self.assert_same(compiled(x), function(x))
        self.assertIn("the number -3 does not fit uint8", logs.output[0])
        self.assert_same(compiled(x), function(x))

    def test_wrong_indices(self):
        compiled = self.compiled(lambda w, i: (w[i] + 1).exp())
        w = torch.randn(4, 2)
        for _ in range(2):
            with self.assertRaises(IndexError):
                compiled(w, torch.tensor([1, 4]))
                sn.synchronize()
            compiled(w, torch.tensor([1, 3]))

    def test_threads(self):
        model, x = mlp(16, 4), torch.randn(8, 16)
        compiled, failures = self.compiled(model), []
        with torch.no_grad():
            expected = model(x)
            compiled(x)  # PyTorch itself does not capture graphs in several threads at once

        def work():
            try:
                torch.set_default_device(DEVICE)
                with torch.no_grad():
                    for _ in range(20):
                        torch.testing.assert_close(compiled(x), expected)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_random_programs(self):
        unary = [
            torch.exp,
            torch.tanh,
            torch.sin,
            torch.abs,
            torch.relu,
            F.gelu,
            F.silu,
            torch.sigmoid,
            torch.floor,
            lambda x: x * 0.5,
            lambda x: 1 - x,
            lambda x: x.softmax(-1),
            lambda x: F.layer_norm(x, x.shape[-1:]),
            lambda x: x - x.mean(-1, keepdim=True),
            lambda x: x.flip(-1),
            lambda x: x.clamp(-1, 2),
            lambda x: x.cumsum(0),
            lambda x: x.sort(-1)[0],
            lambda x: x.T if x.shape[0] == x.shape[1] else x,
            lambda x: x[:1].expand_as(x),
        ]
        binary = [
            torch.add,
            torch.sub,
            torch.mul,
            torch.maximum,
            torch.minimum,
            torch.atan2,
            lambda a, b: torch.where(a > b, a, b * 2),
            lambda a, b: a + b.sum(0),
            lambda a, b: a.tanh() @ b.sigmoid() if a.shape[1] == b.shape[0] else a,
        ]
        for _ in range(8):
            steps, shape = [], self.random.choice([(4, 4), (3, 5), (1, 6), (5, 1)])
            for n in range(self.random.randint(3, 12)):
                function = self.random.choice(unary + binary)
                steps.append((function, [self.random.randrange(n + 2) for _ in range(1 + (function in binary))]))
            wanted = [self.random.randrange(len(steps) + 2) for _ in range(self.random.randint(1, 3))]

            def program(x, y, steps=steps, wanted=wanted):
                values = [x, y]
                for function, at in steps:
                    values.append(function(*[values[i] for i in at]).clamp(-100, 100))
                return tuple(values[i] for i in wanted)

            torch._dynamo.reset()
            x, y = torch.randn(shape), torch.randn(shape)
            compiled = self.compiled(program)
            for _ in range(2):
                for a, b in zip(compiled(x, y), program(x, y)):
                    torch.testing.assert_close(a, b, rtol=2e-3, atol=2e-3)


@unittest.skipUnless(DEVICE == "cuda", "only on a GPU: SINTER_TEST_GPU=1")
class Streams(Case):
    """Work of PyTorch and of Sinter on one GPU happens in the order in which it is written, without copies."""

    def setUp(self):
        super().setUp()
        self.late = torch.zeros(1 << 22, device="cuda")
        torch.cuda.synchronize()

    def written_late(self, value):
        torch.cuda._sleep(100_000_000)  # clock cycles: about 50 ms
        return self.late.fill_(value)

    def test_memory_is_shared(self):
        x = sn.from_dlpack(self.late)
        y = torch.from_dlpack(x)
        self.assertEqual((str(x.device), y.device.type, y.data_ptr()), ("cuda:0", "cuda", self.late.data_ptr()))

    def test_sinter_reads_what_pytorch_writes(self):
        for stream in [torch.cuda.current_stream(), torch.cuda.Stream()]:
            with torch.cuda.stream(stream):
                x = sn.from_dlpack(self.written_late(3))
            made = (x * 2 + 1).eval()
            self.assertEqual((made.min().item(), made.max().item()), (7, 7))

    def test_pytorch_reads_what_sinter_writes(self):
        for stream in [sn.default_stream(0), sn.Stream(0)]:
            with stream:
                x = sn.from_dlpack(self.written_late(3))
                y = x
                for _ in range(200):
                    y = (y * 0.5 + x).eval()
                made = torch.from_dlpack(y)
            with torch.cuda.stream(torch.cuda.Stream()):
                torch.cuda.current_stream().wait_stream(torch.cuda.default_stream())
                self.assertEqual((made - 6).abs().max().item(), 0)

    def test_memory_is_not_reused_early(self):
        """The tensor dies while Sinter's kernel is still to read it."""
        for _ in range(10):
            x = sn.from_dlpack(self.written_late(1).clone())
            y = (x + 1).eval()
            del x
            other = torch.full((1 << 22,), 100.0, device="cuda")
            self.assertEqual(y.max().item(), 2)
            del other

    def test_training(self):
        """Some steps of a model, forward and backward, follow those of eager PyTorch."""
        torch.manual_seed(self.seed)
        with torch.device("cuda"):
            models = [mlp(64, 10), mlp(64, 10)]
            models[1].load_state_dict(models[0].state_dict())
            x, labels = torch.randn(256, 64), torch.randint(0, 10, (256,))
        losses = [[], []]
        for which, model in enumerate(models):
            call = torch.compile(model, backend=sn.torch_backend) if which else model
            optimizer = torch.optim.Adam(model.parameters(), 1e-2)
            for _ in range(20):
                optimizer.zero_grad()
                loss = F.cross_entropy(call(x), labels)
                loss.backward()
                optimizer.step()
                losses[which].append(loss.item())
        torch.testing.assert_close(*losses, rtol=2e-3, atol=2e-3)
        self.assertLess(losses[1][-1], losses[1][0] / 2)


class WithoutTorch(Case):
    def test_the_package_does_not_import_it(self):
        program = "import sinter_jit, sys; assert 'torch' not in sys.modules; assert callable(sinter_jit.torch_backend)"
        subprocess.run([sys.executable, "-c", program], check=True)


if __name__ == "__main__":
    main()
