"""A time by which everything should be done."""

import time


class Deadline:
    def __init__(self, seconds=None):
        self.end = None if seconds is None else time.monotonic() + seconds

    def left(self):
        return float("inf") if self.end is None else self.end - time.monotonic()

    def seconds(self):
        """The remaining time, as subprocess expects it: None without a deadline."""
        return None if self.end is None else max(1.0, self.left())

    def share(self, parts, weight=1):
        """The end of the next part, with weight `weight`, of the parts that share the remaining time."""
        return self if self.end is None else Deadline(self.left() * weight / parts)

    def is_past(self):
        return self.left() <= 0
