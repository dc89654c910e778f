"""Batches of samples for training.

    for x, y in sn.data.DataLoader(list(zip(images, labels)), batch_size=64, shuffle=True):
        optimizer.step(sn.cross_entropy(net(x), y))
"""
from __future__ import annotations

import collections
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Callable, Protocol

from . import _core  # type: ignore[attr-defined]
from . import Generator, Operand, Tensor, asarray, rand, stack, tensor

__all__ = ["Dataset", "TensorDataset", "DataLoader", "collate"]


class Dataset(Protocol):
    """A sequence of samples: lists, tuples and arrays are datasets too."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> Any: ...


class TensorDataset:
    """The rows of tensors: sample i is a tuple of row i of each. It takes batches by one read."""

    def __init__(self, *tensors: Tensor) -> None:
        if not tensors or any(len(t) != len(tensors[0]) for t in tensors):
            shapes = ", ".join(str(t.shape) for t in tensors)
            raise ValueError(f"TensorDataset takes tensors of equally many rows, but got {shapes or 'none'}")
        self.tensors = tensors

    def __len__(self) -> int:
        return len(self.tensors[0])

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(t[index] for t in self.tensors)

    def batch(self, indices: Any) -> tuple[Tensor, ...]:
        """The rows at these positions: a list, an array or a tensor of integers."""
        return tuple(t.index_select(0, tensor(indices, dtype="int64", device=t.device)).eval() for t in self.tensors)


def _is_like(first: Any, sample: Any) -> bool:
    """Whether a sample has the parts of the first one."""
    if isinstance(first, dict):
        return isinstance(sample, dict) and first.keys() <= sample.keys()
    if isinstance(first, (tuple, list)):
        return isinstance(sample, (tuple, list)) and len(sample) == len(first)
    return not isinstance(sample, (dict, tuple, list))


def _described(sample: Any) -> str:
    if isinstance(sample, dict):
        return "a dict of " + (", ".join(map(repr, sample)) or "nothing")
    described: str = _core._describe(sample)
    return f"a {type(sample).__name__} of length {len(sample)}" if isinstance(sample, (tuple, list)) else described


def _has_batch(dataset: Any) -> bool:
    """Whether a dataset takes batches by one read, and __getitem__ is not overridden since."""
    kinds = type(dataset).__mro__
    definers = [next((i for i, kind in enumerate(kinds) if name in vars(kind)), len(kinds))
                for name in ("batch", "__getitem__")]
    return hasattr(dataset, "batch") and definers[0] <= definers[1]


def collate(samples: Any) -> Any:
    """A batch of samples: tensors, arrays and numbers are stacked, in tuples, lists and dicts part by part."""
    if len(samples) == 0:
        raise ValueError("collate takes one sample or more, but got none")
    first = samples[0]
    if other := next(([sample] for sample in samples if not _is_like(first, sample)), None):
        raise ValueError(f"collate: the first sample is {_described(first)}, but another is {_described(other[0])}")
    if isinstance(first, dict):
        return {name: collate([sample[name] for sample in samples]) for name in first}
    if isinstance(first, (tuple, list)):
        parts = [collate(part) for part in zip(*samples)]
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    if isinstance(first, str):
        return list(samples)
    if not isinstance(first, (bool, int, float, complex)):
        return stack([sample if isinstance(sample, Operand) else asarray(sample) for sample in samples]).eval()
    return tensor(list(samples))


class DataLoader:
    """The batches of a dataset, in order or shuffled, made by the loop or ahead of it by threads.

    With shuffle, each epoch has another order, which depends only on the seed and the number of the epoch. Workers
    change neither batches nor their order; an exception in a worker is raised by the loop at that batch.
    """

    def __init__(self, dataset: Any, batch_size: int = 1, shuffle: bool = False, *, drop_last: bool = False,
                 workers: int = 0, seed: int | None = None, collate: Callable[[Sequence[Any]], Any] = collate,
                 device: Any = None) -> None:
        reads = any(hasattr(dataset, name) for name in ("__getitem__", "batch"))
        if isinstance(dataset, type) or not reads or not hasattr(dataset, "__len__"):
            raise TypeError("DataLoader: the argument 'dataset' must have __len__ and __getitem__, as a list of samples "
                            f"has, but got {_core._describe(dataset)}")
        if batch_size < 1 or workers < 0:
            raise ValueError(f"DataLoader: batch_size is {batch_size} and workers {workers}; they are at least 1 and 0")
        self.dataset = dataset
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.drop_last = drop_last
        self.workers = workers
        self.seed = (Generator() if seed is None else Generator(seed)).seed
        self.epoch = 0  # of the next loop; set it to resume
        self.collate = collate
        self.device = device

    def __len__(self) -> int:
        samples = len(self.dataset)
        return samples // self.batch_size if self.drop_last else -(-samples // self.batch_size)

    def __iter__(self) -> Iterator[Any]:
        order = self._order(self.epoch)
        self.epoch += 1
        batches = [order[i * self.batch_size:(i + 1) * self.batch_size] for i in range(len(self))]
        made = map(self._batch, batches) if self.workers == 0 else self._ahead(batches)
        return (self._on_device(batch) for batch in made)

    def _order(self, epoch: int) -> Sequence[int]:
        samples = len(self.dataset)
        if not self.shuffle:
            return range(samples)
        keys = rand(samples, dtype="float64", generator=Generator((self.seed + epoch) % 2**64))
        order: list[int] = keys.argsort().tolist()
        return order

    def _batch(self, indices: Sequence[int]) -> Any:
        if _has_batch(self.dataset):
            return self.dataset.batch(list(indices))
        return self.collate([self.dataset[i] for i in indices])

    def _ahead(self, batches: Sequence[Sequence[int]]) -> Iterator[Any]:
        """Two batches per worker are made ahead of the loop."""
        pool = ThreadPoolExecutor(self.workers, thread_name_prefix="sinter_jit.data")
        try:
            waiting: collections.deque[Future[Any]] = collections.deque()
            for indices in batches:
                waiting.append(pool.submit(self._batch, indices))
                if len(waiting) > 2 * self.workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)

    def _on_device(self, batch: Any) -> Any:
        if self.device is None:
            return batch
        if isinstance(batch, Operand):
            return batch.to(device=self.device)
        if isinstance(batch, dict):
            return {name: self._on_device(part) for name, part in batch.items()}
        if isinstance(batch, (tuple, list)):
            parts = [self._on_device(part) for part in batch]
            return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)
        return batch
