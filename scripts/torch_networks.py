#!/usr/bin/env python3
"""Makes the networks in examples/data with PyTorch: their weights, an input, and what PyTorch computes from it.

    python3 -m pip install torch safetensors numpy
    python3 scripts/torch_networks.py [folder, examples/data by default]

Made with PyTorch 1.13 and safetensors 0.8.0. The names are those of PyTorch's state_dict, plus "input" and
"output".
"""
import math
import pathlib
import sys

import numpy as np
import safetensors.numpy
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x):
        def split(y):
            return y.view(*y.shape[:-1], self.heads, -1).transpose(-3, -2)

        query, key, value = split(self.query(x)), split(self.key(x)), split(self.value(x))
        weights = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1]), -1)
        return self.out((weights @ value).transpose(-3, -2).flatten(-2))


class Block(nn.Module):
    def __init__(self, width, heads, hidden):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


def save(path, network, given):
    tensors = {**network.state_dict(), "input": given, "output": network(given)}
    arrays = {name: np.ascontiguousarray(tensor.detach().numpy()) for name, tensor in tensors.items()}
    safetensors.numpy.save_file(arrays, path)


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "examples/data")
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    save(folder / "mlp.safetensors", nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4)), torch.randn(5, 8))
    block = Block(16, 4, 32)
    for norm in (block.norm1, block.norm2):  # new ones are all ones and zeros
        nn.init.normal_(norm.weight, 1, 0.1)
        nn.init.normal_(norm.bias, 0, 0.1)
    save(folder / "transformer.safetensors", block, torch.randn(2, 6, 16))


main()
