#!/usr/bin/env python3
"""Compares steps of training with PyTorch, eager and compiled, and JAX, where they are installed.

    bench/training.py [BUILD FOLDER, build/release by default]

Every library takes its turn in each of five rounds; the ratios are medians over the rounds. Prints a table for
docs/benchmarks.md. The Python that runs it is the one whose packages are compared.
"""
import pathlib
import statistics
import subprocess
import sys
import time

CASES = [("softmax", 256), ("softmax", 4096), ("layer_norm", 256), ("layer_norm", 4096), ("cross_entropy", 1000), ("network", 64),
         ("network", 512), ("transformer", 128), ("transformer", 512), ("optimizer", 200)]
ROUNDS = 5


def median_time(step):
    """In microseconds, of what a third of a second holds."""
    for _ in range(3):
        step()
    times, end = [], time.perf_counter() + 0.333
    while time.perf_counter() < end or len(times) < 5:
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def torch_block(torch, width):
    """A transformer block of four heads, pre-norm: (batch, tokens, width) to the same."""
    linear, norm, functional = torch.nn.Linear, torch.nn.LayerNorm, torch.nn.functional

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv, self.out, self.up, self.down = linear(width, 3 * width), linear(width, width), linear(width, 4 * width), linear(4 * width, width)
            self.norm1, self.norm2 = norm(width), norm(width)

        def forward(self, x):
            heads = [p.unflatten(2, (4, width // 4)).transpose(1, 2) for p in self.qkv(self.norm1(x)).chunk(3, 2)]
            x = x + self.out(functional.scaled_dot_product_attention(*heads).transpose(1, 2).flatten(2))
            return x + self.down(functional.gelu(self.up(self.norm2(x))))

    return Block()


def torch_step(torch, name, size, wrap):
    functional = torch.nn.functional
    if name in ("softmax", "layer_norm", "cross_entropy"):
        x, w = torch.randn(512, size, requires_grad=True), torch.randn(512, size)
        targets = torch.randint(0, size, (512,))
        losses = {"softmax": lambda: (x.softmax(1) * w).sum(), "layer_norm": lambda: (functional.layer_norm(x, (size,)) * w).sum(),
                  "cross_entropy": lambda: functional.cross_entropy(x, targets)}
        loss = wrap(losses[name])
        return lambda: torch.autograd.grad(loss(), x)
    if name == "optimizer":
        parameters = [torch.randn(64, 64, requires_grad=True) for _ in range(size)]
        optimizer, loss = torch.optim.AdamW(parameters, foreach=True), wrap(lambda: sum(p.sum() for p in parameters))
    elif name == "transformer":
        net, x, y = torch_block(torch, size), torch.randn(8, 64, size), torch.randn(8, 64, size)
        optimizer, loss = torch.optim.AdamW(net.parameters(), foreach=True), wrap(lambda: functional.mse_loss(net(x), y))
    else:
        linear, gelu = torch.nn.Linear, torch.nn.GELU
        net = torch.nn.Sequential(linear(size, size), gelu(), linear(size, size), gelu(), linear(size, 10))
        x, y = torch.randn(128, size), torch.randint(0, 10, (128,))
        optimizer, loss = torch.optim.AdamW(net.parameters(), foreach=True), wrap(lambda: functional.cross_entropy(net(x), y))
    update = wrap(optimizer.step) if wrap is not identity else optimizer.step

    def step():
        optimizer.zero_grad()
        loss().backward()
        update()

    return step


def identity(f):
    return f


def jax_layer_norm(jax, x):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)


def jax_block(jax, width):
    """torch_block: its parameters, and the function of them and the input."""
    np, shapes = jax.numpy, [(width, 3 * width), (width, width), (width, 4 * width), (4 * width, width)]
    weights = [jax.random.normal(key, s) / s[0] ** 0.5 for key, s in zip(jax.random.split(jax.random.PRNGKey(1), 4), shapes)]
    parameters = weights + [np.zeros(s[1]) for s in shapes] + [f(width) for f in (np.ones, np.zeros, np.ones, np.zeros)]

    def block(p, x):
        linear = lambda i, x: x @ p[i] + p[4 + i]
        normed = jax_layer_norm(jax, x) * p[8] + p[9]
        q, k, v = (h.reshape(*x.shape[:2], 4, width // 4) for h in np.split(linear(0, normed), 3, 2))
        weights = jax.nn.softmax(np.einsum("bqhd,bkhd->bhqk", q, k) / (width // 4) ** 0.5, -1)
        x = x + linear(1, np.einsum("bhqk,bkhd->bqhd", weights, v).reshape(x.shape))
        return x + linear(3, jax.nn.gelu(linear(2, jax_layer_norm(jax, x) * p[10] + p[11]), approximate=False))

    return parameters, block


def jax_step(jax, name, size):
    np, key = jax.numpy, jax.random.PRNGKey(0)
    if name in ("softmax", "layer_norm", "cross_entropy"):
        x, w = jax.random.normal(key, (512, size)), jax.random.normal(key, (512, size))
        targets = jax.random.randint(key, (512,), 0, size)
        losses = {"softmax": lambda x: (jax.nn.softmax(x, 1) * w).sum(), "layer_norm": lambda x: (jax_layer_norm(jax, x) * w).sum(),
                  "cross_entropy": lambda x: -np.take_along_axis(jax.nn.log_softmax(x, 1), targets[:, None], 1).mean()}
        gradient = jax.jit(jax.grad(losses[name]))
        return lambda: gradient(x).block_until_ready()
    if name == "optimizer":
        parameters = [jax.random.normal(key, (64, 64)) for _ in range(size)]
        loss = lambda p: sum(x.sum() for x in p)
    elif name == "transformer":
        parameters, block = jax_block(jax, size)
        x, y = jax.random.normal(key, (8, 64, size)), jax.random.normal(key, (8, 64, size))
        loss = lambda p: ((block(p, x) - y) ** 2).mean()
    else:
        shapes = [(size, size), (size, size), (size, 10)]
        parameters = [jax.random.normal(key, s) / size**0.5 for s in shapes] + [np.zeros(s[1]) for s in shapes]
        x, y = jax.random.normal(key, (128, size)), jax.random.randint(key, (128,), 0, 10)

        def loss(p):
            h = x
            for i in range(3):
                h = h @ p[i] + p[3 + i]
                h = jax.nn.gelu(h, approximate=False) if i < 2 else h
            return -np.take_along_axis(jax.nn.log_softmax(h, 1), y[:, None], 1).mean()

    def update(state):
        parameters, m, v, t = state
        g, t = jax.grad(loss)(parameters), t + 1
        m = [0.9 * a + 0.1 * b for a, b in zip(m, g)]
        v = [0.999 * a + 0.001 * b * b for a, b in zip(v, g)]
        new = [p * (1 - 1e-5) - 1e-3 / (1 - 0.9**t) * a / (np.sqrt(b / (1 - 0.999**t)) + 1e-8) for p, a, b in zip(parameters, m, v)]
        return new, m, v, t

    compiled, zeros = jax.jit(update, donate_argnums=0), [np.zeros_like(p) for p in parameters]
    state = [(parameters, zeros, [np.zeros_like(p) for p in parameters], np.zeros(()))]

    def step():
        state[0] = compiled(state[0])
        jax.block_until_ready(state[0])

    return step


def peers():
    """{name: make(case, size)}"""
    found = {}
    try:
        import torch
        found["PyTorch"] = lambda name, size: torch_step(torch, name, size, identity)
        found["torch.compile"] = lambda name, size: torch_step(torch, name, size, torch.compile)
    except ImportError:
        pass
    try:
        import jax
        found["JAX"] = lambda name, size: jax_step(jax, name, size)
    except ImportError:
        pass
    return found


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent / "build/release")
    sinter = subprocess.Popen([folder / "bench/training"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    found = peers()
    print("| step | Sinter, µs | " + " | ".join(f"{peer} / Sinter" for peer in found) + " |")
    print("| --- | --- |" + " --- |" * len(found))
    for name, size in CASES:
        steps = {peer: make(name, size) for peer, make in found.items()}
        times, ratios = [], {peer: [] for peer in found}
        for _ in range(ROUNDS):
            print(name, size, file=sinter.stdin, flush=True)
            times.append(float(sinter.stdout.readline()))
            for peer, step in steps.items():
                ratios[peer].append(median_time(step) / times[-1])
        cells = [f"{statistics.median(ratios[peer]):.2f}" for peer in found]
        print(f"| {name} {size} | {statistics.median(times):.0f} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
