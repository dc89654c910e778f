"""Sinter from Python: expressions over NumPy's arrays, and a kernel for a program without Sinter."""
import ctypes
import pathlib
import subprocess
import tempfile

import numpy as np

import sinter_jit as sn

# [fused]
z = sn.from_numpy(np.linspace(0, 1, 5, dtype=np.float32))  # over the array's memory
y = sn.tensor([1, 10, 100, 1000, 10000])

e = (z + 2).exp() * y.to("float32")  # nothing runs yet: e is an Expression
print(e)
print(e.eval())  # one kernel
print(e.numpy().dtype, e.numpy()[:1])  # as an array of NumPy's
# [/fused]


# [eager]
def launches(work):
    before = sn.jit_stats()["launches"]
    work()
    return sn.jit_stats()["launches"] - before


def eager():  # as NumPy does it: every step is an array
    a = (z + 2).eval()
    b = a.exp().eval()
    return (b * y).eval()


print("fused:", launches(lambda: ((z + 2).exp() * y).eval()), "kernel")
print("eager:", launches(eager), "kernels")
# [/eager]

# [several]
total, largest = sn.evaluate(e.sum(), e.max())  # together: e is computed once
print(f"{total.item():.1f} {largest.item():.1f}")
# [/several]

# [devices]
if sn.device_count() > 1:
    on_gpu = z.to("cuda:1")
    print((on_gpu * 2)[1:3].eval())
# [/devices]

# [views]
m = sn.tensor(np.arange(6.0).reshape(2, 3))
print(m[:, ::-1].T.tolist(), m[m > 3].tolist())
m[0] = m[1] * 2  # writes into m
print(m)
# [/views]

# [functions]
w = sn.randn(4, 3, generator=sn.Generator(1))
values, indices = w.topk(2, axis=1)  # evaluates; values of an expression would be an expression
print(values.shape, w.max(0).indices.shape, sn.cat([w, w + 1], axis=1).shape)
total = sn.zeros(3).scatter_add_(0, sn.tensor([0, 2, 2]), sn.ones(3))  # a final _ writes to the tensor
print(total, sn.einsum("ij,kj->ik", w, w).shape)
print(sn.grad(sn.cat([+w, w * 2]).sum(), w).eval()[0])  # +w is an expression: gradients flow through it
# [/functions]

# [network]
sn.manual_seed(0)
net = sn.nn.Sequential(sn.nn.Linear(2, 16), sn.nn.Tanh(), sn.nn.Linear(16, 2))
points = sn.randn(512, 2)
labels = (points[:, 0] * points[:, 1] > 0).to("int64").eval()
optimizer = sn.optim.Adam(net.parameters(), lr=0.02)
for epoch in range(30):
    for x, t in sn.data.DataLoader(sn.data.TensorDataset(points, labels), batch_size=64, shuffle=True, seed=epoch):
        loss = optimizer.step(sn.cross_entropy(net(x), t))  # loss and gradients together, then the update
print(net)
print("nine of ten are right:", (net(points).argmax(1) == labels).to("float32").mean().item() > 0.9)
# [/network]

# [text]
print(sn.parse("softmax(z * s, -1)", z=z, s=2).eval())
try:
    sn.parse("sofmax(z, -1)", z=z)
except sn.ParseError as error:
    print(error)
try:
    z + sn.tensor([1.0, 2.0])
except ValueError as error:  # an sn.ShapeError
    print(type(error).__name__, error)
# [/text]

# [dlpack]
array = np.from_dlpack(z)  # shares memory, as torch.from_dlpack(z) and jax.dlpack.from_dlpack(z) do
tensor = sn.from_dlpack(np.arange(3))  # and the other way round
print(np.shares_memory(array, z.numpy()), tensor.dtype)
# [/dlpack]

# [export]
folder = pathlib.Path(tempfile.mkdtemp())
files = sn.export_kernel("exp(z + s) * y", args="z: f32[n], y: f32[n], s: f32", name="fused", archs=[], out=folder)
print(sorted(files))
subprocess.run(["cc", "-O2", "-shared", "-fPIC", "fused.c", "-o", "libfused.so", "-lm", "-ldl", "-lpthread"], cwd=folder, check=True)
kernel = ctypes.CDLL(folder / "libfused.so").fused_cpu
floats = np.ctypeslib.ndpointer(np.float32, flags="C_CONTIGUOUS")
kernel.argtypes = [floats, floats, floats, ctypes.c_int64, ctypes.c_double]
out = np.empty(5, np.float32)
print("code", kernel(out, z.numpy(), np.ones(5, np.float32), 5, 2.0))
print(np.allclose(out, (z + 2).exp().numpy(), rtol=1e-6))
# [/export]
