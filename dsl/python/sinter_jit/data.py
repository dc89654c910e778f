"""Batches of samples for training.

    for x, y in sn.data.DataLoader(list(zip(images, labels)), batch_size=64, shuffle=True):
        optimizer.step(sn.cross_entropy(net(x), y))
"""
from __future__ import annotations

import collections
import operator
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Callable, Protocol, runtime_checkable

from . import Generator, Operand, Tensor, asarray, rand, stack, tensor

__all__ = ["Dataset", "TensorDataset", "DataLoader", "collate"]


@runtime_checkable
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

    def __getitem__(self, index: int) -> tuple[Tensor, ...]:
        return tuple(t[index] for t in self.tensors)

    def batch(self, indices: Any) -> tuple[Tensor, ...]:
        """The rows at these positions: a list, an array or a tensor of integers."""
        return tuple(t.index_select(0, tensor(indices, dtype="int64", device=t.device)).eval() for t in self.tensors)


def _parts(sample: Any) -> str:
    """What a batch's samples must have in common."""
    if isinstance(sample, dict):
        return "the parts " + ", ".join(sorted(map(repr, sample)))
    return f"{len(sample)} parts" if isinstance(sample, (tuple, list)) else "one part"


def collate(samples: Any) -> Any:
    """A batch of samples: tensors, arrays and numbers are stacked, in tuples, lists and dicts part by part."""
    if len(samples) == 0:
        raise ValueError("collate takes one sample or more, but got none")
    if len(kinds := sorted({_parts(sample) for sample in samples})) > 1:
        raise ValueError(f"the samples of a batch differ: there are samples of {' and '.join(kinds)}")
    first = samples[0]
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

    def __init__(self, dataset: Dataset, batch_size: int = 1, shuffle: bool = False, *, drop_last: bool = False,
                 workers: int = 0, seed: int | None = None, collate: Callable[[Sequence[Any]], Any] = collate,
                 device: Any = None) -> None:
        batch_size, workers = operator.index(batch_size), operator.index(workers)
        if batch_size < 1 or workers < 0:
            raise ValueError(f"DataLoader: batch_size is {batch_size} and workers {workers}; they are at least 1 and 0")
        self.dataset = dataset
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.drop_last = drop_last
        self.workers = workers
        self.seed = Generator().seed if seed is None else seed
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
        keys = rand(samples, dtype="float64", generator=Generator(self.seed + epoch))
        order: list[int] = keys.argsort().tolist()
        return order

    def _batch(self, indices: Sequence[int]) -> Any:
        if hasattr(self.dataset, "batch"):
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
