"""The Python column of docs/coming-from.md: every piece of code there is a line, or a part of a line, of this program."""
import numpy as np

import sinter_jit as sn

a = np.arange(6, dtype=np.float32).reshape(2, 3)

# PyTorch
x = sn.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
shared = sn.from_numpy(a)
there = x.to("cuda:0")
y = (x + 2).exp().eval()
e = (x + 2).exp()
x[x > 5] = 0
x += 1
s = x.softmax(-1)
total = x.sum(axis=(0, 1), keepdim=True)
values, indices = x.max(1)
tiled = x.tile((2, 3))
w = sn.ones(3)
loss = (x @ w).square().mean()
gw = sn.grad(loss, w)
net = sn.nn.Linear(3, 1)
optimizer = sn.optim.SGD(net.parameters(), lr=0.01)
optimizer.step(net(x).square().mean())
sn.synchronize()
print(there.device, y.shape, e.shape, s.shape, total.eval(), values.shape, indices, tiled.shape, gw.eval(), shared)

# CuPy
x = sn.asarray(a, device="cuda:0")
y = sn.ones(2, 3, device="cuda:0")
r = ((x + 2).exp() * y).eval()
r = sn.parse("exp(x + 2) * y", x=x, y=y).eval()
ramp = sn.device_function("float ramp(float x) { return x > 0 ? x : 0; }")(x)
dot = (x * y).sum()
host = x.to("cpu").numpy()
half = x.to("float16")
norm = x.norm()
chosen = sn.where(x > 2, x, 0)
sn.manual_seed(0)
z = sn.rand(3, device="cuda:0")
with sn.Stream("cuda:0"):
    z += 1
sn.empty_cache()
print(r.shape, dot.item(), host.shape, half.dtype, chosen.eval(), f"{norm.item():.3f}", z.shape)
