"""A moment by which everything should be done."""
import time


class Deadline:
    def __init__(self, seconds=None):
        self.end = None if seconds is None else time.monotonic() + seconds

    def left(self):
        return float("inf") if self.end is None else self.end - time.monotonic()

    def is_past(self):
        return self.left() <= 0
