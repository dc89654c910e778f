"""Networks, optimizers and data loaders."""
import pathlib
import tempfile

import numpy as np

import sinter_jit as sn
from case import DEVICES, Case, main
from sinter_jit import nn


class Net(nn.Module):
    def __init__(self):
        self.hidden = nn.Linear(3, 8)
        self.norm = nn.LayerNorm(8)
        self.drop = nn.Dropout(0.5)
        self.out = nn.Linear(8, 2, bias=False)
        self.register_buffer("steps", sn.tensor([0]))

    def forward(self, x):
        return self.out(self.drop(self.norm(self.hidden(x)).relu()))


class Modules(Case):
    def test_printing(self):
        self.assertEqual(repr(Net()), """Net(
  (hidden): Linear(in_features=3, out_features=8, bias=True)
  (norm): LayerNorm((8,), eps=1e-05, elementwise_affine=True)
  (drop): Dropout(p=0.5, inplace=False)
  (out): Linear(in_features=8, out_features=2, bias=False)
)""")
        nested = nn.Sequential(nn.Sequential(nn.Linear(2, 2), nn.GELU("tanh")), nn.Softmax(dim=-1), nn.Embedding(4, 2, padding_idx=0))
        self.assertEqual(repr(nested), """Sequential(
  (0): Sequential(
    (0): Linear(in_features=2, out_features=2, bias=True)
    (1): GELU(approximate='tanh')
  )
  (1): Softmax(dim=-1)
  (2): Embedding(4, 2, padding_idx=0)
)""")
        self.assertEqual([repr(m) for m in (nn.ReLU(), nn.Flatten(), nn.GroupNorm(2, 4), nn.MSELoss(), nn.RMSNorm(4), nn.LeakyReLU(0.2))],
                         ["ReLU()", "Flatten(start_dim=1, end_dim=-1)", "GroupNorm(2, 4, eps=1e-05, affine=True)", "MSELoss()",
                          "RMSNorm((4,), eps=None, elementwise_affine=True)", "LeakyReLU(negative_slope=0.2)"])

    def test_printing_of_equal_modules(self):
        layers = nn.ModuleList([nn.Sequential(nn.ReLU()), nn.Sequential(nn.ReLU()), nn.Tanh()])
        self.assertEqual(repr(layers), """ModuleList(
  (0-1): 2 x Sequential(
    (0): ReLU()
  )
  (2): Tanh()
)""")

    def test_layers_against_numpy(self):
        a = self.array((4, 6), "float32")
        for device in DEVICES:
            x = sn.tensor(a, device=device)
            linear = nn.Linear(6, 3).to(device)
            w, b = linear.weight.to("cpu").numpy(), linear.bias.to("cpu").numpy()
            self.assertLessEqual(abs(w).max(), 1 / np.sqrt(6))
            self.assert_close(linear(x), a @ w.T + b)
            norm = nn.LayerNorm(6).to(device)
            norm.weight.fill_(2), norm.bias.fill_(1)
            self.assert_close(norm(x), 2 * (a - a.mean(1, keepdims=True)) / np.sqrt(a.var(1, keepdims=True) + 1e-5) + 1, 1e-4)
            self.assert_close(nn.RMSNorm((6,), eps=1e-6).to(device)(x), a / np.sqrt((a * a).mean(1, keepdims=True) + 1e-6), 1e-4)
            self.assert_close(nn.GroupNorm(3, 6).to(device)(x[:, :, None]).squeeze(-1), sn.group_norm(x[:, :, None], 3)[:, :, 0].to("cpu").numpy())
            table = nn.Embedding(5, 2, padding_idx=1).to(device)
            self.assert_equal(table(sn.tensor([1, 4], device=device)), table.weight.to("cpu").numpy()[[1, 4]])
            self.assertEqual(table.weight[1].tolist(), [0, 0])
            self.assertEqual(nn.Flatten()(x.reshape(2, 2, 6)).shape, (2, 12))
            self.assert_close(nn.Sequential(nn.ReLU(), nn.Identity(), nn.Tanh())(x), np.tanh(a.clip(0)))
            self.assert_close(nn.CrossEntropyLoss(reduction="sum")(x, sn.tensor([0, 1, 2, 3], device=device)),
                              -(a - np.log(np.exp(a).sum(1, keepdims=True)))[range(4), range(4)].sum(), 1e-4)
            self.assertIs(nn.Dropout(0.9).eval()(x).shape == x.shape, True)

    def test_one_expression(self):
        net = Net().eval()
        x = sn.ones(5, 3)
        before = sn.jit_stats()["launches"]
        y = net(x)
        self.assertIsInstance(y, sn.Expression)
        self.assertEqual(sn.jit_stats()["launches"], before)
        self.assertEqual(y.tolist(), net(x).tolist())
        self.assertNotEqual(net.train()(x).tolist(), net(x).tolist())  # drops

    def test_parts(self):
        net = Net()
        self.assertEqual([name for name, _ in net.named_parameters()], ["hidden.weight", "hidden.bias", "norm.weight", "norm.bias", "out.weight"])
        self.assertEqual(net.num_parameters(), 3 * 8 + 8 + 16 + 16)
        self.assertEqual(list(net.state_dict())[-1:] + [len(net.state_dict())], ["out.weight", 6])
        self.assertEqual([type(m).__name__ for m in net.children()], ["Linear", "LayerNorm", "Dropout", "Linear"])
        shared = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
        shared[1].weight = shared[0].weight
        self.assertEqual([name for name, _ in shared.named_parameters()], ["0.weight", "0.bias", "1.bias"])
        shared.to("float64")
        self.assertIs(shared[1].weight, shared[0].weight)
        self.assertEqual(shared[0].weight.dtype, sn.float64)
        moved = Net().to(DEVICES[-1], dtype="float16")
        self.assertEqual((moved.steps.dtype, moved.steps.device, moved.out.weight.dtype), (sn.int64, sn.device(DEVICES[-1]), sn.float16))
        layers = nn.ModuleList(nn.Linear(2, 2) for _ in range(2)).append(nn.ReLU())
        self.assertEqual((len(layers), repr(layers[2]), list(layers.state_dict())[0]), (3, "ReLU()", "0.weight"))

    def test_state(self):
        net, other = Net(), Net()
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "net.safetensors"
            sn.save_safetensors(file, net.state_dict(), {"format": "pt"})
            self.assertEqual(sn.load_safetensors_metadata(file), {"format": "pt"})
            self.assertEqual(other.load_state_dict(sn.load_safetensors(file)), ([], []))
        self.assertEqual(other.hidden.weight.tolist(), net.hidden.weight.tolist())
        other.load_state_dict({"module." + name: tensor for name, tensor in net.state_dict().items()})
        before = other.out.weight.tolist()
        state = {**net.state_dict(), "hidden.weight": sn.zeros(2, 2), "extra": sn.zeros(1)}
        del state["norm.bias"]
        with self.assertRaisesRegex(sn.Error, r'(?s)Missing key.*"norm.bias".*Unexpected.*"extra".*size mismatch for hidden.weight'):
            other.load_state_dict(state)
        self.assertEqual(other.out.weight.tolist(), before)
        del state["hidden.weight"]
        self.assertEqual(other.load_state_dict(state, strict=False), (["hidden.weight", "norm.bias"], ["extra"]))

    def test_wrong_ones(self):
        for call, error, text in [(lambda: nn.Sequential(sn.relu), TypeError, "must be a module such as nn.ReLU.. or a dict, but got"), (lambda: nn.Softmax(), TypeError, "'dim' is missing"),
                                  (lambda: nn.ReLU(1), TypeError, "ReLU takes 0 positional arguments, but 1 is given"), (lambda: nn.Module()(1), NotImplementedError, "forward"),
                                  (lambda: nn.Linear(3, 2)(sn.ones(2, 4)).eval(), sn.ShapeError, ""), (lambda: nn.Dropout(2), ValueError, "probability"),
                                  (lambda: nn.Linear(-1, 2), sn.Error, "")]:
            with self.assertRaisesRegex(error, text):
                call()


class Training(Case):
    def reference(self, step, a, steps=5):
        """The parameter after steps by gradients 2 a p of sum(a p^2)."""
        p = np.array([1.0, -2.0, 3.0])
        state = {}
        for t in range(1, steps + 1):
            p = step(p, 2 * a * p, state, t)
        return p

    def test_optimizers_against_formulas(self):
        a = np.array([0.5, 1.0, 0.1])

        def sgd(p, g, s, t):
            s["b"] = g if t == 1 else 0.9 * s["b"] + g
            return p - 0.1 * s["b"]

        def adam(p, g, s, t, decay=0.0):
            p = p * (1 - 0.1 * decay)
            s["m"], s["v"] = 0.9 * s.get("m", 0) + 0.1 * g, 0.99 * s.get("v", 0) + 0.01 * g * g
            return p - 0.1 * (s["m"] / (1 - 0.9 ** t)) / (np.sqrt(s["v"] / (1 - 0.99 ** t)) + 1e-8)

        def rmsprop(p, g, s, t):
            s["v"] = 0.99 * s.get("v", 0) + 0.01 * g * g
            return p - 0.1 * g / (np.sqrt(s["v"]) + 1e-8)

        for make, step in [(lambda p: sn.optim.SGD([p], lr=0.1, momentum=0.9), sgd), (lambda p: sn.optim.Adam([p], lr=0.1, betas=(0.9, 0.99)), adam),
                           (lambda p: sn.optim.AdamW(iter([p]), 0.1, (0.9, 0.99), weight_decay=0.2), lambda *r: adam(*r, decay=0.2)),
                           (lambda p: sn.optim.RMSprop([p], lr=0.1), rmsprop)]:
            for device in DEVICES:
                p, scale = sn.tensor([1.0, -2.0, 3.0], dtype="float64", device=device), sn.tensor(a, device=device)
                optimizer = make(p)
                for _ in range(5):
                    loss = optimizer.step((scale * p * p).sum())
                self.assertIsInstance(loss, sn.Tensor)
                self.assert_close(p, self.reference(step, a), 1e-9)
                self.assertEqual(optimizer.steps, 5)

    def test_state_and_settings(self):
        p, q = sn.tensor([1.0, 2.0]), sn.tensor([1.0, 2.0])
        first, second = sn.optim.Adam([p]), sn.optim.Adam([q])
        first.step((p * p).sum())
        q.copy_(p)
        second.load_state_dict(first.state_dict())
        for o, x in ((first, p), (second, q)):
            o.lr = 0.5
            o.step((x * x).sum())
        self.assertEqual((p.tolist(), first.lr, list(first.state_dict())), (q.tolist(), 0.5, list(second.state_dict())))
        sgd = sn.optim.SGD([p], lr=1.0)
        self.assertIsNone(sgd.gradient(0))
        sgd.backward((p * 3).sum())
        self.assertEqual(sgd.gradient(0).tolist(), [3, 3])
        sgd.zero_grad()
        with self.assertRaises(sn.Error):
            sgd.step()
        sgd.set_max_norm(1.0)
        before = p.tolist()
        sgd.step((p * sn.tensor([3.0, 4.0])).sum())
        np.testing.assert_allclose(p.tolist(), np.array(before) - [0.6, 0.8], rtol=1e-5)
        average = sn.optim.EMA([p], decay=0.5)
        average.update()
        self.assertEqual(len(average.averages), 1)
        self.assertAlmostEqual(sn.optim.cosine_decay(1.0, 5, 10), 0.5)

    def test_wrong_ones(self):
        p = sn.tensor([1.0])
        for call, error in [(lambda: sn.optim.SGD([p + 1]), TypeError), (lambda: sn.optim.SGD(p), TypeError), (lambda: sn.optim.Adam([p], betas=1), TypeError),
                            (lambda: sn.optim.SGD([sn.tensor([1])]), sn.DTypeError), (lambda: sn.optim.SGD([p], lr=-1), sn.Error),
                            (lambda: sn.optim.SGD([p]).step(1), TypeError), (lambda: sn.optim.SGD([p]).step(p * sn.ones(2)), sn.Error),
                            (lambda: sn.optim.SGD([p, p]), sn.Error), (lambda: sn.optim.SGD([p]).load_state_dict(1), TypeError)]:
            with self.assertRaises(error):
                call()

    def test_a_net_learns(self):
        sn.manual_seed(0)
        x = sn.randn(256, 2, generator=sn.Generator(1))
        y = (x[:, 0] * x[:, 1] > 0).to("int64").eval()
        for device in DEVICES:
            net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2)).to(device)
            optimizer = sn.optim.Adam(net.parameters(), lr=0.02)
            loader = sn.data.DataLoader(sn.data.TensorDataset(x, y), batch_size=64, shuffle=True, seed=3, device=device)
            for _ in range(40 if device == "cpu" else 3):
                for images, labels in loader:
                    loss = optimizer.step(sn.cross_entropy(net(images), labels))
            if device == "cpu":
                self.assertGreater((net(x).argmax(1) == y).to("float32").mean().item(), 0.95)
            self.assertLess(loss.item(), 0.9)


class Loading(Case):
    def test_batches(self):
        data = [(np.full(2, i, "f4"), i) for i in range(10)]
        batches = list(sn.data.DataLoader(data, 4))
        self.assertEqual([y.tolist() for _, y in batches], [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]])
        self.assertEqual((batches[2][0].shape, batches[0][0].dtype), ((2, 2), sn.float32))
        self.assertEqual([len(sn.data.DataLoader(data, 4, drop_last=drop)) for drop in (False, True)], [3, 2])
        self.assertEqual(next(iter(sn.data.DataLoader([{"a": 1.5, "b": "x"}] * 2, 2)))["b"], ["x", "x"])
        self.assertEqual(list(sn.data.DataLoader([], 4)), [])
        point = type(sn.aminmax(sn.ones(1)))
        self.assertIsInstance(next(iter(sn.data.DataLoader([point(1, 2)]))), point)

    def test_orders(self):
        data = list(range(100))
        loader = sn.data.DataLoader(data, 7, shuffle=True, seed=5)
        first, second = ([i for batch in loader for i in batch.tolist()] for _ in range(2))
        self.assertEqual((sorted(first), first != second, loader.epoch), (data, True, 2))
        for workers in (1, 3):
            again = sn.data.DataLoader(data, 7, shuffle=True, seed=5, workers=workers)
            self.assertEqual([i for batch in again for i in batch.tolist()], first)
            again.epoch = 1
            self.assertEqual([i for batch in again for i in batch.tolist()], second)

    def test_errors(self):
        class Broken:
            def __len__(self):
                return 9

            def __getitem__(self, i):
                if i == 4:
                    raise KeyError("sample 4")
                return i
        for workers in (0, 2):
            seen = []
            with self.assertRaisesRegex(KeyError, "sample 4"):
                for batch in sn.data.DataLoader(Broken(), 2, workers=workers):
                    seen.append(batch.tolist())
            self.assertEqual(seen, [[0, 1], [2, 3]])
            for _ in sn.data.DataLoader(data := list(range(1000)), 1, workers=workers):
                break  # leaves no thread behind
        for call, error in [(lambda: sn.data.DataLoader(data, 0), ValueError), (lambda: sn.data.TensorDataset(sn.ones(2), sn.ones(3)), ValueError),
                            (lambda: list(sn.data.DataLoader([(1,), (1, 2)], 2)), ValueError),
                            (lambda: list(sn.data.DataLoader([np.ones(2), np.ones(3)], 2)), sn.ShapeError)]:
            with self.assertRaises(error):
                call()


if __name__ == "__main__":
    main()
