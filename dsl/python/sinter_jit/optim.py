"""Optimizers, which update parameters by the gradients of a loss, and learning rates over time.

    optimizer = sn.optim.Adam(net.parameters(), lr=1e-3)
    loss = optimizer.step(sn.mse_loss(net(x), y))    # evaluates loss and gradients together, then updates
"""
from . import _core

Optimizer, SGD, Adam, AdamW, RMSprop, EMA = (getattr(_core.optim, name) for name in
                                             ("Optimizer", "SGD", "Adam", "AdamW", "RMSprop", "EMA"))
step_decay, cosine_decay, warm_up = _core.optim.step_decay, _core.optim.cosine_decay, _core.optim.warm_up

__all__ = ["Optimizer", "SGD", "Adam", "AdamW", "RMSprop", "EMA", "step_decay", "cosine_decay", "warm_up"]
for _kind in (Optimizer, SGD, Adam, AdamW, RMSprop, EMA):
    _kind.__module__ = __name__
