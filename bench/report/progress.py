"""Where a run is: on a terminal a bar with the elapsed and the remaining time, elsewhere a line for each step."""

import os
import sys
import time

CELLS = 20


def is_terminal():
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def clock(seconds):
    return f"{int(seconds) // 60:02}:{int(seconds) % 60:02}"


class Bar:
    """Steps that take about equally long: step() says which one begins."""

    def __init__(self, name, steps):
        self.name, self.steps, self.done, self.begin = name, steps, -1, time.monotonic()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if is_terminal():
            print("\r\033[K", end="", file=sys.stderr, flush=True)
        print(f"  {self.name}: {time.monotonic() - self.begin:.0f} s", file=sys.stderr, flush=True)

    def step(self, text):
        self.done += 1
        if is_terminal():
            print(f"\r\033[K{self.line(text)}"[: columns()], end="", file=sys.stderr, flush=True)
        else:
            print(f"  {self.name}: {text}", file=sys.stderr, flush=True)

    def line(self, text):
        full = CELLS * self.done // self.steps
        elapsed = time.monotonic() - self.begin
        left = clock(elapsed / self.done * (self.steps - self.done)) if self.done else "?"
        bar = "█" * full + "░" * (CELLS - full)
        return f"  {self.name} {bar} {self.done}/{self.steps} [{clock(elapsed)}<{left}] {text}"


def columns():
    """Room for a line of the terminal, with the four characters that clear it."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns + 3
    except OSError:
        return 80
