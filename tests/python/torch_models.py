"""Small models for torch_test.py and bench/torch_backend.py: {name: a function that makes (model, inputs)}."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class Of(nn.Module):
    """A model of some layers and a function of them and the inputs."""

    def __init__(self, function, **layers):
        super().__init__()
        self.function = function
        for name, layer in layers.items():
            setattr(self, name, layer)

    def forward(self, *inputs):
        return self.function(self, *inputs)


def randn(*shape, dtype=torch.float32):
    return torch.randn(*shape).to(dtype)


class Block(nn.Module):
    """A transformer block, whose attention is written out or PyTorch's."""

    def __init__(self, width, heads, attend):
        super().__init__()
        self.heads, self.attend = heads, attend
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (
            part.reshape(batch, length, self.heads, -1).transpose(1, 2) for part in self.qkv(self.first(x)).chunk(3, -1)
        )
        x = x + self.out(self.attend(q, k, v).transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.second(x))))


def causal_attention(q, k, v):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    mask = torch.ones(q.shape[-2], q.shape[-2], dtype=torch.bool, device=q.device).triu(1)
    return scores.masked_fill(mask, -math.inf).softmax(-1) @ v


def swiglu(m, x):
    return m.down(F.silu(m.gate(x)) * m.up(x))


def normalized(m, x):
    mean = x.mean(-1, keepdim=True)
    return (x - mean) / (x.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt() * m.weight + m.bias


def rotary(m, x, angles):
    left, right = x[..., ::2], x[..., 1::2]
    return torch.stack(
        (left * angles.cos() - right * angles.sin(), left * angles.sin() + right * angles.cos()), -1
    ).flatten(-2)


def black_scholes(m, spot, strike, years):
    deviation = 0.2 * years.sqrt()
    d1 = ((spot / strike).log() + (0.03 + 0.02) * years) / deviation

    def cdf(x):
        return 0.5 * (1 + torch.erf(x / math.sqrt(2)))

    return spot * cdf(d1) - strike * torch.exp(-0.03 * years) * cdf(d1 - deviation)


def views(m, x):
    y = x.T[1:, ::2].unsqueeze(1) * 2
    return y.expand(-1, 3, -1).permute(1, 0, 2).flip(0).exp(), y.squeeze(1).softmax(0)


def broadcast(m, x, y):
    return (x[:, None, :] - y[None, :, :]).square().sum(-1).sqrt()


def in_place(m, x):
    y = x.clone()
    y += 1
    y[:, 0] = 0
    y.mul_(x).clamp_(min=-1)
    return y, y.sum(0)


def unsupported_between(m, x):
    y = (x * 0.5).exp() + 1
    z = torch.cumsum(y, 1) / 1000  # PyTorch's
    return (z - z.mean(1, keepdim=True)).tanh() * y


def classify(m, x, y):
    return F.cross_entropy(m.net(x), y, label_smoothing=0.1)


def regress(m, x, y):
    return F.mse_loss(x, y), F.smooth_l1_loss(x, y), F.huber_loss(x, y), F.l1_loss(x, y)


def binary(m, x, y):
    return (
        F.binary_cross_entropy_with_logits(x, y),
        F.binary_cross_entropy(x.sigmoid(), y),
        F.kl_div(F.log_softmax(x, -1), y, reduction="batchmean"),
    )


def bag(m, ids):
    return F.rms_norm(m.words(ids) + m.places(torch.arange(ids.shape[1], device=ids.device)), (64,)).mean(1)


def mlp(width, classes):
    return nn.Sequential(
        nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, classes)
    )


MODELS = {
    "chain of 8 operations": lambda: (
        Of(lambda m, x: ((x * 2 + 1).tanh().exp() * x.sigmoid() - x.cos()).abs().log1p()),
        [randn(512, 1024)],
    ),
    "Black-Scholes": lambda: (
        Of(black_scholes),
        [torch.rand(100_000) + 1, torch.rand(100_000) + 1, torch.rand(100_000) + 0.1],
    ),
    "broadcast distances": lambda: (Of(broadcast), [randn(128, 64), randn(96, 64)]),
    "views": lambda: (Of(views), [randn(256, 300)]),
    "softmax and entropy": lambda: (Of(lambda m, x: -(x.softmax(-1) * x.log_softmax(-1)).sum(-1)), [randn(512, 1000)]),
    "normalization by hand": lambda: (Of(normalized, **parameters(512)), [randn(512, 512)]),
    "layer_norm, residual, GELU": lambda: (
        Of(lambda m, x, y: F.gelu(m.norm(x + y)) + x, norm=nn.LayerNorm(512)),
        [randn(512, 512), randn(512, 512)],
    ),
    "rms_norm, SiLU": lambda: (
        Of(lambda m, x: F.silu(F.rms_norm(x, (512,), m.weight)), **parameters(512)),
        [randn(512, 512)],
    ),
    "group_norm, ReLU": lambda: (nn.Sequential(nn.GroupNorm(4, 16), nn.ReLU()), [randn(8, 16, 32, 32)]),
    "batch_norm (eval), hardswish": lambda: (
        nn.Sequential(nn.BatchNorm2d(16), nn.Hardswish()).eval(),
        [randn(8, 16, 32, 32)],
    ),
    "MLP": lambda: (mlp(128, 10), [randn(64, 128)]),
    "MLP, bfloat16": lambda: (mlp(128, 10).to(torch.bfloat16), [randn(64, 128, dtype=torch.bfloat16)]),
    "SwiGLU": lambda: (
        Of(swiglu, gate=nn.Linear(128, 256), up=nn.Linear(128, 256), down=nn.Linear(256, 128)),
        [randn(4, 32, 128)],
    ),
    "embedding, rms_norm, mean": lambda: (
        Of(bag, words=nn.Embedding(1000, 64), places=nn.Embedding(32, 64)),
        [torch.randint(0, 1000, (16, 32))],
    ),
    "rotary embedding": lambda: (Of(rotary), [randn(4, 8, 64, 32), randn(64, 16)]),
    "transformer block": lambda: (Block(128, 4, causal_attention), [randn(2, 64, 128)]),
    "transformer block, PyTorch's attention": lambda: (
        Block(128, 4, F.scaled_dot_product_attention),
        [randn(2, 64, 128)],
    ),
    "cross_entropy of an MLP": lambda: (
        Of(classify, net=mlp(128, 100)),
        [randn(64, 128), torch.randint(0, 100, (64,))],
    ),
    "losses of regression": lambda: (Of(regress), [randn(1000, 64), randn(1000, 64)]),
    "losses of classification": lambda: (Of(binary), [randn(256, 64), randn(256, 64).softmax(-1)]),
    "float16 chain": lambda: (
        Of(lambda m, x, y: (x * y + 1).sigmoid() * (x - y).tanh()),
        [randn(512, 512, dtype=torch.float16), randn(512, dtype=torch.float16)],
    ),
    "in place": lambda: (Of(in_place), [randn(256, 256)]),
    "around PyTorch's cumsum": lambda: (Of(unsupported_between), [randn(256, 256)]),
    "convolution, batch_norm, ReLU": lambda: (
        nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU()).eval(),
        [randn(4, 3, 32, 32)],
    ),
}


def parameters(width):
    return {"weight": nn.Parameter(randn(width)), "bias": nn.Parameter(randn(width))}
